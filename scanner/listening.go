package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
)

// listening remembers the targets that a scan which learns its timeouts gave up before
// the fixed schedule would have. A late reply opens them again. It is a queue in the
// order in which they were given up, in a ring whose places have numbers; sessions.index
// has the number of each target. A place takes 16 bytes.
type listening struct {
	ring       []listened // its length is a power of two
	head, tail uint32     // number of the oldest place, and of the next; only 31 bits count
	n          int        // places that are still listened for
}

// listened is a target that was given up early.
type listened struct {
	addr            uint64 // 0: no longer listened for
	firstMS, lastMS uint32 // when its first and last datagram were sent; the low bits of the time in ms
}

const (
	maxListening  = 1 << 20 // 16 MiB
	maxListenTime = time.Minute
	leastPlaces   = 1 << 10
	placeNumbers  = 1<<31 - 1
)

func (l *listening) places() uint32        { return (l.tail - l.head) & placeNumbers }
func (l *listening) at(n uint32) *listened { return &l.ring[n&uint32(len(l.ring)-1)] }

// full reports whether the oldest target must be removed before another one is added.
func (l *listening) full() bool { return l.places() == maxListening }

// push adds a target and returns the number of its place.
func (l *listening) push(addr uint64, firstAt, lastAt time.Duration) uint32 {
	if int(l.places()) == len(l.ring) {
		old := *l
		l.ring = make([]listened, max(leastPlaces, 2*len(l.ring)))
		for n := old.head; n != old.tail; n = (n + 1) & placeNumbers {
			*l.at(n) = *old.at(n)
		}
	}
	n := l.tail
	l.tail = (l.tail + 1) & placeNumbers
	*l.at(n) = listened{addr, uint32(firstAt / time.Millisecond), uint32(lastAt / time.Millisecond)}
	l.n++
	return n
}

// remove empties a place.
func (l *listening) remove(n uint32) {
	l.at(n).addr = 0
	l.n--
	for l.head != l.tail && l.at(l.head).addr == 0 {
		l.head = (l.head + 1) & placeNumbers
	}
}

// times returns when the first and the last datagram were sent.
func (x *listened) times(now time.Duration) (firstAt, lastAt time.Duration) {
	ms := uint32(now / time.Millisecond)
	whole := now.Truncate(time.Millisecond)
	return whole - time.Duration(ms-x.firstMS)*time.Millisecond, whole - time.Duration(ms-x.lastMS)*time.Millisecond
}

// listens reports whether to go on listening for the target of a session that is done:
// the fixed schedule would wait longer. In a scan with a second pass no target is
// listened for.
func (s *sessions) listens(now time.Duration, sl *slot) bool {
	if s.learner == nil || s.plan.Schedule.SecondPass || !s.plan.GivenUpEarly(&sl.session) {
		return false
	}
	silence := s.plan.Schedule.Silence()
	return now < sl.session.Clock.FirstAt+silence && silence <= maxListenTime
}

// listen frees the slot of a session, and goes on listening for its target.
func (s *sessions) listen(i int32) {
	sl := s.slots.at(i)
	s.index[sl.source()] = ^int32(s.listening.push(sl.source(), sl.session.Clock.FirstAt, sl.session.Clock.LastAt()))
	s.release(i)
}

// reopen opens a target that was given up early, and returns its slot. n is the number
// of its place.
func (s *sessions) reopen(now time.Duration, n uint32) int32 {
	x := *s.listening.at(n)
	s.listening.remove(n)
	r := s.begin(entry{x.addr, s.labels[x.addr]})
	sl := s.slots.at(r.slot)
	sl.sent, sl.sentBytes = s.silentSent, s.silentBytes
	firstAt, lastAt := x.times(now)
	sl.session.Resume(&s.plan, firstAt, lastAt)
	s.wheel.file(s.slots, r.slot)
	return r.slot
}

// expire ends listening for the oldest target and returns its outcome.
func (s *sessions) expire(now time.Duration) outcome {
	x := *s.listening.at(s.listening.head)
	s.listening.remove(s.listening.head)
	firstAt, lastAt := x.times(now)
	o := s.silentOutcome(now, entry{x.addr, s.labels[x.addr]}, firstAt, lastAt, true)
	s.remember(x.addr, session.Mark{})
	return o
}

// listenEnd returns the time at which listening for the oldest target ends, or 0 if no
// target is listened for.
func (s *sessions) listenEnd(now time.Duration) time.Duration {
	if s.listening.n == 0 {
		return 0
	}
	firstAt, lastAt := s.listening.at(s.listening.head).times(now)
	end := firstAt + s.plan.Schedule.Silence()
	if last := s.plan.Last.Silent; last > 0 {
		end = min(end, lastAt+last)
	}
	return end
}
