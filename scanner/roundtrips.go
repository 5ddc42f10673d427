package scanner

import (
	"math/bits"
	"time"
)

// tripBuckets is how many buckets hold the round trips from 1 ms to 16 s: eight per
// octave, so that a bucket is on average as wide as a twelfth of its round trips.
// Shorter round trips are in the first bucket, longer ones in the last.
const tripBuckets = 14 * 8

// bucketOf returns the bucket of a round trip.
func bucketOf(trip time.Duration) int {
	eighths := uint64(max(trip/(time.Millisecond/8), 8))
	octave := bits.Len64(eighths) - 4
	return min(octave*8+int(eighths>>octave)-8, tripBuckets-1)
}

// bucketEnd returns a time longer than every round trip in a bucket other than the
// last.
func bucketEnd(bucket int) time.Duration {
	return time.Duration(8+bucket%8+1) << (bucket / 8) * (time.Millisecond / 8)
}

// upper returns the lowest end of a bucket that at most above round trips exceed.
// count returns the number of round trips in a bucket.
func upper(above uint32, count func(bucket int) uint32) time.Duration {
	n := uint32(0)
	for b := tripBuckets - 1; b > 0; b-- {
		if n += count(b); n > above {
			return bucketEnd(b)
		}
	}
	return bucketEnd(0)
}

// roundTrips are the last round trips of some servers, between tripGeneration and
// twice as many: older ones are forgotten all at once, so that a change of the path
// shows soon.
type roundTrips struct {
	counts, before   [tripBuckets]uint16
	n, nBefore       uint32
	unsure, unsureBy uint32 // answers that may belong to any of several requests, in the current and in the previous generation
}

const tripGeneration = 4096

func (t *roundTrips) add(trip time.Duration) {
	t.turn()
	t.counts[bucketOf(trip)]++
	t.n++
}

// addUnsure counts an answer that may belong to any of several requests.
func (t *roundTrips) addUnsure() {
	t.turn()
	t.unsure++
}

// resolve replaces an answer that addUnsure counted by its round trip, which is known
// now.
func (t *roundTrips) resolve(trip time.Duration) {
	if t.unsure > 0 {
		t.unsure--
	} else if t.unsureBy > 0 {
		t.unsureBy--
	}
	t.add(trip)
}

// turn forgets the older half once the newer one is full.
func (t *roundTrips) turn() {
	if t.n+t.unsure < tripGeneration {
		return
	}
	t.before, t.nBefore, t.unsureBy = t.counts, t.n, t.unsure
	t.counts, t.n, t.unsure = [tripBuckets]uint16{}, 0, 0
}

// known returns how many round trips there are.
func (t *roundTrips) known() uint32 { return t.n + t.nBefore }

// blind reports whether so many answers may belong to any of several requests that
// the known round trips say little about them.
func (t *roundTrips) blind() bool {
	unsure := t.unsure + t.unsureBy
	return unsure*blindPart > unsure+t.known()
}

// upper returns a bound that at most one in part round trips exceeds.
func (t *roundTrips) upper(part uint32) time.Duration {
	return upper(t.known()/part, func(b int) uint32 { return uint32(t.counts[b]) + uint32(t.before[b]) })
}

// tripTotals are all round trips of a scan.
type tripTotals struct {
	counts [tripBuckets]uint32
	n      uint32
}

func (t *tripTotals) add(trip time.Duration) {
	t.counts[bucketOf(trip)]++
	t.n++
}

// upper returns a bound that at most one in part round trips exceeds.
func (t *tripTotals) upper(part uint32) time.Duration {
	return upper(t.n/part, func(b int) uint32 { return t.counts[b] })
}
