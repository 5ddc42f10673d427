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
// An address without a port stands for one target per port of Config.Ports. If
// Config.Ports is empty, the address gets port 27015. A network or a range stands for all
// of its addresses at all ports of Config.Ports; if Config.Ports is empty, it is invalid.
// An address, a network or a range may also have its own ports after a colon: numbers and
// ranges of numbers, separated by commas. Config.Ports then does not apply.
//
// A line may hold several targets of one form: addresses with ports, addresses without
// ports, or networks and ranges. A line with several targets and other text is invalid,
// unless the text follows a '#'. A line is also invalid if its first word has a port, but
// its second word is an address without a port. Only the first word may be a host name.
//
// The text after a target is its tag. White space, a semicolon or a comma begins the tag;
// a comma between ports does not. A tag may contain any characters.
//
// If an address has no port and Config.Ports is empty, a port in the tag makes the line
// invalid, because the port would be ignored. A number in a tag counts as a port if it is
// the entire tag, or follows a word such as "port". A number from 1024 up also counts if it
// begins the tag, or is alone between commas, semicolons or tabs. A port may have the
// form 27016/udp or 27015-27020. Numbers after a '#' do not count.
//
// The tag may have another address, which is ignored. Config.Note gets the number of such
// lines.
//
// A line without a target is invalid: it is reported to Config.Invalid and counted, and
// reading continues. Numbers with leading zeros are invalid, since some programs read them
// as octal. A line with a target after a carriage return is invalid, too. IPv6 addresses
// are Unscannable.
//
// # Other lists
//
// A list may be compressed with gzip or zstd, and written in UTF-16. Its format is
// detected from the first bytes. Section 5 of docs/FORMATS.md describes the formats: NDJSON,
// of which a census is an example, CSV, TSV, the lists of other programs, and any of
// Config.Formats.
//
// The first line of a table may name the columns, with the keys of NDJSON. In a key, case
// and separators don't matter. If no column has a name for the address, the address is in
// the first column that holds one. If the columns have no names, the column after the
// address may hold the port, and a row may hold several targets of one form; any other
// second target makes the row invalid. If no column is named "tag", the first column named
// "name", "server_name", "label" or "title" has the tags. A list whose first line begins
// with ip:port is text, and the rest of a line is the tag.
//
// Rows for TCP, closed ports and banners are skipped. If a row has a port only under a key
// of unknown meaning, and Config.Ports is empty, the row is invalid. Config.Note gets the
// number of other rows that have several ports.
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
// A target that occurred before, even in another form, is a Duplicate. The target keeps
// the tag of its first mention. In random order, a target that was listed without a tag
// gets the tag of a network that contains it, even if the network comes later in the
// input.
//
// # Order
//
// In random order, all lists are read before the first target is yielded. Every target is
// equally likely to be at any position, and the targets for the ports of one address are
// far apart. In a network, they are as many targets apart as the network has addresses. In
// a list, the targets for two ports that differ by n are at least about 1/(3n) of the list
// apart. The order depends on the seed, the contents of the lists and the ports. It does
// not depend on the order of lines and arguments. A listed target takes 8 bytes, and up to
// 16 while the lists are read, however often it is repeated. A tag takes 16 bytes. The
// memory for a network does not depend on its size.
//
// In the order of the input, targets are yielded while lists are read. The targets of a
// network are yielded port by port. A listed target takes 20 to 48 bytes, so that
// duplicates are recognised.
//
// A target's Place is its index in the order before exclusions, shards and limits remove
// any targets.
package list
