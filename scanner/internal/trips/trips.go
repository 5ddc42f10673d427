// Package trips counts round trips. It returns how long nearly all of them take.
package trips

import (
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/scanner/timing"
)

// Rare selects the round trip from which timeouts follow: 1 in Rare round trips exceeds
// it.
const Rare = 100

// margin is added to each timeout, because answers may wait in a queue of this program.
const margin = 10 * time.Millisecond

// Timeout returns how long to wait for an answer, given a round trip that few others
// exceed.
func Timeout(rare time.Duration) time.Duration {
	return max(rare*5/4+margin, timing.LeastTimeout)
}

// buckets is the number of buckets for round trips from 1 ms to 16 s: eight for each
// doubling, so that the width of a bucket is 6 to 13 percent of the round trips in it.
// Shorter round trips are in the first bucket, longer ones in the last.
const buckets = 14 * 8

// Counts has the number of round trips in each bucket.
type Counts struct {
	counts  [buckets]uint32
	Known   uint32 // number of round trips in the buckets
	Unknown uint32 // number of answers that may belong to any of several requests
}

// Add counts a round trip. If its last argument is false, the round trip is unknown,
// because the answer may belong to any of several requests.
func (c *Counts) Add(trip time.Duration, known bool) {
	if !known {
		c.Unknown++
		return
	}
	eighths := uint64(max(trip/(time.Millisecond/8), 8))
	octave := bits.Len64(eighths) - 4
	c.counts[min(octave*8+int(eighths>>octave)-8, buckets-1)]++
	c.Known++
}

// Upper returns a bound that at most 1/part of the round trips exceed: the upper bound of a
// bucket.
func (c *Counts) Upper(part uint32) time.Duration {
	bucket, n := buckets-1, uint32(0)
	for ; bucket > 0; bucket-- {
		if n += c.counts[bucket]; n > c.Known/part {
			break
		}
	}
	return time.Duration(8+bucket%8+1) << (bucket / 8) * (time.Millisecond / 8)
}

// Recent are the most recent round trips of some servers, at most 2 × Generation. Older
// round trips are forgotten all at once, so that a change of the path shows soon.
type Recent struct{ now, before Counts }

// Generation is how many answers Recent counts before it forgets older answers.
const Generation = 4096

// Add counts a round trip, like Counts.Add.
func (r *Recent) Add(trip time.Duration, known bool) {
	if r.now.Known+r.now.Unknown >= Generation {
		*r = Recent{before: r.now}
	}
	r.now.Add(trip, known)
}

// Resolve lowers Unknown by one, because the round trip of an answer has become known.
func (r *Recent) Resolve() {
	if r.now.Unknown > 0 {
		r.now.Unknown--
	} else if r.before.Unknown > 0 {
		r.before.Unknown--
	}
}

func (r *Recent) Known() uint32 { return r.now.Known + r.before.Known }

func (r *Recent) Unknown() uint32 { return r.now.Unknown + r.before.Unknown }

func (r *Recent) Upper(part uint32) time.Duration {
	all := r.now
	for i, n := range r.before.counts {
		all.counts[i] += n
	}
	all.Known += r.before.Known
	return all.Upper(part)
}
