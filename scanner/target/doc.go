// Package target says who is to be asked. It reads lists of addresses and
// counts up networks, leaves out what can't or mustn't be asked, and gives out
// each target once.
//
// # Lists
//
// A list is text, one target a line:
//
//	# comment
//	203.0.113.7:27015
//	203.0.113.8:27015 owner=alice, paid
//	203.0.113.9:27015,eu-west
//	203.0.113.10
//	203.0.113.128/25 lab
//
// An address is an IPv4 address in dotted decimal and a port; one without a
// port stands for as many targets as Config.Ports has ports, or for port 27015
// if it has none. A network is written a.b.c.d/n and stands for all of its
// addresses at all of the ports, which Config.Ports must name.
//
// What follows the address, after white space or a comma, is the target's tag,
// without the white space around it; nothing is special in it, not even a '#'.
// Lines that are empty or begin with '#' are passed over. White space before the
// address, a carriage return before the end of the line and a byte order mark
// before the first line do no harm.
//
// Any other line is invalid: Config.Invalid is told which and why, it is
// counted, and the rest of the list goes on. Numbers with leading zeros are
// invalid, since some programs read them as octal; IPv6 addresses are invalid
// under their own name, since A2S is IPv4 only.
//
// # Arguments
//
// What a user names on a command line may be an address or a network, as in a
// list but without a tag, a file that holds a list, or "-", standard input. An
// argument that is none of them is an error of Open, which says what is wrong
// before anything is asked.
//
// # What is left out
//
// Config.Exclusions leaves out the networks of special purpose (RFC 6890, as the
// registry of IANA stands, and multicast) unless it is told not to, and what a
// user names. The address 0.0.0.0 names no server, and 169.254.0.0/16 are
// addresses of Steam's relays, which the internet doesn't know (EC-126): those
// are Unscannable, whatever is allowed; all others are Excluded. Exclusions.Rules counts both by rule.
//
// A target that was given out before is a Duplicate, and so is one in a network
// that was given out before: over all inputs, whatever form it was named in.
// Networks take no memory for that, listed addresses 5 to 8 bytes each.
//
// # Order
//
// Targets come in the order of the arguments and their lines. Those of a
// network come port by port: all addresses at the first port, then all at the
// second, so that questions to one address are far apart.
package target
