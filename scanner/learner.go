package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/internal/trips"
	"github.com/a2sscan/a2sscan/scanner/timing"
)

// learner learns from the round trips of a scan how long to wait for the answer to a
// question. It has no clock: its callers pass the time.
//
// It takes one round trip per server: from the request to the first datagram. If the scan
// sent several requests before this datagram, the round trip is unknown, because the
// datagram may answer any of them. A copy of the datagram shows that the server answered
// several requests. The first datagram is then the late answer to the first request. Loss
// makes no copies, so loss alone never makes timeouts longer.
//
//	timeout = 1.25 × (the round trip that 1 in 100 exceeds) + 10 ms, at least 150 ms
//
// The timeout is never longer than the fixed timeout. The fixed timeout is used until the
// scan has run for a second and knows 256 round trips, because the first answers to
// arrive are the quick ones. It is also used while the round trips of more than one answer
// in five are unknown. A /8 has a timeout of its own once 200 of its round trips are known,
// if these differ much from the round trips of all servers (see update).
type learner struct {
	most  time.Duration // the fixed timeout
	begun time.Duration // when the first datagram was sent; 0 if none was sent

	all    trips.Recent      // the recent round trips of all servers
	blocks [256]trips.Recent // the recent round trips of each /8
	firsts trips.Counts      // the round trips of all servers since the scan began
	asked  trips.Counts      // the times from the first request for a question to its answer

	waits [256]time.Duration // the timeout of each /8

	at      time.Duration // when update last ran
	high    time.Duration // the longest Timeouts.Now since sweptAt
	sweptAt time.Duration // when update last returned true

	seen Timeouts
}

const (
	learnTime   = time.Second // how long a scan must have run before it learns timeouts
	enoughBlock = 200         // round trips that must be known for a /8 to have its own timeout
	rarestTrip  = 5000        // LastWaits follow from the round trip that 1 answer in rarestTrip exceeds
	blindPart   = 5
	learnEvery  = 20 * time.Millisecond
	sweepAfter  = time.Second // minimum time between two sweeps, which shorten waits that have begun
	lastFactor  = 2           // LastWaits are lastFactor times the round trip that 1 answer in rarestTrip exceeds
	coolFactor  = 2           // the cooldown is coolFactor times the round trip that 1 answer in trips.Rare exceeds
)

func newLearner(most time.Duration) *learner {
	l := &learner{most: most, high: most, seen: Timeouts{Now: most}}
	for i := range l.waits {
		l.waits[i] = most
	}
	return l
}

func (l *learner) sent(now time.Duration) {
	if l.begun == 0 {
		l.begun = max(now, 1)
	}
}

func (l *learner) timeout(source uint64) time.Duration { return l.waits[blockOf(source)] }

func blockOf(source uint64) byte { return byte(source >> 40) }

// first records the round trip of the first datagram from a source. The last argument is
// false if the scan had sent this source several requests.
func (l *learner) first(source uint64, trip time.Duration, known bool) {
	l.all.Add(trip, known)
	l.blocks[blockOf(source)].Add(trip, known)
	l.firsts.Add(trip, known)
}

// late replaces the unknown round trip of a source with the true round trip.
func (l *learner) late(source uint64, trip time.Duration) {
	l.all.Resolve()
	l.blocks[blockOf(source)].Resolve()
	l.first(source, trip, true)
}

// update sets the timeouts from the known round trips. It reports whether the timeouts
// fell so much that the scan should shorten waits that have begun.
func (l *learner) update(now time.Duration) (sweep bool) {
	l.at = now
	if l.begun == 0 || now-l.begun < learnTime || l.all.Known() < timing.LearnTrips {
		return false
	}
	whole := l.all.Upper(trips.Rare)
	wait, x := l.fit(&l.all, whole), &l.seen
	if !x.Learned {
		x.Learned, x.Least, x.Most = true, wait, wait
	}
	x.Now, x.Blocks = wait, 0
	for i := range l.blocks {
		b := &l.blocks[i]
		l.waits[i] = wait
		if b.Known() >= enoughBlock {
			// A /8 gets its own timeout if its round trips are much longer or shorter than
			// those of all servers, or if too many round trips are unknown here but not
			// overall, or overall but not here.
			if rare := b.Upper(trips.Rare); rare*2 >= whole*3 || whole*2 >= rare*3 || blind(b) != blind(&l.all) {
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

// fit returns the timeout that follows from a round trip that few answers exceed. If too
// many round trips are unknown, it returns the fixed timeout.
func (l *learner) fit(t *trips.Recent, rare time.Duration) time.Duration {
	if blind(t) {
		return l.most
	}
	return min(trips.Timeout(rare), l.most)
}

// blind(t) reports whether too many round trips are unknown.
func blind(t *trips.Recent) bool { return t.Unknown()*blindPart > t.Unknown()+t.Known() }

// last returns how long to wait at the end of the scan. Each wait is twice the round
// trip that one in 5000 answers exceeds, or 0 if too few round trips are known. Heard is
// for servers that have answered something; if it is not 0, it is at least the fixed
// timeout.
func (l *learner) last() (w session.LastWaits) {
	if !l.seen.Learned || blind(&l.all) {
		return w
	}
	if l.firsts.Known >= timing.LastTrips {
		w.Silent = lastFactor * l.firsts.Upper(rarestTrip)
	}
	if l.asked.Known >= timing.LastTrips {
		w.Heard = max(lastFactor*l.asked.Upper(rarestTrip), l.most)
	}
	return w
}

// cooldown returns how long to wait for late replies, at most as long as its argument.
func (l *learner) cooldown(most time.Duration) time.Duration {
	if !l.seen.Learned {
		return most
	}
	return min(max(coolFactor*l.all.Upper(trips.Rare), timing.LeastTimeout/3), most)
}

// Timeouts describes the timeouts of a scan that learns them. They apply to the first
// attempt at a server.
type Timeouts struct {
	Learned bool          // enough round trips are known
	Now     time.Duration // the timeout for most servers; at first the fixed timeout
	Least   time.Duration // the shortest timeout that was learned for any /8
	Most    time.Duration // the longest timeout that was learned for any /8
	Blocks  int           // /8 networks that have their own timeout now

	// Listening counts silent targets that have had all their attempts and may still answer
	// late.
	Listening int
	// Reopened counts silent targets that answered late, so that their queries went on.
	Reopened uint64
}
