// Package list says who is to be asked. It reads lists of addresses and
// counts up networks, leaves out what can't or mustn't be asked, and gives out
// each target once.
//
// # Use
//
// [Open] checks what a user named, and [List.All] gives the targets out, as
// package scanner takes them, after it has read what has to be read before the
// first one; [List.Load] does that alone, and can be ended. Then [List.Err] tells whether all could be
// read, and [List.Stats] accounts for each line.
//
//	l, err := list.Open(list.Config{Args: []string{"servers.txt", "198.51.100.0/24:27015"}})
//	stats, err := scanner.Scan(ctx, scanner.Config{}, l.All(), handle)
//	err = l.Err()
//
// Programs that have their addresses in a slice need nothing of this, unless
// they want exclusions, a random order, or each address once.
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
//	203.0.113.5-203.0.113.20:27015-27020
//	203.0.113.7:27015,27017-27020
//
// An address is an IPv4 address in dotted decimal and a port; one without a
// port stands for as many targets as Config.Ports has ports, or for port 27015
// if it has none. A network is written a.b.c.d/n and stands for all of its
// addresses, as a range a.b.c.d-e.f.g.h does, at all of the ports, which
// Config.Ports must name. Whatever it is, its own ports may follow it after a
// colon: numbers and ranges of them, with commas and without white space.
//
// What follows the address, after white space or a comma that is not a part of
// its ports, is the target's tag, without the white space around it; nothing is
// special in it, not even a '#'. A tag that is nothing but the number of a port,
// behind an address without one, is invalid, since it is probably meant as its
// port; where Config.Ports says which ports to ask it is a tag.
// Lines that are empty or begin with '#' are passed over. White space before the
// address, a carriage return before the end of the line and a byte order mark
// before the first line do no harm. A list in UTF-16 is read if it begins with
// the byte order mark.
//
// Any other line is invalid: Config.Invalid is told which and why, it is
// counted, and the rest of the list goes on. Numbers with leading zeros are
// invalid, since some programs read them as octal; IPv6 addresses are invalid
// under their own name, since A2S is IPv4 only.
//
// # Other lists
//
// A list may be compressed with gzip or zstd, in one piece or several, and it may
// be something else than text, which is seen from how it begins:
//
//   - NDJSON, one object a line, such as a census of ours: "ip" and "port", or
//     "addr", "address", "endpoint" or "host" with the port in it or beside it in
//     "port"; "query_port" counts before "port". "tag" is the tag, and "master"
//     what a master server said. Other keys, and those of objects in it, don't
//     matter.
//   - CSV, with commas or semicolons, and TSV. The first line may name the columns
//     (ip, address, addr, host, endpoint, ip:port; query_port, port; tag, in small
//     letters or large). Without names the first column that holds an address
//     counts, and the one behind it as its port if that is a port. A line that
//     begins with ip:port is text all the same: what follows is its tag.
//   - what Config.Formats read.
//
// A list that was cut off, by a full disk or a killed program, gives what is
// whole in it; its end is an invalid line. If it is compressed, so that it is
// certain that something is missing, Input.Truncated reports it. Lines are at most
// MaxLine long, lines of JSON MaxJSONLine.
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
// are Unscannable, whatever is allowed; all others are Excluded. Exclusions.Rules
// counts both by rule.
//
// A target that was named before is a Duplicate, and so is one in a network that
// was named before: over all inputs, whatever form it was named in, and whatever
// else speaks against it. What its first mention says, its tag, counts; but
// where a network comes after an address in it that has no tag, OrderRandom
// takes the network's.
//
// Config.Shard gives out one part of all addresses, so that several machines
// can share a list; the other parts are counted as OtherShard.
//
// # Host names
//
// With Config.Resolve a line, or an argument that is no file, may also be a host
// name or name:port. It stands for all IPv4 addresses of the name; one that is
// not found is an invalid line. Names are looked up at most 32 at a time, and
// what they stand for comes where they are in the input.
//
// # Order
//
// With OrderRandom, the default, all lists are read first. Then any target is as
// likely to be in a place as any other, lists and networks evenly mixed, and the
// ports of an address come far apart: in a network exactly as many places as it
// has addresses, in a list at least a third of an n-th of it where n is the
// distance of the ports. The seed, the lists' contents and the ports decide the
// order, and not in which order lines and arguments come. A listed target takes
// 4 bytes, beside a megabyte for all, and what is said of it 16 and the text; a
// network takes nothing by its size.
//
// With OrderInput targets come in the order of the arguments and their lines,
// while these are read. Those of a network come port by port: all addresses at
// the first port, then all at the second, so that questions to one address are
// far apart. A listed address takes 5 to 8 bytes, by which it is known again.
//
// A target's Place is its index in that order, before exclusions, shards and
// limits take anything out, so that it does not depend on them: a scan that was
// ended is gone on with From the next place.
package list
