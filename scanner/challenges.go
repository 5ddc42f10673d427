package scanner

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// challenges is the state of a server's challenges: the one in use, those of single
// questions, and those that came so far.
type challenges struct {
	current wire.Challenge // in use; NoChallenge: none yet
	origin  Questions      // the questions that it may have been the reply to
	echoed  bool           // current has come since the last datagram was sent
	same    uint8          // how many times a request that bore current was answered by current again
	resent  Questions      // sent with several challenges, so that it is unknown which request an answer belongs to
	seenAt  time.Duration  // when current, or one in own, last came

	rounds   [wire.NumQuestions]uint8 // challenges that came in answer to each question
	seen     uint8                    // how many challenges came, at most 255
	oldest   uint8                    // index of the oldest in values
	repeats  uint8                    // how many of repeated are set
	pinned   bool                     // other challenges are ignored
	returned bool                     // an older one has replaced the current one since the last wait

	get      Questions // questions that are replaced by GETCHALLENGE, to obtain a challenge
	getFirst bool      // servers of this game give a challenge for a list only if asked with GETCHALLENGE

	single  bool                              // each question has its own challenge, in own
	fresh   Questions                         // to be sent without a challenge, to get their own
	renewed Questions                         // questions that must not become fresh (again)
	owned   Questions                         // questions that have their own challenge
	own     [wire.NumQuestions]wire.Challenge // the challenges of owned

	repeated [2]wire.Challenge  // the most recent values that came more than once
	values   [32]wire.Challenge // the most recent distinct values
}

// of returns the challenge to send q with.
func (c *challenges) of(q wire.Question) wire.Challenge {
	switch {
	case c.fresh.Has(q) || q > questionVerify: // a list is verified without a challenge
		return wire.NoChallenge
	case c.owned.Has(q):
		return c.own[q]
	}
	return c.current
}

// without returns the questions of qs that are sent without a challenge.
func (c *challenges) without(qs Questions) (bare Questions) {
	for q := range each(qs) {
		if c.of(q) == wire.NoChallenge {
			bare |= 1 << q
		}
	}
	return bare
}

// note counts an 'A' and reports whether its value came before.
func (c *challenges) note(value wire.Challenge) (known bool) {
	n := min(int(c.seen), len(c.values))
	c.seen += b2u8(c.seen < math.MaxUint8)
	if slices.Contains(c.values[:n], value) {
		c.repeat(value)
		return true
	}
	c.values[c.oldest] = value
	c.oldest = (c.oldest + 1) % uint8(len(c.values))
	return false
}

// repeat records a value that came more than once.
func (c *challenges) repeat(value wire.Challenge) {
	if c.repeats > 0 && c.repeated[0] == value {
		return
	}
	c.repeated[0], c.repeated[1] = value, c.repeated[0]
	c.repeats = min(c.repeats+1, uint8(len(c.repeated)))
}

// echo counts an 'A' that repeats the challenge in use, in answer to a request that
// already bore it. After each request sent it counts at most one, so that late copies
// don't make the server look like one that answers with nothing but challenges.
func (c *challenges) echo(now time.Duration) {
	c.seenAt = now
	if !c.echoed {
		c.echoed = true
		c.same += b2u8(c.same < maxRounds)
	}
}

// replace makes value the challenge in use; it may be the reply to any of qs. It
// reports whether it is the first challenge.
func (c *challenges) replace(now time.Duration, value wire.Challenge, qs Questions) (first bool) {
	first = c.current == wire.NoChallenge
	c.current, c.origin, c.seenAt, c.get = value, qs, now, 0
	return first
}

// setOwn makes value the challenge of q alone.
func (c *challenges) setOwn(now time.Duration, q wire.Question, value wire.Challenge) {
	c.seenAt = now
	c.fresh &^= 1 << q
	c.own[q] = value
	c.owned |= 1 << q
}

// renew makes the session ask for a separate challenge for each of qs, one at a
// time.
func (c *challenges) renew(qs Questions) {
	c.single = true
	c.fresh |= qs
	c.renewed |= qs
}

// share returns to one challenge for all questions.
func (c *challenges) share() {
	c.single = false
	c.fresh = 0
	c.renewed = AskAll
}

// pin makes the value that came more than once (the last such value) the challenge in
// use, on the assumption that all others are forged.
func (c *challenges) pin() {
	c.pinned, c.single = true, false
	c.current, c.fresh, c.owned = c.repeated[0], 0, 0
}

// waited handles the end of a wait. If two values came more than once, one of them may
// be forged, and it may be the pinned one; so waited switches to the other.
func (c *challenges) waited() {
	c.get, c.returned = 0, false
	if c.pinned && c.repeats > 1 {
		c.repeated[0], c.repeated[1] = c.repeated[1], c.repeated[0]
		c.current = c.repeated[0]
	}
}

// challenge returns the challenge in use.
func (s *session) challenge() wire.Challenge {
	if s.got == nil {
		return wire.NoChallenge
	}
	return s.got.challenges.current
}

// forget drops the challenge that the target's label remembered.
func (s *session) forget() {
	if s.beside&besideKeyed == 0 {
		return
	}
	s.beside &^= besideKeyed
	if s.got != nil {
		s.got.challenges.current = wire.NoChallenge
	}
}

// challengeFor returns the challenge to send q with.
func (s *session) challengeFor(q wire.Question) wire.Challenge {
	if s.got == nil {
		return wire.NoChallenge
	}
	return s.got.challenges.of(q)
}

