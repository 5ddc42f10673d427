package reasm

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// Outcome is the result of adding a fragment.
type Outcome uint8

// The outcomes of Table.Add.
const (
	Pending   Outcome = iota // the fragment was stored; the reply needs more fragments
	Whole                    // the fragment completed an uncompressed reply
	Packed                   // the fragment completed a compressed reply
	Duplicate                // the fragment equals an earlier fragment and was dropped
	Conflict                 // the fragment contradicts others of its reply and was dropped
)

// Table holds the fragments of incomplete replies. Several goroutines may call its
// methods at once.
type Table struct {
	shards []shard
	// How many bits the hash of a source is shifted right, to get the index of its shard.
	shift uint
	seed  maphash.Seed // makes digests that can't be forged
}

// New returns an empty Table that uses at most maxBytes of memory. 0 means 64 MiB, and
// less than 2 MiB means 2 MiB.
func New(maxBytes int64) *Table {
	maxBytes = max(cmp.Or(maxBytes, defaultMaxBytes), leastMaxBytes)
	n := int64(maxShards)
	for n > 1 && maxBytes/n < 2*groupRoom {
		n /= 2
	}
	t := &Table{
		shards: make([]shard, n), shift: uint(64 - bits.TrailingZeros64(uint64(n))), seed: maphash.MakeSeed(),
	}
	for i := range t.shards {
		s := &t.shards[i]
		s.maxBytes = maxBytes / n
		s.mem.maxIdle = s.maxBytes / idleShare
		s.sources = make(map[uint64]*group)
	}
	return t
}

// shard returns the shard of a source. The multiplier, 2^64 divided by the golden ratio,
// spreads neighbouring addresses and ports over the shards.
func (t *Table) shard(from uint64) *shard {
	return &t.shards[from*0x9E3779B97F4A7C15>>t.shift]
}

// Add adds a fragment. Its first argument, now, is the time of arrival, which must not be
// much earlier than in previous calls. Its second argument, from, identifies the
// fragment's source. If the Table keeps the fragment, it copies the datagram. If the reply
// is now complete, msg is dst with the reply appended: for Whole the message, and for
// Packed the input of Unpack, that is, declared size, CRC-32 and the compressed bytes.
// Otherwise msg is dst.
//
// If the datagram can't be a fragment, Add drops it and returns wire.ErrMalformed
// (EC-116, EC-120). If it exceeds a limit, Add drops it and returns wire.ErrTooLarge. The
// Outcome then means nothing. Duplicate and Conflict are not errors.
func (t *Table) Add(
	now time.Duration, from uint64, datagram, dst []byte,
) (msg []byte, o Outcome, err error) {
	s := t.shard(from)
	id, err := wire.SplitID(datagram)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return dst, Pending, s.refuse(err)
	}
	a := arrival{now, from, id, maphash.Bytes(t.seed, datagram), datagram}
	return s.add(&a, dst)
}

// Leading reads the beginnings of a source's incomplete replies. It calls yield for
// each reply whose fragment 0 has arrived, the oldest first; msg holds the data up to
// the first missing fragment and is valid until yield returns. full is true if only the
// last fragment is missing, and all other fragments have the same size. The missing
// fragment may then be empty, and msg may be the complete message (EC-149).
// Leading skips compressed replies: their beginning can't be read. yield may call the
// Table's methods. dst is scratch memory; Leading returns it, possibly grown, for the next
// call.
func (t *Table) Leading(from uint64, dst []byte, yield func(msg []byte, full bool)) []byte {
	type beginning struct {
		end  int // offset in dst where this message ends
		full bool
	}
	var buf [maxGroups]beginning
	found := buf[:0]
	dst = dst[:0]
	s := t.shard(from)
	s.mu.Lock()
	for g := s.sources[from]; g != nil; g = g.sibling {
		if !g.done && !g.shape.compressed && g.sorted() && g.seen.has(0) {
			dst = g.appendLeading(dst)
			found = append(found, beginning{len(dst), g.lacksOnlyEnd()})
		}
	}
	s.mu.Unlock()
	for i, b := range slices.Backward(found) {
		start := 0
		if i > 0 {
			start = found[i-1].end
		}
		yield(dst[start:b.end:b.end], b.full)
	}
	return dst
}

// Forget drops all fragments and digests of a source's replies.
func (t *Table) Forget(from uint64) {
	s := t.shard(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := s.sources[from]; g != nil; g = s.sources[from] {
		if !g.done {
			s.stats.Forgotten++
		}
		s.drop(g)
	}
}

// Expire drops incomplete replies whose first fragment is older than ten seconds, and the
// digests of replies that became complete more than two seconds ago. Add does the same in
// the shard of its source, so it is enough to call Expire from time to time.
func (t *Table) Expire(now time.Duration) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		s.expire(now)
		s.mu.Unlock()
	}
}

// Stats returns the sums of the statistics of all shards.
func (t *Table) Stats() (sum Stats) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		st := s.stats
		st.Bytes = s.mem.used
		s.mu.Unlock()
		sum.add(&st)
	}
	return sum
}
