package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// sessions holds the open targets: the slot of each, its wake-up time, and whether it
// has requests due. A session moves in three steps: an event changes its
// state (session.go), the plan decides what follows (plan.go), and close frees its slot.
type sessions struct {
	plan   plan
	slots  *slots
	index  index
	wheel  *wheel
	follow queue // slots with requests due that are not retries
	retry  queue // slots with retries due

	cooldown time.Duration
	closed   recent        // sources that closed within the cooldown
	turnedAt time.Duration // when closed last began a new turn
}

func newSessions(cfg *Config) *sessions {
	s := &sessions{
		plan:     newPlan(cfg),
		slots:    newSlots(),
		wheel:    newWheel(),
		cooldown: cfg.Cooldown,
	}
	s.index.slots = s.slots
	return s
}

// n is how many targets are open.
func (s *sessions) n() int { return s.slots.n }

// begin opens a target. Its first request is due, and in no queue yet.
func (s *sessions) begin(t entry) ref {
	i := s.slots.take()
	sl := s.slots.at(i)
	sl.setSource(t.addr)
	s.plan.start(&sl.session)
	s.slots.labels.set(i, t.label)
	s.index.put(i)
	return s.slots.ref(i)
}

// advance lets the step decide what follows an event, and does it. It reports
// whether the session is done.
func (s *sessions) advance(now time.Duration, i int32) (done bool) {
	t := &s.slots.at(i).session
	s.plan.advance(t, now)
	switch {
	case t.flags&flagDone != 0:
		return true
	case t.agenda.due != 0:
		s.enqueue(i, t)
	case t.clock.wake() > now:
		s.wheel.file(s.slots, i)
	}
	return false
}

func (s *sessions) enqueue(i int32, t *session) {
	if t.flags&flagQueued != 0 {
		return
	}
	t.flags |= flagQueued
	if t.flags&flagRepeat != 0 {
		s.retry.push(s.slots.ref(i))
	} else {
		s.follow.push(s.slots.ref(i))
	}
}

// queued reports whether any session has requests due.
func (s *sessions) queued() bool { return s.follow.n+s.retry.n > 0 }

// sent notes that a session's request went out.
func (s *sessions) sent(now time.Duration, i int32, q wire.Question) {
	s.plan.sent(&s.slots.at(i).session, now, 1<<q)
	s.wheel.file(s.slots, i)
}

// close frees the slot of a session that is done.
func (s *sessions) close(i int32) {
	source := s.slots.at(i).source()
	s.wheel.remove(s.slots, i)
	s.index.remove(source)
	if s.cooldown > 0 {
		s.closed.add(source, markOf(&s.slots.at(i).session))
	}
	s.slots.release(i)
}

// forget drops the sources whose cooldown is over.
func (s *sessions) forget(now time.Duration) {
	if s.cooldown > 0 && now-s.turnedAt >= s.cooldown {
		s.turnedAt = now
		s.closed.turn()
	}
}

// known reports whether a target is open or closed within the cooldown.
func (s *sessions) known(addr uint64) bool {
	return s.index.get(addr) >= 0 || s.closed.has(addr)
}
