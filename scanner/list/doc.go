// Package list turns what a user names into targets for package scanner. It
// reads lists of addresses, expands networks, leaves out addresses that can't or
// mustn't be asked, and gives out each target once, in a random order or in the
// order of the input.
//
// # Use
//
// [Open] checks what a user named. [List.All] reads what must be read before the
// first target, and then gives the targets out as package scanner takes them.
// [List.Load] does the reading alone and can be cancelled. Afterwards [List.Err]
// reports whether everything could be read, and [List.Stats] accounts for each
// line.
//
//	l, err := list.Open(list.Config{Args: []string{"servers.txt", "198.51.100.0/24:27015"}})
//	stats, err := scanner.Scan(ctx, scanner.Config{}, l.All(), handle)
//	err = l.Err()
//
// A program that has its addresses in a slice does not need this package, unless
// it wants exclusions, a random order, or each address once.
//
// # Lists
//
// A list is text, one target per line:
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
// An address is an IPv4 address in dotted decimal and a port. An address without
// a port stands for one target per port of Config.Ports, or for port 27015 if
// there are none. A network is written a.b.c.d/n and a range a.b.c.d-e.f.g.h;
// both stand for all of their addresses at all ports of Config.Ports, which must
// not be empty then. Any of them may have ports of its own after a colon:
// numbers and ranges of numbers, separated by commas, without white space.
//
// The target's tag is what follows the address, after white space or a comma
// that is not part of its ports. White space around the tag is dropped; no
// character in it is special, not even '#'. If the tag is only the number of a
// port, behind an address without one, the line is invalid: the number is
// probably meant as the port. Where Config.Ports names ports it is a tag.
//
// Empty lines and lines that begin with '#' are skipped. White space before the
// address, a carriage return before the end of the line and a byte order mark
// before the first line do no harm. A list in UTF-16 is read if it begins with
// a byte order mark.
//
// Any other line is invalid: it is reported to Config.Invalid and counted, and
// reading continues. Numbers with leading zeros are invalid, since some programs
// read them as octal. IPv6 addresses are invalid since A2S is IPv4 only.
//
// # Other lists
//
// A list may be compressed with gzip or zstd, in one piece or several. Its format
// is detected from its first bytes:
//
//   - NDJSON, one object per line, such as a census: "ip" and "port", or "addr",
//     "address", "endpoint" or "host" with the port in it or beside it in "port".
//     "query_port" takes precedence over "port". "tag" is the tag, and "master"
//     what a master server reported. Other keys, and those of objects in it, are
//     ignored.
//   - CSV, with commas or semicolons, and TSV. The first line may name the columns
//     (ip, address, addr, host, endpoint, ip:port; query_port, port; tag, in upper
//     or lower case). Without names the address is in the first column that holds
//     one, and its port in the next column if that holds a port. A line that
//     begins with ip:port is text all the same: the rest is its tag.
//   - any of Config.Formats.
//
// A list that was cut off, by a full disk or a killed program, yields its
// complete entries; its end is an invalid line. If it is compressed, so that
// something is certainly missing, Input.Truncated reports it. A line may be
// MaxLine long, a line of JSON MaxJSONLine.
//
// # Arguments
//
// An argument is an address, a network or a range, as in a list but without a
// tag; a file that holds a list; or "-", standard input. Open returns an error
// that explains any other argument, before anything is asked.
//
// # Exclusions
//
// Config.Exclusions leaves out the special-purpose networks (RFC 6890 as in
// IANA's registry, and multicast), unless they are allowed, and the networks
// that a user names. The address 0.0.0.0 names no server, and 169.254.0.0/16 are
// addresses of Steam's relays, which can't be reached from the internet
// (EC-126): these count as Unscannable whatever is allowed, all others as
// Excluded. Exclusions.Rules counts both by rule.
//
// A target that was named before is a Duplicate, in whatever form and in
// whatever input it is named again, even if it is excluded too. It keeps the tag
// of its first mention. There is one exception: with OrderRandom, a network that
// follows an address in it without a tag gives that address its tag.
//
// Config.Shard selects one part of all addresses, so that several machines can
// share a list; the addresses of other parts count as OtherShard.
//
// # Host names
//
// With Config.Resolve a line, or an argument that is no file, may also be a host
// name or name:port. It stands for all IPv4 addresses of the name. A name in a
// list that is not found is an invalid line, and one among the arguments an error
// of Load. At most 32 names are looked up at a time, and their addresses keep the
// place of the name in the input.
//
// # Order
//
// With OrderRandom, the default, all lists are read first. Then any target is as
// likely to be in a place as any other, lists and networks are evenly mixed, and
// the ports of an address are far apart: in a network exactly as many places as
// it has addresses, in a list at least a third of an n-th of it for ports that
// differ by n. The order is decided by the seed, the contents of the lists and
// the ports, and not by the order of lines and arguments. A listed target takes
// 4 bytes, and up to 10 while the list is read, however often it is repeated.
// Its tag takes 16 bytes and the text. A network takes nothing by its size. Two
// megabytes and the buffers come on top.
//
// With OrderInput targets come in the order of the arguments and their lines,
// while these are read. Those of a network come port by port: all addresses at
// the first port, then all at the second, so that questions to one address are
// far apart. A listed address takes 5 to 8 bytes, by which duplicates are
// recognised.
//
// A target's Place is its index in that order, before exclusions, shards and
// limits take anything out, so that it does not depend on them. A scan that was
// interrupted resumes with From the next place.
package list
