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
	index  map[uint64]int32 // the slot of each source
	wheel  *wheel
	follow queue // slots with requests due that are not retries
	retry  queue // slots with retries due

	learner   *learner // nil: the timeouts are fixed
	listening listening

	cooldown time.Duration
	closed   recent        // sources of targets that were closed within the cooldown
	turnedAt time.Duration // when closed last began a new turn
	sweep    *sweep        // nil unless Config.SweepPort is set
}

func newSessions(cfg *Config) *sessions {
	s := &sessions{
		plan:     newPlan(cfg),
		slots:    newSlots(),
		index:    map[uint64]int32{},
		closed:   newRecent(),
		wheel:    newWheel(),
		cooldown: cfg.Cooldown,
	}
	if cfg.SweepPort != 0 {
		s.sweep = &sweep{cfg.SweepPort, map[uint16]*[1 << 10]uint64{}}
	}
	if cfg.learn {
		s.learner = newLearner(cfg.Timeout)
	}
	return s
}

// n returns how many targets are open.
func (s *sessions) n() int { return s.slots.n }

// begin opens a target. Its first request is due, and in no queue yet.
func (s *sessions) begin(t entry) ref {
	i := s.slots.take()
	sl := s.slots.at(i)
	sl.setSource(t.addr)
	s.plan.start(&sl.session, t.label)
	s.slots.labels.set(i, t.label)
	s.index[t.addr] = i
	if s.sweep != nil {
		s.sweep.add(t.addr)
	}
	return s.slots.ref(i)
}

// advance has the plan decide what a session does after an event. It then puts the
// session into a queue or the wheel, or reports that it is done.
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

// sent records that a session's request was sent.
func (s *sessions) sent(now time.Duration, i int32, q wire.Question) {
	sl := s.slots.at(i)
	if s.learner != nil {
		s.learner.sent(now)
	}
	s.plan.sent(&sl.session, now, s.timeout(sl), 1<<q)
	s.wheel.file(s.slots, i)
}

// timeout returns how long the first attempt at the target of a slot waits. If a
// compressed answer found no room in the decompressor, it has to be requested again,
// but not soon: otherwise all attempts could be over before there is room.
func (s *sessions) timeout(sl *slot) time.Duration {
	if a := sl.session.got; s.learner == nil || a != nil && a.unpacking.refused {
		return s.plan.schedule.Timeout
	}
	return s.learner.timeout(sl.source())
}

// learn gives the learner what a datagram reveals about round trips.
func (s *sessions) learn(now time.Duration, sl *slot) {
	t, trips := &sl.session, &sl.session.got.trips
	if trips.took > 0 {
		s.learner.answered(trips.took)
		trips.took = 0
	}
	switch {
	case s.plan.once || t.agenda.asked == 0:
	case t.got.received == 1:
		s.learnFirst(now, sl)
	case trips.doubled:
		trips.doubled, trips.unsure = false, false
		trips.late = t.got.firstAt - t.clock.firstAt
		t.got.attempt = 1
		s.learner.late(sl.source(), trips.late)
		s.plan.retime(t, s.timeout(sl))
	}
}

// learnFirst gives the learner the first datagram of a target.
func (s *sessions) learnFirst(now time.Duration, sl *slot) {
	t := &sl.session
	if sl.sent == 1 {
		s.learner.first(sl.source(), now-t.clock.firstAt)
		return
	}
	t.got.trips.unsure = true
	t.got.trips.late = max(now-t.clock.lastAt(), 0) // negative: it came before the last request left
	s.learner.unsure(sl.source())
}

// lastWaits tells the plan how long the last answers are worth waiting for, and
// reports whether that has only now become known.
func (s *sessions) lastWaits() (known bool) {
	last := s.learner.last()
	known = s.plan.last.heard == 0 && last.heard > 0
	s.plan.last = last
	return known
}

// retime makes every session wait according to the current timeouts.
func (s *sessions) retime() {
	for _, i := range s.index {
		sl := s.slots.at(i)
		s.plan.retime(&sl.session, s.timeout(sl))
		if sl.session.clock.wakeMS != 0 {
			s.wheel.file(s.slots, i)
		}
	}
}

// close frees the slot of a session that is done, and remembers its source for the
// cooldown.
func (s *sessions) close(i int32) {
	sl := s.slots.at(i)
	s.remember(sl.source(), markOf(&sl.session))
	s.release(i)
}

// remember remembers a closed target for the cooldown. A sweep remembers without it
// which targets there were.
func (s *sessions) remember(source uint64, m mark) {
	if s.cooldown > 0 && (s.sweep == nil || m != mark{}) {
		s.closed.add(source, m)
	}
}

// wasClosed reports whether a source was a target that is closed, and returns its
// mark.
func (s *sessions) wasClosed(source uint64) (m mark, ok bool) {
	m, ok = s.closed.find(source)
	return m, ok || s.sweep != nil && s.sweep.has(source)
}

// release frees a slot.
func (s *sessions) release(i int32) {
	s.wheel.remove(s.slots, i)
	delete(s.index, s.slots.at(i).source())
	s.slots.release(i)
}

// forget drops the sources whose cooldown is over.
func (s *sessions) forget(now time.Duration) {
	if s.cooldown > 0 && now-s.turnedAt >= s.cooldown {
		s.turnedAt = now
		s.closed.turn()
	}
}

// slotOf returns the slot of an open target, or -1.
func (s *sessions) slotOf(source uint64) int32 {
	if i, ok := s.index[source]; ok {
		return i
	}
	return -1
}

// known reports whether a target is open, or listened for, or closed within the
// cooldown.
func (s *sessions) known(addr uint64) bool {
	_, closed := s.closed.find(addr)
	return closed || s.slotOf(addr) >= 0 || s.listening.has(addr)
}
