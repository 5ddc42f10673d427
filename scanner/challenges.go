package scanner

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// challenge is the one in use.
func (s *session) challenge() wire.Challenge {
	if s.got == nil {
		return wire.NoChallenge
	}
	return s.got.challenge
}

// challengeFor is the one to send q with.
func (s *session) challengeFor(q wire.Question) wire.Challenge {
	switch {
	case s.got == nil || s.got.fresh.Has(q):
		return wire.NoChallenge
	case s.got.owned.Has(q):
		return s.got.own[q]
	}
	return s.got.challenge
}

// requestFor is the request to send for q: GETCHALLENGE may stand in for it.
func (s *session) requestFor(q wire.Question) wire.Question {
	if q == questionVerify {
		return wire.QuestionInfo
	}
	if s.got != nil && s.got.get.Has(q) {
		return wire.QuestionChallenge
	}
	return q
}

// onChallenge takes an 'A'. A challenge round is no retry.
func (s *session) onChallenge(now time.Duration, c wire.Challenge) verdict {
	s.came()
	s.countChallenge(c)
	switch a := s.got; {
	case s.pin():
		return used
	case s.open == 0 || a.pinned:
		return useless
	case a.single:
		return s.onOwnChallenge(now, c)
	case c == a.challenge:
		a.seenAt = now
		s.echoed()
		return useless
	}
	first := s.replaceChallenge(now, c)
	if s.flags&flagHeld != 0 && s.flying > 0 {
		return used
	}
	if s.countRound((s.waiting | s.due) & s.open); !s.pin() {
		s.useChallenge(first)
	}
	return used
}

// replaceChallenge takes c for the challenge in use. It reports whether it is the
// first one.
func (s *session) replaceChallenge(now time.Duration, c wire.Challenge) (first bool) {
	a := s.got
	s.quiet = 0
	qs := s.waiting & s.open
	if qs == lowest(qs) {
		a.openly &^= qs // the fragments were this challenge
	}
	if first = a.challenge == wire.NoChallenge; !first {
		a.resent |= s.waiting
	}
	a.challenge, a.origin, a.seenAt, a.get = c, qs, now, 0
	return first
}

// useChallenge has what is open sent with the challenge that came.
func (s *session) useChallenge(first bool) {
	switch {
	case s.open == 0:
	case s.flags&flagLimited != 0:
		s.postpone()
	case s.flags&(flagChanged|flagSerial) == 0:
		if !first {
			s.flags |= flagChanged
		}
		s.resend(s.open)
	default:
		s.flags |= flagSerial | flagHeld
		s.flags &^= flagBurst
	}
}

// countChallenge counts an 'A' among the replies that the server can have sent.
// One that comes when every datagram is answered, none of them by an 'A', is the
// answer to a question that has another answer.
func (s *session) countChallenge(c wire.Challenge) {
	a := s.got
	first := a.challenges == 0
	a.challenges += b2u8(a.challenges < math.MaxUint8)
	a.remember(c)
	if s.open == 0 && a.challenge == wire.NoChallenge {
		a.challenge = c // to verify INFO with
	}
	if first && s.surplus() && a.unchallenged != 0 && !a.unchallenged.Has(wire.QuestionInfo) {
		s.onContradiction()
	}
}

// onOwnChallenge takes an 'A' where each question has a challenge of its own.
// An 'A' names no question: it answers the only one that is waited for.
func (s *session) onOwnChallenge(now time.Duration, c wire.Challenge) verdict {
	a := s.got
	qs := s.waiting & s.open
	if qs == 0 {
		return useless
	}
	q := wire.Question(bits.TrailingZeros8(uint8(qs)))
	asked := a.fresh.Has(q)
	switch {
	case asked && c == a.challenge:
		s.oneForAll(qs)
	case !asked && c == s.challengeFor(q):
		s.echoed()
		return useless
	case !asked:
		s.countRound(qs)
	default:
		a.heard |= qs
	}
	a.seenAt = now
	a.fresh &^= qs
	a.own[q] = c
	a.owned |= qs
	s.quiet = 0
	s.waiting &= aside
	s.due |= qs & s.open
	s.flags &^= flagRepeat
	return used
}

// oneForAll takes the news that the server's challenge is the one that was
// dropped in silence: the silence has another reason. What is open is asked
// together again.
func (s *session) oneForAll(challenged Questions) {
	s.got.single = false
	s.got.fresh = 0
	s.got.renewed = AskAll
	if !s.serial() {
		rest := s.open &^ challenged
		s.askNew(rest)
		s.due |= rest
	}
}

// renew has each of qs asked for a challenge of its own, one at a time.
func (s *session) renew(qs Questions) {
	s.got.single = true
	s.got.fresh |= qs
	s.got.renewed |= qs
}

// echoed counts the challenge in use when it comes as the answer to a request
// that bore it: once for all that was sent together, so that late copies of it
// don't look like a server that knows nothing else.
func (s *session) echoed() {
	if !s.got.echoed {
		s.got.echoed = true
		s.got.same += b2u8(s.got.same < maxRounds)
	}
}

// countRound counts a challenge for each of qs and gives up those that were
// challenged too often.
func (s *session) countRound(qs Questions) {
	s.got.heard |= qs
	for q := range each(qs) {
		if s.got.rounds[q]++; s.got.rounds[q] > maxRounds {
			s.giveUp(q, wire.ErrChallengeLoop)
		}
	}
}

// pin takes a challenge that came more than once for the server's own, and all
// others for forged ones, where a question was given up for too many of them. What
// has no answer is asked again, together, and no other challenge is used any more.
func (s *session) pin() bool {
	a := s.got
	if !a.twice || a.pinned || !s.looped() {
		return false
	}
	a.pinned, a.single = true, false
	a.challenge, a.fresh, a.owned = a.repeated, 0, 0
	s.flags &^= flagHeld
	for q := range each(AskAll) {
		if s.err[q] == wire.ErrChallengeLoop {
			s.open |= 1 << q
			s.err[q] = 0
		}
	}
	s.resend(s.open)
	return true
}

// remember notes the value of an 'A', and whether it came before.
func (a *dialog) remember(c wire.Challenge) {
	n := min(int(a.challenges)-1, len(a.values))
	if slices.Contains(a.values[:n], c) {
		a.repeated, a.twice = c, true
		return
	}
	a.values[a.oldest] = c
	a.oldest = (a.oldest + 1) % uint8(len(a.values))
}

// resend makes qs due with the challenge that came: those that were asked
// before are not counted as asked again.
func (s *session) resend(qs Questions) {
	s.askNew(qs &^ (s.asked | s.due))
	s.due |= qs
	s.waiting &= aside
	s.flags |= flagBurst
	s.flags &^= flagRepeat
}

// postpone has what was challenged asked again when its time has come, without
// counting it as asked again.
func (s *session) postpone() {
	for q := range each((s.waiting | s.due) & s.open) {
		s.attempts[q] -= b2u8(s.attempts[q] > 0)
	}
	s.waiting &= aside
	s.due &= aside
}

// withoutChallenge reports whether an answer to q that comes now answers a
// request that bore no challenge, or the fragments of an earlier one did.
func (s *session) withoutChallenge(q wire.Question) bool {
	if !s.asked.Has(q) {
		return s.challenge() == wire.NoChallenge
	}
	return (s.bare | s.got.openly).Has(q)
}
