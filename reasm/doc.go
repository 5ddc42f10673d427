// Package reasm reassembles split replies: fragments in, messages out.
//
// A server whose reply is larger than about 1400 bytes sends it as several
// datagrams, each with a header that holds the reply's ID and the fragment's number
// (document 000, "multi-packet response format"). A [Table] keeps the fragments of
// many servers until their replies are complete. Some replies are also compressed
// with bzip2. An [Unpacker] decompresses them, best outside the receive loop.
//
// Programs that scan with package scanner, or read captures with its Decoder, do not
// need this package: it is for programs with a receive loop of their own.
//
// # Use
//
// Pass each datagram for which [wire.IsSplit] is true to [Table.Add], with the time
// of arrival and the source. All other datagrams are complete messages.
//
//	datagram ─▶ Add ─▶ Pending    stored; more fragments are needed
//	                   Whole      dst has the message: pass it to package wire
//	                   Packed     dst has size, CRC-32 and bzip2 data: pass it to an Unpacker
//	                   Duplicate  nothing new
//	                   Conflict   it contradicts its group, and was dropped
//	                   an error   not a fragment, or beyond a limit; dropped
//
// Call [Table.Expire] from time to time, [Table.Forget] when a source is finished,
// and [Table.Leading] for the beginnings of incomplete replies, up to the first
// gap. Time is an argument, so that tests need no clock. Several goroutines may use
// a Table at once; each of its shards has its own lock.
//
// Add keeps no datagram: when it returns, the caller may reuse the memory. It
// appends a message to the caller's dst. Package wire explains who owns which
// buffer, for all packages.
//
// # Which fragments belong together
//
// A group is the fragments that came from the same address and port with the
// same ID. There are three layouts of the header, and nothing in a header identifies
// its layout; nor do the application ID, the protocol number or the order of arrival.
// Only one fragment of a group shows the layout, by the data after its header
// ([wire.ShowLayout]). The others are held undecoded until it arrives.
//
// In a group
//   - fragments come in any order (EC-115), mixed with those of other groups
//     (EC-119), of any size (EC-111, EC-123, EC-124), and there may be only one
//     (EC-109);
//   - a fragment with the same bytes as an earlier one is a [Duplicate];
//   - a fragment with the number of an earlier one but other bytes, or with another
//     total, is a [Conflict]: the first fragment stays, unless it is a prefix of the
//     second. Then the first was cut, and the second replaces it (EC-116);
//   - a datagram that is cut within its header, or has no data after it, is
//     wire.ErrMalformed, so that it does not conflict with the complete one (EC-116);
//     so is a fragment whose number is not less than its total (EC-120);
//   - the last fragment may be empty if the message can be read to its end without
//     it (EC-149);
//   - bit 31 of the ID means bzip2 only together with "BZh" at offset 18 or 20, and
//     never with GoldSource's header (EC-108, EC-122). Bit 15 means nothing
//     (EC-117);
//   - a message that begins with no FF FF FF FF, or with two, is returned as it
//     came (EC-113, EC-114): wire.Body accepts both.
//
// When a group is complete, the Table drops its fragments and keeps only their
// digests, for two seconds. A fragment with a known digest is a late duplicate. A
// fragment with another digest begins a new reply under the same ID, since some
// servers use one ID for all replies. If a fragment of the new reply equals a fragment
// of the old reply, it counts as a duplicate; the new reply then becomes complete only
// if the server sends that fragment again after the two seconds.
//
// # Memory
//
// A datagram is copied into blocks of 512 bytes, 480 of which are data. A group takes
// another 256 bytes, including its entry in the map. No allocation is sized by a
// number in a datagram. With the defaults:
//
//	a fragment    1400 bytes                       3 blocks        1.5 KiB
//	a group       512 KiB in 255 fragments         1093+255 blocks 0.66 MiB at most
//	a source      4 groups                                         2.6 MiB at most
//	a complete reply remembered, ≤ 60 fragments    1 block         0.75 KiB
//	a shard       64 MiB / 16                                      4 MiB
//	a table       16 shards                                        64 MiB
//
// All groups of a source are in one shard. So two sources at their limits can fill
// a shard, and then other sources in it lose their oldest groups. A full shard first
// drops the digests of complete replies, which take at most an eighth of it, and then
// its oldest group. A source that begins a fifth group loses its own oldest group. An
// incomplete group is dropped ten seconds after its first fragment.
//
// Blocks and groups are reused. A Table keeps unused ones up to a quarter of its limit,
// and leaves the rest to the garbage collector. In steady state it allocates nothing.
//
// # Decompression
//
// Unpack rejects a reply that declares more than [MaxReply] at once, decompresses at most
// one byte more than declared, and checks the CRC-32. The decompressor can't be
// interrupted inside a block, so Unpack rejects blocks larger than the declared size
// allows (see lowerLevels). It abandons a reply after 20 ms; a single block takes up to
// about 30 ms, for 512 KiB of noise.
package reasm
