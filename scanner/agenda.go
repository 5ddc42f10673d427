package scanner

import (
	"math/bits"

	"github.com/a2sscan/a2sscan/wire"
)

// status returns those of the set that make up a status.
func (s Questions) status() Questions { return s & AskAll }

// verifyInfo is INFO once more, when it has an answer already. As a question of
// which a request is due it has the number behind the last one.
const (
	questionVerify = wire.Question(wire.NumRequests)
	verifyInfo     = Questions(1 << questionVerify)
	aside          = AskPing | verifyInfo // what may be due and is not open
)

// ask makes qs due and counts them as asked once more.
func (s *session) ask(qs Questions) {
	s.askNew(qs)
	s.due |= qs
	s.flags &^= flagRepeat
}

func (s *session) askNew(qs Questions) {
	for q := range each(qs) {
		s.attempts[q] += b2u8(s.attempts[q] < 255)
	}
}

func (s *session) fault(qs Questions, code wire.Error) {
	for q := range each(qs & s.open) {
		s.err[q] = code
	}
}

func (s *session) close(q wire.Question, code wire.Error) {
	s.open &^= 1 << q
	s.err[q] = code
	s.got.answered |= s.asked & (1 << q)
	s.quiet, s.got.slow = 0, 0
	s.flags |= flagAnswered
	s.flags &^= flagBurst
}

func (s *session) giveUp(q wire.Question, code wire.Error) {
	s.open &^= 1 << q
	s.err[q] = code
}

func (s *session) closeAll() {
	for q := range each(s.open) {
		s.giveUp(q, s.silence(q))
	}
}

// silence is the reason to write for a question that is given up.
func (s *session) silence(q wire.Question) wire.Error {
	switch {
	case s.err[q] != 0:
		return s.err[q]
	case s.got != nil && s.got.same >= maxRounds:
		return wire.ErrChallengeLoop
	}
	return wire.ErrTimeout
}

// lowest returns the first question of qs, as a set.
func lowest(qs Questions) Questions { return qs & -qs }

// each yields the questions of qs in order.
func each(qs Questions) func(yield func(wire.Question) bool) {
	return func(yield func(wire.Question) bool) {
		for ; qs != 0; qs &= qs - 1 {
			if !yield(wire.Question(bits.TrailingZeros8(uint8(qs)))) {
				return
			}
		}
	}
}

func b2u8(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
