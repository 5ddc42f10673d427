package scanner

import (
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

// about reports whether a and b are equal within the width of a bucket.
func about(a, b time.Duration) bool { return a >= b && float64(a) <= 1.13*float64(b) }

const somewhere = uint64(0xCB007107)<<16 | 27015

// learnt returns a learner that knows n round trips of one length.
func learnt(n int, trip time.Duration) *learner {
	l := newLearner(time.Second)
	l.sent(0)
	for range n {
		l.first(somewhere, trip, true)
	}
	return l
}

// TestLearnerTimeout checks the timeouts that follow from different round trips.
func TestLearnerTimeout(t *testing.T) {
	for _, test := range []struct {
		name string
		n    int
		trip time.Duration
		now  time.Duration
		want time.Duration // the timeout is 1.25 times this, plus queueMargin; 0: a second
	}{
		{"too early", 1000, 100 * ms, 900 * ms, 0},
		{"too few", session.LearnTrips - 1, 100 * ms, 2 * time.Second, 0},
		{"enough", session.LearnTrips, 200 * ms, 2 * time.Second, 200 * ms},
		{"near by", 1000, 5 * ms, 2 * time.Second, 112 * ms}, // 150 ms
		{"far away", 1000, 5 * time.Second, 2 * time.Second, 0},
	} {
		l := learnt(test.n, test.trip)
		l.update(test.now)
		got, want := l.timeout(somewhere), time.Second
		if test.want > 0 {
			got, want = (got-queueMargin)*4/5, test.want
		}
		if !about(got, want) {
			t.Errorf("%s: %v, want %v", test.name, got, want)
		}
	}
}

// TestLearnerUnsure adds answers that may belong to any of several requests. They count
// as round trips once they turn out to be late answers to the first. If many remain
// unsure, the learner falls back to the fixed timeouts.
func TestLearnerUnsure(t *testing.T) {
	l := learnt(900, 100*ms)
	for range 100 {
		l.first(somewhere, 0, false)
	}
	l.update(2 * time.Second)
	if got := l.timeout(somewhere); got > 200*ms {
		t.Errorf("a tenth is unsure: %v", got)
	}
	for range 100 {
		l.late(somewhere, 400*ms)
	}
	l.update(3 * time.Second)
	if got := l.timeout(somewhere); got < 500*ms || l.all.now.unknown != 0 {
		t.Errorf("a tenth takes 400 ms: %v, %d unsure", got, l.all.now.unknown)
	}
	for range 300 {
		l.first(somewhere, 0, false)
	}
	l.update(4 * time.Second)
	if got := l.timeout(somewhere); got != time.Second || l.last() != (session.LastWaits{}) {
		t.Errorf("a quarter is unsure: %v, %+v", got, l.last())
	}
}

// TestLearnerBlocks checks that a /8 has its own timeout as long as that differs from
// the common one.
func TestLearnerBlocks(t *testing.T) {
	const elsewhere = uint64(0x0A000001)<<16 | 27015
	l := learnt(2000, 100*ms)
	for range enoughBlock - 1 {
		l.first(elsewhere, 10*ms, true)
	}
	l.update(2 * time.Second)
	if a, b := l.timeout(somewhere), l.timeout(elsewhere); a != b {
		t.Errorf("too little is known: %v and %v", a, b)
	}
	l.first(elsewhere, 10*ms, true)
	l.update(3 * time.Second)
	if got := l.timeout(elsewhere); got != session.LeastTimeout || l.seen.Blocks != 1 || l.seen.Least != session.LeastTimeout {
		t.Errorf("a /8 near by: %v, %+v", got, l.seen)
	}
	for range 2 * tripGeneration {
		l.first(elsewhere, 90*ms, true)
	}
	l.update(4 * time.Second)
	if a, b := l.timeout(somewhere), l.timeout(elsewhere); a != b || l.seen.Blocks != 0 {
		t.Errorf("they differ no more: %v and %v, %+v", a, b, l.seen)
	}
}

// TestLearnerSweep checks that update asks for waiting sessions to be filed again when
// the timeouts have become clearly shorter, but only once.
func TestLearnerSweep(t *testing.T) {
	l := learnt(1000, 700*ms)
	var swept []time.Duration
	for now := time.Second; now < 20*time.Second; now += learnEvery {
		if now == 5*time.Second {
			for range 2 * tripGeneration {
				l.first(somewhere, 200*ms, true)
			}
		}
		if l.update(now) {
			swept = append(swept, now)
		}
	}
	if len(swept) != 1 || swept[0] != 5*time.Second {
		t.Errorf("swept at %v", swept)
	}
}

// TestLearnerLast checks the last waits and the cooldown.
func TestLearnerLast(t *testing.T) {
	l := learnt(enoughTotals-1, 100*ms)
	if got := l.cooldown(2 * time.Second); got != 2*time.Second {
		t.Errorf("nothing is learned: a cooldown of %v", got)
	}
	l.update(2 * time.Second)
	if l.last() != (session.LastWaits{}) {
		t.Errorf("too little is known: %+v", l.last())
	}
	l.first(somewhere, 400*ms, true)
	for range enoughTotals {
		l.asked.add(50*ms, true)
	}
	if got := l.last(); !about(got.Silent, 800*ms) || got.Heard != l.most {
		t.Errorf("%+v", got)
	}
	l.asked.add(700*ms, true)
	if got := l.last(); !about(got.Heard, 1400*ms) {
		t.Errorf("%+v", got)
	}
	if got := l.cooldown(2 * time.Second); !about(got, 200*ms) {
		t.Errorf("a cooldown of %v", got)
	}
	if got := l.cooldown(150 * ms); got != 150*ms {
		t.Errorf("a cooldown of %v, at most 150 ms", got)
	}
}

// TestNoRoomToUnpack checks that a server gets the fixed timeouts if the decompressor
// had no room for its compressed answer: it may have none for the next answer either.
func TestNoRoomToUnpack(t *testing.T) {
	h, err := NewHarness()
	if err != nil {
		t.Fatal(err)
	}
	e := h.e
	e.open.learner = learnt(session.LearnTrips, 20*ms)
	e.open.learner.update(2 * time.Second)
	h.Begin(1<<16 | 27015)
	h.Send()
	slot := e.open.index[1<<16|27015]
	reply := []byte(inBzip2(string(newServer().rules))[0])
	learned := e.open.timeout(e.open.slots.at(slot))
	h.Close() // the decompressor takes nothing any more
	e.recv.take(h.now, h.now, &udp.Packet{Addr: 1<<16 | 27015, Data: reply})
	if got := e.open.timeout(e.open.slots.at(slot)); learned != session.LeastTimeout || got != DefaultTimeout {
		t.Errorf("%v, and %v after it", learned, got)
	}
}
