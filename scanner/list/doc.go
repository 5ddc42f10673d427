// Package list turns what a user names into targets for package scanner. It reads
// lists of addresses, expands networks, excludes addresses that can't or mustn't be
// queried, and yields each target once, in a random order or in the order of the
// input.
//
//	l, err := list.Open(list.Config{Args: []string{"servers.txt", "198.51.100.0/24:27015"}})
//	stats, err := scanner.Scan(ctx, scanner.Config{}, l.From(0), handle)
//	err = l.Err()
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
// An address without a port stands for one target per port of Config.Ports, or for port
// 27015 if there are none. A network or a range stands for all of its addresses at all
// ports of Config.Ports, which then must not be empty. An address, a network or a range
// may also have its own ports after a colon: numbers and ranges of numbers, separated by
// commas.
//
// A line may hold several targets of one form: addresses with ports, addresses without,
// networks, or ranges. A line with several targets and other text is invalid, unless the
// text follows a '#'. A line is also invalid if its first word has a port, but its second
// word is an address without a port. Only the first word may be a host name.
//
// The target's tag is the text after the address, separated from it by white space, a
// semicolon, or a comma that is not part of its ports. No character of a tag is special.
//
// A tag after an address, a network or a range without a port must not have a port, which
// would be ignored. The line is invalid if the tag is a port, if a word of the tag is a port
// from 1024 up, or if a number follows a word such as port. Ports may have the form
// 27016/udp or 27015-27020. The line is valid if Config.Ports names ports, or if a '#'
// comes before the number.
//
// The tag may have another address, which is ignored. Config.Note gets the number of such
// lines.
//
// A line without a target is invalid: it is reported to Config.Invalid and counted, and
// reading continues. Numbers with leading zeros are invalid, since some programs
// read them as octal. A line is invalid too if a target follows a carriage return in it.
// IPv6 addresses are Unscannable.
//
// # Other lists
//
// A list may be compressed with gzip or zstd, and written in UTF-16. The format is
// detected from the first bytes:
//
//   - NDJSON, one object per line: a census, or what Shodan, naabu, ZMap, httpx,
//     xash3d-query, masscan -oD, Censys, gamedig, BattleMetrics, DZSA and Pterodactyl
//     write. addrKeys lists the keys of the address; upper and lower case and separators
//     don't matter.
//   - CSV, with commas or semicolons, and TSV. The first line may name the columns; the
//     names are the keys of NDJSON. If a name means a port, but none means the address, the
//     address is in the first column that holds an address. Without names, its port is in
//     the next column if that column holds a port, and a row with other targets is invalid.
//     A list whose first line begins with ip:port is text, and the rest of a line is the
//     tag.
//   - masscan -oL and -oJ, nmap -oG, RustScan -g, and Xash3D's lists of servers.
//   - any of Config.Formats.
//
// In a table, a line that begins with '#' is a row if it has an address in the column of
// addresses. A quoted field must not have line breaks. Otherwise its lines are invalid, up
// to its closing quote, but at most 4 KiB after the first line.
//
// XML is not supported. If no column of a table is named "tag", the column "name",
// "server_name", "label" or "title" has the tags. An address may be written
// steam://connect/ADDRESS or "connect ADDRESS".
//
// Rows for TCP, closed ports and banners are skipped. The port comes from a key query_port,
// queryPort, qport or portQuery, else from the address, else from the key port; gameport,
// where players join, is not used. The meaning of other keys with the word port is
// unknown. If a row has only such a key, and Config.Ports is empty, the row is invalid. If
// the row also has a port that is used, Config.Note gets the number of such rows. If the
// port is inside a nested object or array, the fault names the jq command that flattens the
// row.
//
// A list that was truncated, because a disk was full or a program was killed, yields its
// complete entries; its end is an invalid line.
//
// # Which targets count
//
// No server can have the address 0.0.0.0, and the addresses in 169.254.0.0/16 belong to
// Steam's relays, which can't be reached from the internet (EC-126). Both count as
// Unscannable, like IPv6 addresses; targets that Config.Exclusions excludes count as
// Excluded.
//
// A target that was named before is a Duplicate, in whatever form it is named again. The
// target keeps the tag of its first mention. In random order, an address that was listed
// without a tag gets the tag of a network that is named later and contains it.
//
// # Order
//
// In random order, all lists are read first. Then every target is equally likely to be at
// any position, and the targets for the ports of one address are far apart. In a network,
// their distance is the number of addresses of the network. In a list, the targets for two
// ports that differ by n are at least about 1/(3n) of the list apart. The order depends on
// the seed, the contents of the lists and the ports, and not on the order of lines and
// arguments. A listed target takes 8 bytes, however often it is repeated, and a tag 16
// bytes. The memory for a network does not depend on its size.
//
// In the order of the input, targets are yielded while lists are read; the targets of a
// network port by port. A listed target takes 20 to 48 bytes, to recognise duplicates.
//
// A target's Place is its index in the order before exclusions, shards and limits remove
// anything.
package list
