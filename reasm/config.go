package reasm

import "time"

// MaxReply is the maximum size in bytes of a reply that is reassembled or
// decompressed: 512 KiB, about eighty times the size of the largest reply in
// EC-106.
const MaxReply = 512 << 10

// maxSourceFragments is the protocol's own limit, which must not be changed: Source
// counts the fragments of a reply in a byte (document 000). A lower limit would save
// nothing: a group costs memory only for the fragments that arrived, and engines that
// let an administrator lower the size of fragments can reach it (EC-123).
const maxSourceFragments = 255

// Our limits, each with its reason. The package documentation shows how they add up.
const (
	// Incomplete groups of a source: three for the three questions to a server, and one
	// for the remaining fragments of a reply whose question was repeated. As many
	// complete replies of a source are remembered.
	maxGroups = 4
	// The memory of a Table, in bytes: a quarter of the scanner's budget, and at least
	// enough for two groups of the largest size.
	defaultMaxBytes = 64 << 20
	leastMaxBytes   = 2 << 20
	// How long a group waits for its fragments: longer than all attempts at a question
	// take together.
	maxAge = 10 * time.Second
	// How long the duplicates of a complete reply are recognised: as long as the
	// scanner waits for late replies.
	remember = 2 * time.Second
	// Parts of a Table with a lock each: more than the number of cores that receive, so
	// that they seldom contend. It is a power of two.
	maxShards = 16
)

// The divisors of a shard's memory: a quarter may be in the free lists, and an
// eighth may hold complete replies.
const (
	idleShare       = 4
	rememberedShare = 8
)

// groupRoom is the number of bytes that the largest group takes: each datagram
// leaves at most one block partly empty.
const groupRoom = groupCost + (MaxReply/blockData+1+maxSourceFragments)*blockSize

// Stats are the statistics of a Table. Groups, Fragments, Remembered and Bytes
// are current values; the others are counters that only grow.
type Stats struct {
	Groups     int   // replies that wait for fragments
	Fragments  int   // fragments held for them
	Remembered int   // complete replies whose late duplicates are recognised
	Bytes      int64 // memory in use, at most the limit of New

	Whole     uint64 // replies reassembled
	Packed    uint64 // compressed replies reassembled
	Duplicate uint64 // fragments dropped: the same bytes came before
	Conflict  uint64 // fragments dropped: contradict their group
	Malformed uint64 // fragments dropped: can't be read
	TooLarge  uint64 // fragments dropped: above a limit
	Evicted   uint64 // incomplete groups dropped to make room
	Expired   uint64 // incomplete groups dropped for their age
	Forgotten uint64 // incomplete groups dropped by Forget
}

// add adds the numbers of o to s.
func (s *Stats) add(o *Stats) {
	s.Groups += o.Groups
	s.Fragments += o.Fragments
	s.Remembered += o.Remembered
	s.Bytes += o.Bytes
	s.Whole += o.Whole
	s.Packed += o.Packed
	s.Duplicate += o.Duplicate
	s.Conflict += o.Conflict
	s.Malformed += o.Malformed
	s.TooLarge += o.TooLarge
	s.Evicted += o.Evicted
	s.Expired += o.Expired
	s.Forgotten += o.Forgotten
}
