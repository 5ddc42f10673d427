package scanner

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// challenges are what a server's challenges are like: the one in use, those of
// single questions, and what came so far.
type challenges struct {
	current wire.Challenge // in use; NoChallenge: none yet
	origin  Questions      // those that it may have been the reply to
	seenAt  time.Duration  // when it, or one of a question's own, came last
	echoed  bool           // it came since the last datagram sent
	same    uint8          // sendings that were answered by it
	resent  Questions      // sent with several challenges: which one is answered can't be told

	rounds [wire.NumQuestions]uint8 // challenges in answer to each

	seen     uint8              // how many came
	values   [32]wire.Challenge // the last different ones
	oldest   uint8              // in values
	repeated [2]wire.Challenge  // the last ones that came more than once
	repeats  uint8              // how many of these there are
	pinned   bool               // no others are used any more
	returned bool               // an older one took the place of the current one since the last wait

	get      Questions // to be asked by GETCHALLENGE
	getFirst bool      // the game is one whose servers want that

	single  bool                              // each question has a challenge of its own: see own
	fresh   Questions                         // to be sent without a challenge, to get one of their own
	renewed Questions                         // that was tried, or is of no use
	owned   Questions                         // those with a challenge of their own
	own     [wire.NumQuestions]wire.Challenge // theirs
}

// of returns the challenge to send q with.
func (c *challenges) of(q wire.Question) wire.Challenge {
	switch {
	case c.fresh.Has(q) || q > questionVerify: // a list that is asked once more
		return wire.NoChallenge
	case c.owned.Has(q):
		return c.own[q]
	}
	return c.current
}

// without returns those of qs that are sent without a challenge.
func (c *challenges) without(qs Questions) (bare Questions) {
	for q := range each(qs) {
		if c.of(q) == wire.NoChallenge {
			bare |= 1 << q
		}
	}
	return bare
}

// note counts an 'A', and reports whether its value came before.
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

// repeat notes a value that came more than once.
func (c *challenges) repeat(value wire.Challenge) {
	if c.repeats > 0 && c.repeated[0] == value {
		return
	}
	c.repeated[0], c.repeated[1] = value, c.repeated[0]
	c.repeats = min(c.repeats+1, uint8(len(c.repeated)))
}

// echo counts the challenge in use when it comes as the answer to a request
// that bore it: once for all that was sent together, so that late copies of it
// don't look like a server that knows nothing else.
func (c *challenges) echo(now time.Duration) {
	c.seenAt = now
	if !c.echoed {
		c.echoed = true
		c.same += b2u8(c.same < maxRounds)
	}
}

// replace takes value for the challenge in use, which may be the reply to one of
// qs. It reports whether it is the first one.
func (c *challenges) replace(now time.Duration, value wire.Challenge, qs Questions) (first bool) {
	first = c.current == wire.NoChallenge
	c.current, c.origin, c.seenAt, c.get = value, qs, now, 0
	return first
}

// setOwn takes value for the challenge of q alone.
func (c *challenges) setOwn(now time.Duration, q wire.Question, value wire.Challenge) {
	c.seenAt = now
	c.fresh &^= 1 << q
	c.own[q] = value
	c.owned |= 1 << q
}

// renew has each of qs asked for a challenge of its own, one at a time.
func (c *challenges) renew(qs Questions) {
	c.single = true
	c.fresh |= qs
	c.renewed |= qs
}

// share takes back that each question has a challenge of its own.
func (c *challenges) share() {
	c.single = false
	c.fresh = 0
	c.renewed = AskAll
}

// pin takes the value that came more than once for the server's own, and all
// others for forged ones.
func (c *challenges) pin() {
	c.pinned, c.single = true, false
	c.current, c.fresh, c.owned = c.repeated[0], 0, 0
}

// waited takes the end of a wait. If a forged challenge came more than once, the
// pinned one may be the wrong one of two.
func (c *challenges) waited() {
	c.get, c.returned = 0, false
	if c.pinned && c.repeats > 1 {
		c.repeated[0], c.repeated[1] = c.repeated[1], c.repeated[0]
		c.current = c.repeated[0]
	}
}

// challenge is the one in use.
func (s *session) challenge() wire.Challenge {
	if s.got == nil {
		return wire.NoChallenge
	}
	return s.got.challenges.current
}

// challengeFor is the one to send q with.
func (s *session) challengeFor(q wire.Question) wire.Challenge {
	if s.got == nil {
		return wire.NoChallenge
	}
	return s.got.challenges.of(q)
}

// requestFor is the request to send for q: GETCHALLENGE may stand in for it.
func (s *session) requestFor(q wire.Question) wire.Question {
	if q >= questionVerify {
		return q - questionVerify
	}
	if s.got != nil && s.got.challenges.get.Has(q) {
		return wire.QuestionChallenge
	}
	return q
}

// onChallenge takes an 'A'. A challenge round is no retry.
func (s *session) onChallenge(now time.Duration, c wire.Challenge) verdict {
	s.came()
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

// onOldChallenge takes an 'A' that came before, and that another one replaced: one
// of the two may be forged. A forger can send both in turn for ever, so they may
// change places once in each wait. That is no challenge round.
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

// replaceChallenge takes c for the challenge in use. It reports whether it is the
// first one. A server that wants a challenge for INFO sends no list before it, so a
// list that came is asked for all the same.
func (s *session) replaceChallenge(now time.Duration, c wire.Challenge) (first bool) {
	s.quiet = 0
	qs := s.agenda.silent()
	if qs == lowest(qs) {
		s.got.hints.openly &^= qs // the fragments were this challenge
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

// useChallenge has what is open sent with the challenge that came.
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

// onOwnChallenge takes an 'A' where each question has a challenge of its own.
// An 'A' names no question: it answers the only one that is waited for.
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

// oneForAll takes the news that the server's challenge is the one that was
// dropped in silence: the silence has another reason. What is open is asked
// together again.
func (s *session) oneForAll(challenged Questions) {
	s.got.challenges.share()
	if !s.serial() {
		s.agenda.ask(s.agenda.open &^ challenged)
	}
}

// countRound counts a challenge for each of qs and gives up those that were
// challenged too often.
func (s *session) countRound(qs Questions) {
	s.got.hints.heard |= qs
	for q := range each(qs) {
		if s.got.challenges.rounds[q]++; s.got.challenges.rounds[q] > maxRounds {
			s.agenda.giveUp(q, wire.ErrChallengeLoop)
		}
	}
}

// pin settles for one challenge where a question was given up for too many of
// them and one of them came more than once. What has no answer is asked again,
// together, and no other challenge is used any more.
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

// resend makes qs due with the challenge that came: those that were asked
// before are not counted as asked again.
func (s *session) resend(qs Questions) {
	s.agenda.count(qs &^ (s.agenda.asked | s.agenda.due))
	s.agenda.due |= qs
	s.agenda.stopWaiting()
	s.flags |= flagBurst
	s.flags &^= flagRepeat
}