// requestFor returns the request to send for q, which may be GETCHALLENGE instead
// of q, or PLAYER instead of INFO.
func (s *session) requestFor(q wire.Question) wire.Question {
	if q >= questionVerify {
		return q - questionVerify
	}
	switch {
	case s.got != nil && s.got.challenges.get.Has(q):
		return wire.QuestionChallenge
	case s.beside&besideBlind != 0:
		return wire.QuestionPlayers
	}
	return q
}

// onChallenge handles an 'A'. A challenge round does not count as a retry.
//
// An 'A' in reply to a remembered challenge means that the server no longer accepts it.
func (s *session) onChallenge(now time.Duration, c wire.Challenge) verdict {
	s.came()
	s.forget()
	old := s.countChallenge(now, c)
	switch known := &s.got.challenges; {
	case s.pin():
		return used
	case s.agenda.open == 0 || known.pinned:
		return useless
	case known.single:
		return s.onOwnChallenge(now, c, old)
	case c == known.current:
		s.got.trips.again()
		known.echo(now)
		return useless
	case old:
		return s.onOldChallenge(now, c)
	}
	first := s.replaceChallenge(now, c)
	if s.flags&flagHeld != 0 && s.flying > 0 {
		return used
	}
	if s.countRound(s.agenda.silent()); !s.pin() {
		s.useChallenge(first)
	}
	return used
}

// onOldChallenge handles an 'A' with a value that came before and has been replaced
// since: one of the two values may be forged. A forger could send both in turn
// forever, so the session returns to an old value at most once in each wait. That does
// not count as a challenge round.
func (s *session) onOldChallenge(now time.Duration, c wire.Challenge) verdict {
	known, qs := &s.got.challenges, s.agenda.silent()
	if known.returned || qs == 0 || s.flags&flagLimited != 0 {
		return useless
	}
	known.returned = true
	s.replaceChallenge(now, c)
	s.resend(qs)
	return used
}

// replaceChallenge makes c the challenge in use and reports whether it is the first
// one. A server that wants a challenge for INFO sends no list without one, so a
// list that has already come may be forged and is asked for again.
func (s *session) replaceChallenge(now time.Duration, c wire.Challenge) (first bool) {
	s.quiet = 0
	qs := s.agenda.silent()
	if qs == lowest(qs) {
		s.got.hints.openly &^= qs // the fragments that came were those of this 'A'
	}
	first = s.got.challenges.replace(now, c, qs)
	switch {
	case !first:
		s.got.challenges.resent |= s.agenda.waiting
	case qs.Has(wire.QuestionInfo):
		s.agenda.open |= s.got.suspicion.takeBack()
	}
	return first
}

// useChallenge sends the open questions again with the new challenge: the first two
// challenges are used at once. Later ones, and those of a session that asks one
// question at a time, are used when no answer is outstanding. If the server limits
// queries, the questions are put off.
func (s *session) useChallenge(first bool) {
	switch {
	case s.agenda.open == 0:
	case s.flags&flagLimited != 0:
		s.agenda.postpone()
	case s.flags&(flagChanged|flagSerial) == 0:
		if !first {
			s.flags |= flagChanged
		}
		s.resend(s.agenda.open)
	default:
		s.flags |= flagSerial | flagHeld
		s.flags &^= flagBurst
	}
}

// onOwnChallenge handles an 'A' while each question has a challenge of its own. An 'A'
// does not name its question: it answers the only question that is waited for.
func (s *session) onOwnChallenge(now time.Duration, c wire.Challenge, old bool) verdict {
	known := &s.got.challenges
	qs := s.agenda.silent()
	if qs == 0 {
		return useless
	}
	q := wire.Question(bits.TrailingZeros8(uint8(qs)))
	asked := known.fresh.Has(q)
	switch {
	case asked && c == known.current:
		s.oneForAll(qs)
	case !asked && c == known.of(q):
		known.echo(known.seenAt)
		return useless
	case !asked && old && known.returned:
		return useless
	case !asked && old:
		known.returned = true
	case !asked:
		s.countRound(qs)
	default:
		s.got.hints.heard |= qs
	}
	known.setOwn(now, q, c)
	s.quiet = 0
	s.agenda.stopWaiting()
	s.agenda.due |= qs & s.agenda.open
	s.flags &^= flagRepeat
	return used
}

// oneForAll returns to one challenge for all questions. It is called when the server
// repeats a challenge that it seemed to ignore, so that its silence had another
// reason. challenged is the question that the challenge answers; the other open
// questions are asked again together.
func (s *session) oneForAll(challenged Questions) {
	s.got.challenges.share()
	if !s.serial() {
		s.agenda.ask(s.agenda.open &^ challenged)
	}
}

// countRound counts a challenge round for each of qs, and gives up those that have
// had too many.
func (s *session) countRound(qs Questions) {
	s.got.hints.heard |= qs
	for q := range each(qs) {
		if s.got.challenges.rounds[q]++; s.got.challenges.rounds[q] > maxRounds {
			s.agenda.giveUp(q, wire.ErrChallengeLoop)
		}
	}
}

// pin settles on one challenge if a question was given up because of too many
// challenges, and one value came more than once. Unanswered questions are asked again,
// together, and other challenges are ignored from then on. It reports whether it did
// so.
func (s *session) pin() bool {
	known := &s.got.challenges
	if known.repeats == 0 || known.pinned || !s.agenda.looped() {
		return false
	}
	known.pin()
	s.flags &^= flagHeld
	s.agenda.reopen()
	s.resend(s.agenda.open)
	return true
}

// resend makes qs due with the new challenge. For questions that were asked before
// this does not count as another attempt.
func (s *session) resend(qs Questions) {
	s.agenda.count(qs &^ (s.agenda.asked | s.agenda.due))
	s.agenda.due |= qs
	s.agenda.stopWaiting()
	s.flags |= flagBurst
	s.flags &^= flagRepeat
}
