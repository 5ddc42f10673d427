// Package reasm reassembles split replies: fragments in, messages out.
//
// A server whose reply is larger than about 1400 bytes sends it as several
// datagrams, each with a header that holds the reply's ID and the fragment's number
// (document 000, "multi-packet response format"). A [Table] keeps the fragments of
// many servers until their replies are complete. Some replies are also compressed
// with bzip2. An [Unpacker] decompresses these; it is too slow for the receive loop.
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
//	                   Conflict   the fragment contradicts others of its reply and was dropped
//	                   an error   the datagram is no fragment or exceeds a limit, and was dropped
//
// Call [Table.Expire] from time to time, [Table.Forget] when no more replies of a source
// are expected, and [Table.Leading] for the beginnings of incomplete replies, up to the first
// gap. Time is an argument, so that tests need no clock. Several goroutines may use
// a Table at once; each of its shards has its own lock. When Add returns, the caller
// may reuse the memory of the datagram.
//
// # Which fragments belong together
//
// A group consists of the fragments that came from the same address and port with the same
// ID. The header has one of three layouts. Neither the header nor the application ID, the
// protocol number or the order of arrival identifies the layout. Only fragment 0 can show
// it, by the data after its header ([wire.ShowLayout]). Until fragment 0 arrives, the Table
// keeps the other fragments undecoded.
//
// In a group
//   - fragments come in any order (EC-115), mixed with fragments of other groups (EC-119),
//     and have any size (EC-111, EC-123, EC-124). A group may have only one fragment
//     (EC-109);
//   - a fragment with the same bytes as an earlier one is a [Duplicate];
//   - a fragment with the number of an earlier one but other bytes, or with another
//     total, is a [Conflict] and is dropped. But if the earlier fragment is a prefix of
//     the new one, the earlier one was cut, and the new one replaces it (EC-116);
//   - a fragment that was cut within or right after its header causes wire.ErrMalformed,
//     so that it does not conflict with the complete fragment (EC-116);
//   - a fragment whose number is not less than its total causes wire.ErrMalformed
//     (EC-120);
//   - the last fragment may be empty if the message can be read to its end without
//     it (EC-149);
//   - bit 31 of the ID means bzip2 only together with "BZh" at offset 18 or 20, and
//     never with GoldSource's header (EC-108, EC-122). Bit 15 means nothing
//     (EC-117);
//   - a message that begins without FF FF FF FF, or with FF FF FF FF twice, is
//     returned unchanged (EC-113, EC-114): wire.Body accepts both.
//
// When a group is complete, the Table drops its fragments and keeps only their
// digests, for two seconds. A fragment with a known digest is a late duplicate. A
// fragment with another digest begins a new reply with the same ID, since some
// servers use one ID for all replies. If both replies contain the same fragment, the Table
// drops that fragment as a duplicate. The new reply then becomes complete only if the
// server sends the fragment again after the two seconds.
//
// # Memory
//
// A datagram is copied into blocks of 512 bytes, 480 of which are data. Each group
// takes 256 bytes more, including its entry in the map. No allocation is sized by a
// number in a datagram. With the defaults:
//
//	a fragment    1400 bytes                       3 blocks        1.5 KiB
//	a group       512 KiB in 255 fragments         1093+255 blocks 0.66 MiB at most
//	a source      4 groups                                         2.6 MiB at most
//	a complete reply remembered, ≤ 60 fragments    1 block         0.75 KiB
//	a shard       64 MiB / 16                                      4 MiB
//	a table       16 shards                                        64 MiB
//
// All groups of a source are in one shard, so two sources at their limits can fill a
// shard. A full shard first drops the digests of complete replies, and then its oldest
// groups, which may belong to other sources. The digests take at most an eighth of a
// shard. A source that begins a fifth group loses its own oldest group. An incomplete
// group is dropped ten seconds after its first fragment.
//
// A Table reuses freed blocks and groups. The unused ones take at most a quarter of its
// memory limit; the garbage collector frees the rest. In steady state it allocates
// nothing.
//
// # Decompression
//
// Unpack rejects a reply whose declared size exceeds [MaxReply]. It decompresses
// at most one byte more than declared, checks the CRC-32, and abandons a reply after
// 20 ms. The decompressor can't be interrupted inside a block, and a block that contains
// 512 KiB of noise takes about 30 ms. So Unpack also rejects blocks that are larger than
// the declared size allows (see lowerLevels).
package reasm
