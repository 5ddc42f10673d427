package scanner

import (
	"math/bits"
	"time"
)

// tripBuckets is how many buckets hold the round trips from 1 ms to 16 s: eight per
// octave, so that a bucket is on average as wide as a twelfth of its round trips.
// Shorter round trips are in the first bucket, longer ones in the last.
const tripBuckets = 14 * 8

// tripCounts are round trips, counted by bucket.
type tripCounts struct {
	counts  [tripBuckets]uint32
	n       uint32
	unknown uint32 // answers that may belong to any of several requests
}

func (t *tripCounts) add(trip time.Duration, known bool) {
	if !known {
		t.unknown++
		return
	}
	eighths := uint64(max(trip/(time.Millisecond/8), 8))
	octave := bits.Len64(eighths) - 4
	t.counts[min(octave*8+int(eighths>>octave)-8, tripBuckets-1)]++
	t.n++
}

// upper returns a bound that at most one in part round trips exceeds: the end of a
// bucket.
func (t *tripCounts) upper(part uint32) time.Duration {
	bucket, n := tripBuckets-1, uint32(0)
	for ; bucket > 0; bucket-- {
		if n += t.counts[bucket]; n > t.n/part {
			break
		}
	}
	return time.Duration(8+bucket%8+1) << (bucket / 8) * (time.Millisecond / 8)
}

// roundTrips are the last round trips of some servers, between tripGeneration and
// twice as many: older ones are forgotten all at once, so that a change of the path
// shows soon.
type roundTrips struct{ now, before tripCounts }

const tripGeneration = 4096

func (t *roundTrips) add(trip time.Duration, known bool) {
	if t.now.n+t.now.unknown >= tripGeneration {
		*t = roundTrips{before: t.now}
	}
	t.now.add(trip, known)
}

// known returns how many round trips there are.
func (t *roundTrips) known() uint32 { return t.now.n + t.before.n }

// blind reports whether so many answers may belong to any of several requests that
// the known round trips say little about them.
func (t *roundTrips) blind() bool {
	unknown := t.now.unknown + t.before.unknown
	return unknown*blindPart > unknown+t.known()
}

// upper returns a bound that at most one in part round trips exceeds.
func (t *roundTrips) upper(part uint32) time.Duration {
	all := t.now
	for i, n := range t.before.counts {
		all.counts[i] += n
	}
	all.n += t.before.n
	return all.upper(part)
}
