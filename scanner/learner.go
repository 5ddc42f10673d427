package scanner

import (
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/timing"
)

// learner learns from the round trips of a scan how long to wait for the answer to a
// question. It has no clock: round trips in, timeouts out.
//
// It takes one round trip per server, from the only request so far to the first
// datagram. If there were several requests, it is unknown which of them the datagram
// answers: perhaps the first one, late. If copies of the answer follow, several requests
// were answered: the answer was late, and its round trip began with the first request.
// Loss makes no copies, so loss alone never makes timeouts longer.
//
//	timeout = 1.25 × (the round trip that 1 in 100 exceeds) + 10 ms, at least 150 ms
//
// The timeout is never longer than the fixed timeout. The fixed timeout is used until the
// scan has run for a second and knows 256 round trips, because the first answers to
// arrive are the quick ones. It is also used while more than one answer in five is of
// unknown age. A /8 has a timeout of its own once 200 of its round trips are known, if
// the round trip that 1 in 100 of them exceeds differs from that of all servers by a
// factor of 1.5.
type learner struct {
	most  time.Duration // the fixed timeout
	begun time.Duration // when the first datagram was sent; 0 if none was sent

	all    roundTrips      // the recent round trips of all servers
	blocks [256]roundTrips // the recent round trips of each /8
	firsts tripCounts      // the round trips of all servers since the scan began
	asked  tripCounts      // the times from the first request for a question to its answer

	waits [256]time.Duration // the timeout of each /8

	at      time.Duration // when update last ran
	high    time.Duration // the longest common timeout since the last sweep
	sweptAt time.Duration

	seen Timeouts
}

// The learner's constants.
const (
	queueMargin = 10 * time.Millisecond // added to timeouts because our own queue may delay an answer
	learnTime   = time.Second           // how long a scan must have run before it learns timeouts
	enoughBlock = 200                   // round trips that must be known for a /8 to have its own timeout
	// Timeouts and the cooldown follow from the round trip that 1 in rareTrip exceeds.
	// LastWaits follow from the round trip that 1 in rarestTrip exceeds.
	rareTrip     = 100
	rarestTrip   = 5000
	enoughTotals = 500 // round trips that must be known for LastWaits
	blindPart    = 5   // use the fixed timeout if the age of more than 1 answer in 5 is unknown
	learnEvery   = 20 * time.Millisecond
	sweepAfter   = time.Second // minimum time between two sweeps
	lastFactor   = 2           // LastWaits are this many times the round trip that 1 in rarestTrip exceeds
	coolFactor   = 2           // the cooldown is this many times the round trip that 1 in rareTrip exceeds
)

func newLearner(most time.Duration) *learner {
	l := &learner{most: most, high: most, seen: Timeouts{Now: most}}
	for i := range l.waits {
		l.waits[i] = most
	}
	return l
}

// sent records when the first datagram was sent.
func (l *learner) sent(now time.Duration) {
	if l.begun == 0 {
		l.begun = max(now, 1)
	}
}

// timeout returns how long the first attempt at a source waits.
func (l *learner) timeout(source uint64) time.Duration { return l.waits[blockOf(source)] }

// blockOf returns the /8 of a packed source.
func blockOf(source uint64) byte { return byte(source >> 40) }

// first records the round trip of the first datagram of a source. The round trip is
// unknown if the source was sent several requests.
func (l *learner) first(source uint64, trip time.Duration, known bool) {
	l.all.add(trip, known)
	l.blocks[blockOf(source)].add(trip, known)
	l.firsts.add(trip, known)
}

// late replaces the unknown round trip of a source with the true round trip.
func (l *learner) late(source uint64, trip time.Duration) {
	for _, t := range []*roundTrips{&l.all, &l.blocks[blockOf(source)]} {
		if t.now.unknown > 0 {
			t.now.unknown--
		} else if t.before.unknown > 0 {
			t.before.unknown--
		}
	}
	l.first(source, trip, true)
}

