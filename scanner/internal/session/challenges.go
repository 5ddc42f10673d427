package session

import (
	"math"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// challenges holds the challenges of a server: the challenge in use, the challenges of
// single questions, and the most recent challenges.
type challenges struct {
	current wire.Challenge // the challenge in use; NoChallenge if none came yet
	origin  wire.Questions // questions whose requests may have brought the challenge in use
	echoed  bool           // the challenge in use came again after the last request
	// same counts the requests that contained the challenge in use and got it again in
	// reply.
	same uint8
	// with counts the requests that contained the challenge in use. without counts those
	// that did not, and whose challenge replies have not come yet.
	with, without uint8
	// resent has the questions that were sent with several challenges, or again after an
	// outage. It is unknown to which of the requests an answer belongs.
	resent wire.Questions
	seenAt time.Duration // when the challenge in use, or one of a single question, last came

	rounds   [wire.NumQuestions]uint8 // how many challenges came in answer to each question
	seen     uint8                    // how many challenges came, at most 255
	oldest   uint8                    // index in values of the oldest challenge
	returned bool                     // since the last wait, the session returned to an older challenge

	get wire.Questions // questions for which GETCHALLENGE is sent in place of the request
	// getFirst means that servers of this game give a challenge for PLAYER and RULES only
	// in reply to GETCHALLENGE.
	getFirst bool

	fresh   wire.Questions                    // questions to send without a challenge, so that the server sends a challenge for each
	renewed wire.Questions                    // questions that must not be added to fresh
	owned   wire.Questions                    // questions that have their own challenge
	own     [wire.NumQuestions]wire.Challenge // the challenges of the questions in owned

	values [32]wire.Challenge // the most recent distinct values
}

func (c *challenges) of(q wire.Question) wire.Challenge {
	switch {
	case c.fresh.Has(q):
		return wire.NoChallenge
	case c.owned.Has(q):
		return c.own[q]
	}
	return c.current
}

// sent counts a request for q.
func (c *challenges) sent(q wire.Question) {
	c.echoed = false
	switch c.of(q) {
	case c.current:
		c.with += b2u8(c.with < math.MaxUint8)
	case wire.NoChallenge:
		c.without += b2u8(c.without < math.MaxUint8)
	}
}

// echo counts a challenge reply that contains the challenge in use. Late replies must not
// make the server look as if it answered only with challenges, so echo ignores as many
// replies as there were requests without it, and counts at most one for each request.
func (c *challenges) echo() {
	switch {
	case c.without > 0:
		c.without--
	case !c.echoed:
		c.echoed = true
		c.same += b2u8(c.same < maxRounds)
	}
}

// Challenge returns the challenge that the server gave or accepted last, or
// NoChallenge.
func (a *Answer) Challenge() wire.Challenge { return a.challenges.of(wire.QuestionInfo) }

// InfoRounds returns how many challenges came in answer to INFO.
func (a *Answer) InfoRounds() int { return int(a.challenges.rounds[wire.QuestionInfo]) }

// note counts a challenge reply, and reports whether its challenge had come before.
func (c *challenges) note(v wire.Challenge) (known bool) {
	known = slices.Contains(c.values[:min(int(c.seen), len(c.values))], v)
	c.seen += b2u8(c.seen < math.MaxUint8)
	if !known {
		c.values[c.oldest] = v
		c.oldest = (c.oldest + 1) % uint8(len(c.values))
	}
	return known
}

// forget drops the challenge of an earlier scan, so that it is not sent again.
func (s *Session) forget() {
	if s.Flags.Has(flagKeyed) && s.Got != nil {
		s.Got.challenges.current = wire.NoChallenge
	}
	s.Flags &^= flagKeyed
}

// challenged handles a challenge reply. A challenge round does not count as a retry. If
// the request contained the challenge of an earlier scan, the server no longer accepts
// that challenge.
func (s *Session) challenged(now time.Duration, c wire.Challenge) Class {
	s.came()
	s.forget()
	known, qs := &s.Got.challenges, s.Agenda.Silent()
	old := known.note(c)
	switch {
	case s.Agenda.Open == 0:
		return Duplicate
	case s.Flags.Has(flagSingle):
		return s.ownChallenge(now, c, old)
	case c == known.current:
		s.Got.Doubled = s.Got.Unsure
		known.seenAt = now
		known.echo()
		return Duplicate
	case old:
		// c was in use before, and was replaced. A server could alternate between two
		// challenges forever, so the session returns to an old challenge at most once in
		// each wait. The return does not count as a challenge round.
		if known.returned || qs == 0 || s.Flags.Has(Limited) {
			return Duplicate
		}
		known.returned = true
		s.replaceChallenge(now, c)
		s.resend(qs)
		return Matched
	}
	newest := s.replaceChallenge(now, c)
	if s.Flags.Has(flagHeld) && s.Got.flying > 0 {
		return Matched
	}
	s.countRound(s.Agenda.Silent())
	if s.Agenda.Open == 0 {
		return Matched
	}
	// The first two challenges are used at once. Later challenges, and all challenges of a
	// session that asks one question at a time, are used when no answer is outstanding.
	switch {
	case s.Flags.Has(Limited):
		// Asking these questions again does not count as a retry.
		for q := range ((s.Agenda.Waiting | s.Agenda.due) & s.Agenda.Open).Each() {
			s.Agenda.Attempts[q] -= b2u8(s.Agenda.Attempts[q] > 0)
		}
		s.Agenda.hold()
	case s.Flags.Has(flagChanged | flagSerial):
		s.Flags |= flagSerial | flagHeld
		s.Flags &^= flagBurst
	default:
		if !newest {
			s.Flags |= flagChanged
		}
		s.resend(s.Agenda.Open)
	}
	return Matched
}

// replaceChallenge makes c the challenge in use, and reports whether it is the first
// challenge. A server that requires a challenge for INFO sends no list without a
// challenge, so a list that came before its question is not trusted: the question
// becomes open again.
func (s *Session) replaceChallenge(now time.Duration, c wire.Challenge) (first bool) {
	known, qs := &s.Got.challenges, s.Agenda.Silent()
	s.quiet = 0
	if qs == qs.Lowest() {
		s.Got.openly &^= qs // the earlier fragments were part of this challenge reply
	}
	first = known.current == wire.NoChallenge
	known.current, known.origin, known.seenAt, known.get = c, qs, now, 0
	all := int(known.with) + int(known.without)
	known.with, known.without = 0, uint8(min(max(all-1, 0), math.MaxUint8)) // c came in reply to one of them
	switch {
	case !first:
		known.resent |= s.Agenda.Waiting
	case qs.Has(wire.QuestionInfo):
		lists := s.Got.unasked &^ wire.AskInfo
		s.Got.unasked, s.Got.unchallenged = s.Got.unasked&^lists, s.Got.unchallenged&^lists
		s.Agenda.Open |= lists
	}
	return first
}

// ownChallenge handles a challenge reply while each question has a challenge of its own.
// The session then waits for only one question, to which the reply belongs. If the server
// now sends the challenge that it seemed to ignore, it was silent for another reason, and
// the session uses one challenge for all questions again.
func (s *Session) ownChallenge(now time.Duration, c wire.Challenge, old bool) Class {
	known, qs := &s.Got.challenges, s.Agenda.Silent()
	if qs == 0 {
		return Duplicate
	}
	q := qs.First()
	asked := known.fresh.Has(q)
	switch {
	case asked && c == known.current:
		known.fresh, known.renewed = 0, wire.AskAll
		if s.Flags &^= flagSingle; !s.Flags.Has(flagSerial) {
			s.ask(s.Agenda.Open &^ qs)
		}
	case !asked && c == known.of(q):
		known.echo()
		return Duplicate
	case !asked && old && known.returned:
		return Duplicate
	case !asked && old:
		known.returned = true
	case !asked:
		s.countRound(qs)
	default:
		s.Got.heard |= qs
	}
	known.seenAt = now
	known.fresh &^= 1 << q
	known.own[q] = c
	known.owned |= 1 << q
	s.quiet = 0
	s.Agenda.stopWaiting()
	s.Agenda.due |= qs & s.Agenda.Open
	s.Flags &^= Repeat
	return Matched
}

// countRound counts a challenge round for each of qs, and gives up the questions that
// have had too many rounds.
func (s *Session) countRound(qs wire.Questions) {
	rounds := &s.Got.challenges.rounds
	s.Got.heard |= qs
	for q := range qs.Each() {
		if rounds[q]++; rounds[q] > maxRounds {
			s.Agenda.giveUp(1<<q, wire.ErrChallengeLoop)
		}
	}
}
