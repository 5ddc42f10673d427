// Package list turns what a user names into targets for package scanner. It reads
// lists of addresses, expands networks, excludes addresses that can't or mustn't be
// queried, and yields each target once, in a random order or in the order of the
// input.
//
// # Use
//
// [Open] checks what a user named. [List.All] reads what it needs before the first
// target, and then yields the targets in the form that package scanner takes.
// [List.Load] does only the reading and can be cancelled. Afterwards [List.Err]
// reports whether everything could be read, and [List.Stats] accounts for each line.
//
//	l, err := list.Open(list.Config{Args: []string{"servers.txt", "198.51.100.0/24:27015"}})
//	stats, err := scanner.Scan(ctx, scanner.Config{}, l.All(), handle)
//	err = l.Err()
//
// A program that has its addresses in a slice does not need this package, unless it
// needs exclusions, a random order, or duplicates removed.
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
// both stand for all of their addresses at all ports of Config.Ports, which then must
// not be empty. An address, a network or a range may also have its own ports after a
// colon: numbers and ranges of numbers, separated by commas, without white space.
//
// The target's tag is the text after the address, separated from it by white space or
// by a comma that is not part of its ports. White space around the tag is dropped; no
// character in it is special, not even '#'. If an address has no port, and its tag is a
// port number or begins with one from 1024 on, the line is invalid, because the number
// is probably meant as the port. If Config.Ports names ports, such a number is a tag.
//
// Empty lines and lines that begin with '#' are skipped. White space before the
// address, a carriage return before the end of the line and a byte order mark before
// a line are ignored. A list in UTF-16 must begin with a byte order mark.
//
// Any other line is invalid: it is reported to Config.Invalid and counted, and
// reading continues. Numbers with leading zeros are invalid, since some programs
// read them as octal. IPv6 addresses are Unscannable: IPv4 only; of the
// servers known to us only Xash3D and CoD4X also answer over IPv6.
//
// # Other lists
//
// A list may be compressed with gzip or zstd; several compressed files may be
// concatenated. The format is detected from the first bytes:
//
//   - NDJSON, one object per line, such as a census. The address is in "ip" and
//     "port", or in "addr", "address", "endpoint" or "host", which contain the port
//     unless it is in "port". "query_port" takes precedence over "port". "tag" is the
//     tag, and "master" is what a master server reported. Other keys, and the keys of
//     nested objects, are ignored.
//   - What Shodan, naabu, ZMap and xash3d-query write as NDJSON. Of httpx, only the host
//     is asked, because its ports are web servers.
//   - CSV, with commas or semicolons, and TSV, such as ZMap's. The first line may name
//     the columns (ip, address, addr, host, endpoint, ip:port, saddr; query_port, port,
//     sport; tag, in upper or lower case). Without names the address is in the first
//     column that holds one, and its port in the next column if that holds a port. But a
//     line that begins with ip:port is text: the rest is its tag.
//   - masscan -oL and -oJ, nmap -oG, and Xash3D's lists of servers ("ip 203.0.113.7:27015").
//   - any of Config.Formats.
//
// Rows for TCP and for closed ports are skipped. A row whose address has no port, while a
// column or key looks like a port, is invalid unless Config.Ports names ports. Other JSON
// is not read: jq -c '.[]' makes lines of an array.
//
// A list that was cut off, because a disk was full or a program was killed, yields its
// complete entries; its end is an invalid line. If such a list is compressed, so that
// something is certainly missing, Input.Truncated is set. A line may have up to
// maxLine bytes, a line of JSON 9 MiB.
//
// # Arguments
//
// An argument is an address, a network or a range, as in a list but without a
// tag; a file that holds a list; or "-", standard input. For any other argument, Open
// returns an error that explains the problem, so that a scan does not even start.
//
// # Exclusions
//
// Config.Exclusions excludes the special-purpose networks (RFC 6890 as in IANA's
// registry, and multicast), unless they are allowed, and the networks that a user
// names. No server can have the address 0.0.0.0, and 169.254.0.0/16 are addresses of
// Steam's relays, which can't be reached from the internet (EC-126). Both count as
// Unscannable, even if special-purpose networks are allowed, and so do IPv6 addresses;
// all others count as Excluded. List.LeftOut counts them by file and by network.
//
// A target that was named before is a Duplicate, in whatever form and in whatever
// input it is named again, even if it is also excluded. It keeps the tag of its first
// mention, with one exception: with OrderRandom, an address that was listed without a
// tag gets the tag of a network that is named later and contains it.
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
// With a random order, the default, all lists are read first. Then every target is
// equally likely to be in a given place, lists and networks are evenly mixed, and the
// ports of an address are far apart: in a network by as many places as it has
// addresses, in a list by at least 1/(3n) of the list for ports that differ by n. The
// order depends on the seed, the contents of the lists and the ports, and not on the
// order of lines and arguments. A listed target takes 8 bytes, however often it is
// repeated. A tag takes 16 bytes, and its text once if many targets share it. The
// memory for a network does not depend on its size. Add a few megabytes of buffers.
//
// With OrderInput, the targets come in the order of the arguments and their lines,
// while these are being read. The targets of a network come port by port: all
// addresses at the first port, then all at the second, so that queries to one address
// are far apart. A listed target takes 20 to 48 bytes, which are needed to recognise
// duplicates.
//
// A target's Place is its index in the order before exclusions, shards and limits
// remove anything, so that it does not depend on them. To resume an interrupted scan,
// call From with the next place.
package list
