// Package reasm puts split replies together again: fragments in, whole
// messages out.
//
// A server whose reply is larger than about 1400 bytes sends it as several
// datagrams, each with a header that names the reply and the fragment's place
// in it (document 000, "multi-packet response format"). A [Table] keeps the
// fragments of many servers until a reply is whole. Some replies are compressed
// with bzip2 besides; an [Unpacker] decompresses one, a [Worker] does that
// beside the receive loop.
//
// Who scans with package scanner, or reads captures with its Decoder, needs
// nothing of this: it is for programs that have datagrams and a loop of their
// own.
//
// # Use
//
// Give each datagram for which [wire.IsSplit] holds to [Table.Add], with the
// time and the source it came from; all others are messages already.
//
//	datagram ─▶ Add ─▶ Pending    more is to come
//	                   Whole      dst has the message: to the decoders of package wire
//	                   Packed     dst has size, CRC-32 and bzip2 data: to an Unpacker
//	                   Duplicate  nothing new
//	                   Conflict   it contradicts its group, and was left out
//	                   an error   no fragment; a bound; left out
//
// Call [Table.Expire] now and then, [Table.Forget] when a source is done with,
// and [Table.Leading] for what an incomplete reply holds in front of its gap.
// Time is an argument, so that tests need no clock. A Table may be used by
// several goroutines, since its parts have locks of their own.
//
// Add keeps no datagram: the caller's memory is the caller's again when it
// returns, and a message is appended to the caller's dst. Who owns which buffer,
// and for how long, is said once for all packages in package wire.
//
// # Which fragments belong together
//
// A group is the fragments that came from the same address and port with the
// same ID. There are three forms of header, and none of them says which it is;
// nor do the application ID, the protocol number or the order of arrival. So
// the form of a group is that which one of its fragments shows by what follows
// its header ([wire.ShowLayout]). Until that one comes the others wait unread.
//
// In a group
//   - fragments come in any order (EC-115), mixed with those of other groups
//     (EC-119), of any size (EC-111, EC-123, EC-124), and one may be all there
//     is (EC-109);
//   - the same bytes again are a [Duplicate];
//   - other bytes under the same number, or another total, are a [Conflict]:
//     what was there first stays, unless it is the beginning of the other: then
//     it was cut, and gives way (EC-116);
//   - a datagram that is cut within its header, or has nothing behind it, is
//     wire.ErrMalformed, so that it does not stand in the way of the good one
//     (EC-116), as is a number that is not below the total (EC-120);
//   - bit 31 of the ID means bzip2 only together with "BZh" at 18 or 20, and
//     never with GoldSource's header (EC-108, EC-122). Bit 15 means nothing
//     (EC-117);
//   - a message that begins with no FF FF FF FF, or with two, is handed out as
//     it came (EC-113, EC-114): wire.Body knows them.
//
// When a group is whole, its fragments are given up and only their digests
// remain, for two seconds. By these a late duplicate is known for what it is,
// while a fragment with other bytes begins a new reply under the same ID, as
// from servers that use one ID for all. If such a server sends a new reply of
// which some fragments are those of the old one to the byte, they are taken
// for duplicates, and the new reply is whole only when it is sent once more
// after that time.
//
// # Memory
//
// A datagram is copied into blocks of 512 bytes, of which 480 are data; a group
// costs 256 bytes beside its blocks, its entry in the map included. Nothing is
// sized by what a datagram announces. With the defaults:
//
//	a fragment    1400 bytes                       3 blocks        1.5 KiB
//	a group       512 KiB in 255 fragments         1093+255 blocks 0.66 MiB at most
//	a source      4 groups                                         2.6 MiB at most
//	a whole reply remembered, ≤ 60 fragments       1 block         0.75 KiB
//	a shard       64 MiB / 16                                      4 MiB
//	a table       16 shards                                        64 MiB
//
// All groups of a source are in one shard, so two sources that send as much as
// they may fill one, and others lose their oldest groups to them. When a shard
// is full, what it remembers of whole replies goes first, which is an eighth of
// it at most, then the group that began first; a source that begins a fifth
// group loses its own oldest. A group is given up ten seconds after its first
// fragment came, whatever came since.
//
// Blocks and groups are used again. Of what is not in use a quarter of the
// bound is kept, 16 MiB, and the rest is left to the collector; so a Table
// holds at most 80 MiB, and in a steady state allocates nothing.
//
// # Decompression
//
// The size that a compressed reply declares is refused above [MaxReply] before
// anything else is done; no more than that size and one byte is decompressed;
// and the CRC-32 of the result is checked. The decompressor can't be
// interrupted in a block, so blocks that are larger than a reply of the declared
// size can have are refused (lowerLevels says why that harms no honest one).
// A reply is given up after 20 ms, and what one block takes: up to some 30 ms
// for 512 KiB of noise, on the machine where this was written. After a slow
// reply the Worker rests three times as long as it took.
package reasm
