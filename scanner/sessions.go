package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// sessions holds the open targets, their wake-up times, and the queues of targets with
// due requests. It also remembers closed targets for the cooldown.
type sessions struct {
	plan   session.Plan
	slots  *slots
	held   map[uint64]bool    // targets that the limit of their address holds back
	labels map[uint64]*Target // open and held targets with more than an address
	wheel  *wheel
	follow queue // slots with due requests other than retries
	retry  queue // slots with due retries

	learner *learner // nil: the timeouts are fixed
	// listening counts silent targets that have had all their attempts and may still answer
	// late.
	listening int

	// Datagrams and bytes that the scan sends to a silent target in the first pass.
	silentSent, silentBytes uint16

	closed   recent        // sources of targets that were closed within the cooldown
	turnedAt time.Duration // when closed.turn was last called
	sweep    *sweep        // nil unless Tuning.SweepPort is set
}

func newSessions(cfg *settings) *sessions {
	s := &sessions{
		plan: session.Plan{
			Questions: cfg.Questions, Schedule: cfg.schedule, Fallback: cfg.Tuning.Fallback, TrailingNUL: cfg.Tuning.TrailingNUL,
			TryPlayers: cfg.Tuning.TryPlayers && !cfg.Tuning.Fallback && cfg.Attempts > 1 && cfg.Questions&(wire.AskInfo|wire.AskPlayers) == wire.AskInfo|wire.AskPlayers,
		},
		slots:  newSlots(),
		held:   map[uint64]bool{},
		labels: map[uint64]*Target{},
		closed: recent{now: map[uint64]struct{}{}, before: map[uint64]struct{}{}},
		wheel:  newWheel(),
	}
	for q := range cfg.Questions.Lowest().Each() {
		s.silentSent = uint16(cfg.Attempts)
		s.silentBytes = s.silentSent * uint16(len(s.plan.AppendRequest(nil, q, wire.NoChallenge)))
		if s.plan.TryPlayers {
			s.silentBytes -= uint16(len(s.plan.AppendRequest(nil, q, wire.NoChallenge)))
			s.silentBytes += uint16(len(s.plan.AppendRequest(nil, wire.QuestionPlayers, wire.NoChallenge)))
		}
	}
	if cfg.Tuning.SweepPort != 0 {
		s.sweep = &sweep{cfg.Tuning.SweepPort, map[uint16]*[1 << 10]uint64{}}
	}
	if s.plan.Schedule.Learns {
		s.learner = newLearner(cfg.Timeout)
	}
	return s
}

// labelOf returns a copy of t if the list gives more than its address, else nil. Most
// targets have no label.
func labelOf(t *Target) *Target {
	if t.Tag == "" && t.Master == "" && t.Challenge == 0 && !t.InfoOnly {
		return nil
	}
	label := *t
	return &label
}

// targetOf returns a target of the list, but without its Place and Challenge.
func targetOf(addr uint64, label *Target) Target {
	t := Target{Addr: udp.Unpack(addr)}
	if label != nil {
		t.Tag, t.Master, t.InfoOnly = label.Tag, label.Master, label.InfoOnly
	}
	return t
}

// maxListening is the maximum of sessions.listening: at most 52 MiB of silent targets.
const maxListening = 1 << 19

// waiting returns the number of open targets, not counting s.listening.
func (s *sessions) waiting() int { return s.slots.n - s.listening }

// begin opens a target and makes its first request due, without putting it into a queue.
func (s *sessions) begin(addr uint64) ref {
	i, label := s.slots.take(addr), s.labels[addr]
	s.slots.at(i).session.Start(&s.plan, label != nil && label.InfoOnly, label != nil && label.Challenge != 0)
	delete(s.held, addr)
	if s.sweep != nil {
		s.sweep.add(addr)
	}
	return s.slots.ref(i)
}

func (s *sessions) queued() bool { return s.follow.n()+s.retry.n() > 0 }

// planOf returns the plan with the schedule of a target. If the decompressor had no room
// for an answer, the timeout is the fixed one: with a shorter one, the scan could make all
// further attempts before there is room.
func (s *sessions) planOf(sl *slot) *session.Plan {
	if s.learner != nil {
		s.plan.Schedule.Learned = s.learner.timeout(sl.source())
		if a := sl.session.Got; a != nil && a.Refused {
			s.plan.Schedule.Learned = 0
		}
	}
	return &s.plan
}

// remembered returns the challenge to send with the first request to a target that has
// not answered yet, or NoChallenge.
func (s *sessions) remembered(sl *slot) wire.Challenge {
	if sl.session.Got == nil && len(s.labels) > 0 {
		if label := s.labels[sl.source()]; label != nil && label.Challenge != 0 {
			return wire.Challenge(label.Challenge)
		}
	}
	return wire.NoChallenge
}

func (s *sessions) sent(now time.Duration, i int32, q wire.Question) {
	if s.learner != nil {
		s.learner.sent(now)
	}
	sl := s.slots.at(i)
	sl.session.Sent(s.planOf(sl), now, q)
	s.wheel.file(s.slots, i)
}

func (s *sessions) learn(at time.Duration, sl *slot) {
	l, a := s.learner, sl.session.Got
	if l == nil {
		return
	}
	if a.Took > 0 {
		l.asked.Add(a.Took, true)
		a.Took = 0
	}
	switch {
	case s.plan.Second || sl.session.Agenda.Asked == 0:
	case a.Received == 1:
		a.Unsure = sl.sent > 1
		l.first(sl.source(), at-sl.session.Clock.FirstAt, !a.Unsure)
	case a.Doubled:
		a.Doubled, a.Unsure, a.Attempt = false, false, 1
		a.Late = a.FirstAt - sl.session.Clock.FirstAt
		l.late(sl.source(), a.Late)
	}
}

func (s *sessions) retime() {
	for i := range s.slots.all() {
		if sl := s.slots.at(i); s.planOf(sl).Retime(&sl.session) {
			s.wheel.file(s.slots, i)
		}
	}
}

// close frees the slot of a session that is done, and remembers its target for the
// cooldown, unless s.sweep already does.
func (s *sessions) close(i int32) {
	sl := s.slots.at(i)
	source := sl.source()
	s.drop(source)
	if s.plan.Schedule.Cooldown > 0 && s.sweep == nil {
		s.closed.add(source)
	}
	s.wheel.remove(s.slots, i)
	s.slots.release(i)
}

func (s *sessions) drop(addr uint64) {
	delete(s.held, addr)
	delete(s.labels, addr)
}

func (s *sessions) forget(now time.Duration) {
	if s.plan.Schedule.Cooldown > 0 && now-s.turnedAt >= s.plan.Schedule.Cooldown {
		s.turnedAt = now
		s.closed.turn()
	}
}

func (s *sessions) known(addr uint64) bool {
	return s.closed.has(addr) || s.held[addr] || s.slots.find(addr) >= 0
}
