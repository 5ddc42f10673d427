package reasm

import (
	"math/bits"
	"time"
)

// MaxReply is the maximum size in bytes of a reply that is reassembled or
// decompressed: 512 KiB, about eighty times the size of the largest reply in
// EC-106.
const MaxReply = 512 << 10

// The protocol's own limits, which must not be changed: Source counts the
// fragments of a reply in a byte, GoldSource in four bits (document 000).
const (
	maxSourceFragments = 255
	maxNibbleFragments = 15
)

// The defaults, each with its reason.
const (
	// Engines that let an administrator lower the size of fragments can reach the
	// protocol's limit (EC-123). A lower limit would save nothing: a group costs
	// memory only for the fragments that arrived, not for those that it announces.
	defaultMaxFragments = maxSourceFragments
	// Three groups for the three questions to a server, and one for the remaining
	// fragments of a reply whose question was repeated.
	defaultMaxGroups = 4
	// A quarter of the scanner's budget.
	defaultMaxBytes = 64 << 20
	// Longer than all attempts at a question take together.
	defaultMaxAge = 10 * time.Second
	// As long as the scanner waits for late replies.
	defaultRemember = 2 * time.Second
	// More than the number of cores that receive, so that they seldom contend for a
	// lock.
	defaultShards = 16
)

// maxGroupsLimit is the maximum of Config.MaxGroups. It keeps the offsets that
// Leading needs on the stack.
const maxGroupsLimit = 64

// leastMaxBytes is the minimum of Config.MaxBytes. It is enough for two groups of
// the largest size (groupRoom).
const leastMaxBytes = 2 << 20

// Config sets the limits of a Table. A field that is not positive stands for its
// default; a value outside its range stands for the nearest limit. The package
// documentation shows how the limits add up.
type Config struct {
	MaxFragments  int           // fragments per group; default and maximum: 255
	MaxGroupBytes int           // datagram bytes per group; default and maximum: MaxReply
	MaxGroups     int           // incomplete groups per source; default 4, maximum 64
	MaxBytes      int64         // bytes of memory; default 64 MiB, minimum 2 MiB
	MaxAge        time.Duration // how long a group waits for its fragments; default 10 s
	Remember      time.Duration // how long a complete reply's duplicates are recognised; default 2 s
	Shards        int           // parts with a lock each, rounded up to a power of two; default 16, maximum 1024
}

// withDefaults returns cfg with each field in its range. It lowers the number of
// shards until each can hold two groups of the largest size.
func (cfg Config) withDefaults() Config {
	setDefault(&cfg.MaxFragments, defaultMaxFragments, maxSourceFragments)
	setDefault(&cfg.MaxGroupBytes, MaxReply, MaxReply)
	setDefault(&cfg.MaxGroups, defaultMaxGroups, maxGroupsLimit)
	setDefault(&cfg.MaxBytes, defaultMaxBytes, 1<<40)
	setDefault(&cfg.MaxAge, defaultMaxAge, time.Hour)
	setDefault(&cfg.Remember, defaultRemember, time.Hour)
	setDefault(&cfg.Shards, defaultShards, 1024)
	cfg.MaxBytes = max(cfg.MaxBytes, leastMaxBytes)
	cfg.Shards = 1 << bits.Len(uint(cfg.Shards-1))
	for cfg.Shards > 1 && cfg.MaxBytes/int64(cfg.Shards) < 2*cfg.groupRoom() {
		cfg.Shards /= 2
	}
	return cfg
}

// setDefault sets *v to def if it is not positive, and to most if it is greater.
func setDefault[T int | int64 | time.Duration](v *T, def, most T) {
	if *v <= 0 {
		*v = def
	}
	*v = min(*v, most)
}

// The divisors of a shard's memory: a quarter may be in the free lists, and an
// eighth may hold complete replies.
const (
	idleShare       = 4
	rememberedShare = 8
)

// groupRoom returns the number of bytes that the largest group takes: each datagram
// leaves at most one block partly empty.
func (cfg *Config) groupRoom() int64 {
	full := blocksFor(cfg.MaxGroupBytes) + int64(cfg.MaxFragments)
	return groupCost + full*blockSize
}

// Stats are the statistics of a Table. Groups, Fragments, Remembered and Bytes
// are current values; the others are counters that only grow.
type Stats struct {
	Groups     int   // replies that wait for fragments
	Fragments  int   // fragments held for them
	Remembered int   // complete replies whose late duplicates are recognised
	Bytes      int64 // memory in use, at most Config.MaxBytes

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