// update sets the timeouts from the known round trips. It reports whether the timeouts
// fell so far that sessions that are already waiting should wait less.
func (l *learner) update(now time.Duration) (sweep bool) {
	l.at = now
	if l.begun == 0 || now-l.begun < learnTime || l.all.known() < timing.LearnTrips {
		return false
	}
	whole := l.all.upper(rareTrip)
	wait, x := l.fit(&l.all, whole), &l.seen
	if !x.Learned {
		x.Learned, x.Least, x.Most = true, wait, wait
	}
	x.Now, x.Blocks = wait, 0
	for i := range l.blocks {
		b := &l.blocks[i]
		l.waits[i] = wait
		if b.known() >= enoughBlock {
			// A /8 differs from all servers if one value is 3/2 times the other.
			if rare := b.upper(rareTrip); rare*2 >= whole*3 || whole*2 >= rare*3 || b.blind() != l.all.blind() {
				l.waits[i] = l.fit(b, rare)
				x.Blocks++
			}
		}
		x.Least, x.Most = min(x.Least, l.waits[i]), max(x.Most, l.waits[i])
	}
	l.high = max(l.high, wait)
	sweep = wait <= l.high/5*4 && (l.sweptAt == 0 || now-l.sweptAt >= sweepAfter)
	if sweep {
		l.sweptAt, l.high = now, wait
	}
	return sweep
}

// fit turns a round trip that is rarely exceeded into a timeout. If too many answers
// are of unknown age, it returns the fixed timeout.
func (l *learner) fit(t *roundTrips, rare time.Duration) time.Duration {
	if t.blind() {
		return l.most
	}
	return min(max(rare*5/4+queueMargin, timing.LeastTimeout), l.most)
}

// last returns the last waits: twice the round trip that one in 5000 answers exceeds,
// or 0 if too few answers are known. A server that answered something exists, so Heard
// is at least the fixed timeout.
func (l *learner) last() (w session.LastWaits) {
	if !l.seen.Learned || l.all.blind() {
		return w
	}
	if l.firsts.n >= enoughTotals {
		w.Silent = lastFactor * l.firsts.upper(rarestTrip)
	}
	if l.asked.n >= enoughTotals {
		w.Heard = max(lastFactor*l.asked.upper(rarestTrip), l.most)
	}
	return w
}

// cooldown returns how long to wait for late replies. The parameter most is the longest
// cooldown, and the result until the timeouts have been learned.
func (l *learner) cooldown(most time.Duration) time.Duration {
	if !l.seen.Learned {
		return most
	}
	return min(max(coolFactor*l.all.upper(rareTrip), timing.LeastTimeout/3), most)
}

// Timeouts are the timeouts of a scan that learns them, for the first attempt at a
// server.
type Timeouts struct {
	Learned bool          // enough round trips are known
	Now     time.Duration // the timeout for most servers; at first the fixed timeout
	Least   time.Duration // the shortest timeout that was learned for any /8
	Most    time.Duration // the longest timeout that was learned for any /8
	Blocks  int           // /8 networks that have their own timeout now

	// Listening counts silent targets that were sent all attempts; the scan still waits for
	// late answers.
	Listening int
	// Reopened counts silent targets that answered late and were then queried further.
	Reopened uint64
}

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

// upper returns the end of a bucket that at most 1/part of the round trips exceed.
func (t *tripCounts) upper(part uint32) time.Duration {
	bucket, n := tripBuckets-1, uint32(0)
	for ; bucket > 0; bucket-- {
		if n += t.counts[bucket]; n > t.n/part {
			break
		}
	}
	return time.Duration(8+bucket%8+1) << (bucket / 8) * (time.Millisecond / 8)
}

// roundTrips are the most recent round trips of some servers, at most 2 × tripGeneration.
// Older round trips are forgotten all at once, so that a change of the path shows soon.
type roundTrips struct{ now, before tripCounts }

const tripGeneration = 4096

func (t *roundTrips) add(trip time.Duration, known bool) {
	if t.now.n+t.now.unknown >= tripGeneration {
		*t = roundTrips{before: t.now}
	}
	t.now.add(trip, known)
}

// known returns how many round trips are known.
func (t *roundTrips) known() uint32 { return t.now.n + t.before.n }

// blind reports whether too many round trips are unknown, because their answers may belong
// to any of several requests.
func (t *roundTrips) blind() bool {
	unknown := t.now.unknown + t.before.unknown
	return unknown*blindPart > unknown+t.known()
}

// upper returns a bound that at most 1/part of the round trips exceed.
func (t *roundTrips) upper(part uint32) time.Duration {
	all := t.now
	for i, n := range t.before.counts {
		all.counts[i] += n
	}
	all.n += t.before.n
	return all.upper(part)
}
