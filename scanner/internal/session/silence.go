package session

import (
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// Tick is called when the wake-up time has passed: it repeats silent questions or gives
// them up.
func (s *Session) Tick(p *Plan, now time.Duration) {
	silent, awaited := s.Agenda.Silent(), p.awaited(s, now)
	switch {
	case silent == 0:
		return
	case s.Got != nil && s.Got.packed > 0:
		s.Clock.wakeAt(now + packedWait)
		return
	case awaited != 0:
		s.Clock.wakeAt(p.spentEnd(s, awaited)) // unless something is sent before that time
		if silent &^= awaited; silent == 0 {
			if s.Got == nil {
				s.Flags |= Listening
			}
			return
		}
	}
	silent = s.suspectLimit(silent) &^ awaited
	s.Agenda.stopWaiting()
	s.Agenda.Waiting |= awaited
	s.forget() // some servers drop requests with an old challenge (EC-14)
	s.Flags &^= flagHeld
	attempts := p.Schedule.Attempts // maximum number of consecutive waits without a reply
	if p.Second {
		attempts = 1
	}
	if a := s.Got; a != nil {
		a.flying = 0
		known := &a.challenges
		known.get, known.returned = 0, false
		if a.heard&s.Agenda.Open != 0 {
			attempts = p.Schedule.Attempts + extraAttempts
		}
	}
	if s.quiet++; awaited == 0 && !s.Flags.Has(flagAnswered) && int(s.quiet) >= attempts {
		s.ignored(p)
		return
	}
	var again wire.Questions
	for q := range silent.Each() {
		if int(s.Agenda.Attempts[q]) < p.maxAttempts(s, q) {
			again |= 1 << q
		} else {
			s.Agenda.giveUp(1<<q, s.reason(q))
		}
	}
	if s.Got != nil {
		s.getChallenge(p, again)
		s.renew(p, now, again)
	}
	if s.Flags.Has(flagSerial|flagSingle) || again == 0 {
		return
	}
	if s.Got != nil {
		// Without a challenge, questions are asked one after the other. A silent question
		// must not hold up the others.
		again |= s.Agenda.Open &^ s.Agenda.Asked
	}
	s.ask(again)
	s.Flags |= Repeat
	if p.TryPlayers && s.Got == nil && !s.Flags.Has(flagInfoOnly) && int(s.Agenda.Attempts[wire.QuestionInfo]) >= p.Schedule.Attempts {
		s.Flags |= flagBlind
	}
}

// If the server answered no question of a burst, suspectLimit assumes that it limits
// queries per second. If the server stays silent although the requests are sent slowly,
// suspectLimit drops the suspicion and returns all open questions as silent.
func (s *Session) suspectLimit(silent wire.Questions) wire.Questions {
	switch {
	case s.Flags.Has(flagBurst) && count(silent) > 1:
		s.Flags |= flagSerial | Limited | flagSuspect
		s.Got.slow = 0
	case s.Flags.Has(flagSuspect):
		if s.Got.slow++; s.Got.slow == slowAttempts {
			s.Flags &^= flagSerial | Limited | flagSuspect
			silent = s.Agenda.Open
		}
	}
	s.Flags &^= flagBurst
	return silent
}

// ignored is called when the last wait is over and the server has answered no question.
// If p.fallsBack returns true, it asks the server for PLAYER and ping. Otherwise it gives
// up all open questions.
func (s *Session) ignored(p *Plan) {
	if !p.fallsBack(s) {
		for q := range s.Agenda.Open.Each() {
			s.Agenda.giveUp(1<<q, s.reason(q))
		}
		return
	}
	s.Agenda.giveUp(wire.AskInfo, s.reason(wire.QuestionInfo))
	s.Flags |= flagFallback | flagPing
	s.Agenda.Open |= wire.AskPlayers
	s.ask(wire.AskPlayers)
	s.Agenda.due |= wire.AskPing
}

// fallsBack reports whether a server that has sent nothing must still be asked for PLAYER
// and ping. If there is a second pass, this happens in the second pass.
func (p *Plan) fallsBack(s *Session) bool {
	return p.Fallback && (p.Second || !p.Schedule.SecondPass) &&
		s.Got == nil && !s.Flags.Has(flagFallback) && s.Agenda.Asked.Has(wire.QuestionInfo)
}

func (s *Session) reason(q wire.Question) wire.Error {
	switch {
	case s.Agenda.Err[q] != 0:
		return s.Agenda.Err[q]
	case s.Agenda.Asked == 0, s.Agenda.Attempts[q] > 0 && !s.Agenda.Asked.Has(q):
		return wire.ErrSendFailed
	case s.Got != nil && s.Got.challenges.same >= maxRounds:
		return wire.ErrChallengeLoop
	case s.Flags&(flagRefused|flagRetried) == flagRefused: // so ICMP answered the last datagram
		return wire.ErrUnreachable
	}
	return wire.ErrTimeout
}

// getChallenge replaces the last attempt at PLAYER or RULES with GETCHALLENGE, if the
// question was sent without a challenge and nothing came in reply. It does so at most once
// per server.
func (s *Session) getChallenge(p *Plan, again wire.Questions) {
	qs := (again &^ wire.AskInfo & s.Agenda.bare).Lowest()
	if qs == 0 || s.Flags.Has(flagGet) || s.Got.challenges.current != wire.NoChallenge {
		return
	}
	if q := qs.First(); int(s.Agenda.Attempts[q])+1 == p.maxAttempts(s, q) && s.Agenda.Err[q] == 0 {
		s.Flags |= flagGet
		s.Got.challenges.get = qs
	}
}

// renew is called with the questions that are about to be repeated. Some servers have a
// challenge per question, or forget old challenges, and silently drop requests with a
// wrong one. So the questions with one attempt left whose challenge is old, or was obtained
// for another question, are asked one at a time, without a challenge.
func (s *Session) renew(p *Plan, now time.Duration, qs wire.Questions) {
	known := &s.Got.challenges
	if known.current == wire.NoChallenge {
		return
	}
	old := now-known.seenAt >= freshFor
	for q := range (qs &^ (known.renewed | s.Agenda.bare)).Each() {
		last := int(s.Agenda.Attempts[q])+1 == p.maxAttempts(s, q)
		foreign := !known.owned.Has(q) && known.origin != 1<<q
		if last && (foreign || old) && s.Agenda.Err[q] == 0 && !s.rarelyAnswered(q) {
			s.Flags |= flagSingle
			known.fresh |= 1 << q
			known.renewed |= 1 << q
		}
	}
}

// rarelyAnswered reports whether q is RULES of app 730, which is hardly ever answered
// (EC-99).
func (s *Session) rarelyAnswered(q wire.Question) bool {
	return q == wire.QuestionRules && s.Flags.Has(flagCSGO)
}

// maxAttempts returns the maximum number of attempts at q, not counting challenge rounds.
func (p *Plan) maxAttempts(s *Session, q wire.Question) int {
	n := p.Schedule.Attempts
	if s.rarelyAnswered(q) {
		most := csgoAttempts
		for other := range (wire.AskAll &^ (1 << q)).Each() {
			if s.Agenda.Attempts[other] > 1 { // the path may lose datagrams
				most = csgoAttempts + 1
			}
		}
		return min(n, most)
	}
	if s.Got != nil && s.Got.heard.Has(q) {
		n += extraAttempts
	}
	return n
}

// timeout returns how long to wait after the last request. The wait is at least as long
// as the schedule says, and at least SerialGap if the server limits queries. A slow server
// extends the wait to two round trips or 5/4 of Answer.Late, whichever is longer, but to
// at most maxRTTWait.
func (p *Plan) timeout(s *Session) time.Duration {
	_, n := s.Agenda.most(wire.AskAll)
	d := p.Schedule.Wait(n)
	switch {
	case p.Second:
		d = p.Schedule.Longest()
	case p.Schedule.Early() && n > 0:
		d = p.early(s)
	}
	if a := s.Got; a != nil {
		d = max(d, min(max(2*a.RTT, a.Late*5/4), maxRTTWait))
	}
	if s.Flags.Has(Limited) {
		d = max(d, SerialGap)
	}
	return d
}

// early returns how long to wait after the last request if p.Schedule.Early is true.
func (p *Plan) early(s *Session) time.Duration {
	if s.Flags.Has(flagFallback) {
		return s.Clock.FirstAt + p.Schedule.Sum(p.Schedule.Attempts) + p.Schedule.Timeout - s.Clock.LastAt()
	}
	spent := p.spent(s)
	switch {
	case spent != s.Agenda.Silent():
		q, n := s.Agenda.most(^spent)
		return p.Schedule.EarlyWait(s.Clock.LastAt()-s.askedAt(q), n, p.maxAttempts(s, q))
	case s.Got == nil && !s.Flags.Has(Listening):
		return p.Schedule.First()
	}
	return max(p.Schedule.First(), p.spentEnd(s, spent)-s.Clock.LastAt())
}

// spent returns the silent questions that have had all their attempts.
func (p *Plan) spent(s *Session) (qs wire.Questions) {
	for q := range s.Agenda.Silent().Each() {
		if int(s.Agenda.Attempts[q]) >= p.maxAttempts(s, q) {
			qs |= 1 << q
		}
	}
	return qs
}

// spentEnd returns the time at which the session gives up the last of the questions qs.
// This time follows from the fixed schedule, or comes earlier at the end of a scan (see
// LastWaits).
func (p *Plan) spentEnd(s *Session, qs wire.Questions) (end time.Duration) {
	for q := range qs.Each() {
		until := s.askedAt(q) + p.Schedule.Sum(p.maxAttempts(s, q))
		switch {
		case s.Got != nil && p.Last.Heard > 0:
			until = min(until, s.SentAt(q)+p.Last.Heard)
		case s.Got == nil && p.Last.Silent > 0:
			until = min(until, s.Clock.LastAt()+p.Last.Silent)
		}
		end = max(end, until)
	}
	return end
}

// awaited returns the questions that have had all their attempts and may still be
// answered, because the attempts were made earlier than the fixed schedule says.
func (p *Plan) awaited(s *Session, now time.Duration) (qs wire.Questions) {
	if p.Second || !p.Schedule.Early() || p.fallsBack(s) {
		return 0
	}
	for q := range p.spent(s).Each() {
		if now < p.spentEnd(s, 1<<q) {
			qs |= 1 << q
		}
	}
	return qs
}

// Retime computes the end of the wait for an answer anew, from the current schedule. It
// reports whether the session has a wake-up time.
func (p *Plan) Retime(s *Session) bool {
	if s.Agenda.Silent() != 0 && s.Agenda.due == 0 && (s.Got == nil || s.Got.packed == 0) {
		s.Clock.wakeAt(s.Clock.LastAt() + p.timeout(s))
	}
	return s.Clock.wakeMS != 0
}

// StayedSilent reports whether nothing came from the server, and the session ended only
// because the time for an answer was over.
func (p *Plan) StayedSilent(s *Session) bool {
	qs := (p.Questions & wire.AskAll).Lowest()
	return s.Got == nil && qs != 0 && s.Agenda.Err[qs.First()] == wire.ErrTimeout
}
