// Package reasm reassembles split replies: fragments in, messages out.
//
// A server whose reply is larger than about 1400 bytes sends it as several
// datagrams, each with a header that names the reply and the fragment's place
// in it (document 000, "multi-packet response format"). A [Table] keeps the
// fragments of many servers until their replies are complete. Some replies are
// also compressed with bzip2. An [Unpacker] decompresses one, and a [Worker] does
// so outside the receive loop.
//
// Programs that scan with package scanner, or read captures with its Decoder, do not
// need this package: it is for programs with a receive loop of their own.
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
//	                   Conflict   it contradicts its group, and was dropped
//	                   an error   no fragment, or beyond a limit; dropped
//
// Call [Table.Expire] from time to time, [Table.Forget] when a source is finished,
// and [Table.Leading] for the beginning of an incomplete reply, up to its first
// gap. Time is an argument, so that tests need no clock. Several goroutines may use
// a Table, since its parts have locks of their own.
//
// Add keeps no datagram: when it returns, the caller may reuse the memory. It
// appends a message to the caller's dst. Package wire explains who owns which
// buffer, for all packages.
//
// # Which fragments belong together
//
// A group is the fragments that came from the same address and port with the
// same ID. There are three forms of header, and nothing in a header identifies the
// form; nor do the application ID, the protocol number or the order of arrival.
// One fragment of a group shows the form by the data after its header
// ([wire.ShowLayout]). Until it comes the others wait unread.
//
// In a group
//   - fragments come in any order (EC-115), mixed with those of other groups
//     (EC-119), of any size (EC-111, EC-123, EC-124), and there may be only one
//     (EC-109);
//   - the same bytes again are a [Duplicate];
//   - other bytes under the same number, or another total, are a [Conflict]: the
//     first fragment stays, unless it is the beginning of the other: then it was
//     cut, and is replaced (EC-116);
//   - a datagram that is cut within its header, or has no data after it, is
//     wire.ErrMalformed, so that it does not conflict with the good one (EC-116);
//     so is a number that is not below the total (EC-120);
//   - bit 31 of the ID means bzip2 only together with "BZh" at 18 or 20, and
//     never with GoldSource's header (EC-108, EC-122). Bit 15 means nothing
//     (EC-117);
//   - a message that begins with no FF FF FF FF, or with two, is returned as it
//     came (EC-113, EC-114): wire.Body accepts both.
//
// When a group is complete, the Table drops its fragments and keeps only their
// digests, for two seconds. They identify late duplicates, while a fragment with
// other bytes begins a new reply under the same ID, since some servers use one ID
// for everything. If some fragments of such a new reply equal those of the old
// one, they count as duplicates, and the new reply is complete only when it is
// sent again after that time.
//
// # Memory
//
// A datagram is copied into blocks of 512 bytes, of which 480 are data. A group costs
// 256 bytes beside its blocks, including its entry in the map. No size comes from
// a number in a datagram. With the defaults:
//
//	a fragment    1400 bytes                       3 blocks        1.5 KiB
//	a group       512 KiB in 255 fragments         1093+255 blocks 0.66 MiB at most
//	a source      4 groups                                         2.6 MiB at most
//	a complete reply remembered, ≤ 60 fragments    1 block         0.75 KiB
//	a shard       64 MiB / 16                                      4 MiB
//	a table       16 shards                                        64 MiB
//
// All groups of a source are in one shard. So two sources at their limits can fill
// a shard, and other sources there lose their oldest groups. A full shard first
// drops its memory of complete replies, which is at most an eighth of it, and then
// the oldest group. A source that begins a fifth group loses its own oldest. A
// group is dropped ten seconds after its first fragment.
//
// Blocks and groups are reused. A Table keeps up to 16 MiB of unused ones, a quarter
// of its limit, and leaves the rest to the garbage collector. So it holds at most
// 80 MiB, and in steady state allocates nothing.
//
// # Decompression
//
// A compressed reply that declares more than [MaxReply] is refused at once. At most
// the declared size and one byte are decompressed, and the CRC-32 is checked. The
// decompressor can't be interrupted inside a block, so blocks larger than a reply
// of the declared size can have are refused (see lowerLevels). A reply may take
// 20 ms and one block, which is up to about 30 ms for 512 KiB of noise. After a
// slow reply the Worker rests three times as long as it took.
package reasm
