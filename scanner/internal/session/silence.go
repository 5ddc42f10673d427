package session

import (
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// Tick is called when the wake-up time has passed: it repeats or gives up silent
// questions. base is how long the first attempt waits.
func (s *Session) Tick(p *Plan, now, base time.Duration) {
	silent, kept := s.silent(), s.kept(p, now, base)
	switch {
	case silent == 0:
		return
	case s.unpacking():
		s.wakeAt(now + packedWait)
		return
	case kept != 0:
		s.wakeAt(s.spentEnd(p, kept)) // unless something is sent before
		if silent &^= kept; silent == 0 {
			return
		}
	}
	silent = s.suspectLimit(silent) &^ kept
	s.stopWaiting()
	s.waiting |= kept
	s.forget() // some servers drop requests with an old challenge (EC-14)
	s.flags &^= flagHeld
	waits := p.Schedule.Attempts // silent ones in a row after which the server is given up
	if p.Second {
		waits = 1
	}
	if a := s.Got; a != nil {
		a.flying = 0
		known := &a.challenges
		known.get, known.returned = 0, false
		if known.pinned && known.repeats > 1 { // one of the two may be forged, perhaps the pinned one
			known.repeated[0], known.repeated[1] = known.repeated[1], known.repeated[0]
			known.current = known.repeated[0]
		}
		if a.heard&s.open != 0 {
			waits = p.Schedule.Attempts + extraAsks
		}
	}
	if s.quiet++; kept == 0 && !s.Is(flagAnswered) && int(s.quiet) >= waits {
		s.ignored(p)
		return
	}
	var again Questions
	for q := range Each(silent) {
		if int(s.attempts[q]) < s.maxAsks(p, q) {
			again |= 1 << q
		} else {
			s.giveUp(1<<q, s.reason(q))
		}
	}
	if s.Got != nil {
		s.getChallenge(p, again)
		s.renew(p, now, again)
	}
	if s.serial() || again == 0 {
		return
	}
	if s.Got != nil {
		again |= s.open &^ s.asked // no challenge, and a silent question: don't wait for it before asking the others
	}
	s.ask(again)
	s.flags |= flagRepeat
	if p.TryPlayers && s.Got == nil && !s.Is(flagInfoOnly) && int(s.attempts[wire.QuestionInfo]) >= p.Schedule.Attempts {
		s.flags |= flagBlind
	}
}

// suspectLimit takes an entirely unanswered burst as a sign that the server limits
// queries per second. It drops the suspicion if the server stays silent although it
// is asked slowly; then it returns all open questions as silent.
func (s *Session) suspectLimit(silent Questions) Questions {
	switch {
	case s.Is(flagBurst) && count(silent) > 1:
		s.flags |= flagSerial | flagLimited | flagSuspect
		s.Got.slow = 0
	case s.Is(flagSuspect):
		if s.Got.slow++; s.Got.slow == slowAsks {
			s.flags &^= flagSerial | flagLimited | flagSuspect
			silent = s.open
		}
	}
	s.flags &^= flagBurst
	return silent
}

// ignored handles the end of the last wait for a server that answered nothing. With
// the fallback, a server that sent nothing at all is then asked for PLAYER and ping.
// If there is a second pass, this happens there. Otherwise ignored gives up all open
// questions.
func (s *Session) ignored(p *Plan) {
	fallback := p.Fallback && (p.Second || !p.Schedule.SecondPass)
	if !fallback || s.Got != nil || s.Is(flagFallback) || !s.asked.Has(wire.QuestionInfo) {
		for q := range Each(s.open) {
			s.giveUp(1<<q, s.reason(q))
		}
		return
	}
	s.giveUp(Info, s.reason(wire.QuestionInfo))
	s.flags |= flagFallback | flagPing
	s.open |= Players
	s.ask(Players)
	s.due |= Ping
}

// reason returns the error to record for a question that is given up.
func (s *Session) reason(q wire.Question) wire.Error {
	switch {
	case s.err[q] != 0:
		return s.err[q]
	case s.Got != nil && s.Got.challenges.same >= maxRounds:
		return wire.ErrChallengeLoop
	}
	return wire.ErrTimeout
}

// getChallenge replaces the last attempt at a list question by GETCHALLENGE, if the
// question was sent without a challenge and nothing came in reply. It does so once per
// server, and only for a server that has sent something.
func (s *Session) getChallenge(p *Plan, again Questions) {
	qs := Lowest(again &^ Info & s.bare)
	if qs == 0 || s.Is(flagGet) || s.challenge() != wire.NoChallenge {
		return
	}
	if q := first(qs); int(s.attempts[q])+1 == s.maxAsks(p, q) && s.err[q] == 0 {
		s.flags |= flagGet
		s.Got.challenges.get = qs
	}
}

// renew makes the session ask without a challenge, one at a time, for those of qs, all
// about to be repeated, that should get a challenge of their own. These are questions
// before their last attempt, if nothing came in reply to a challenge that is old or was
// obtained for another question. Some servers have a challenge per question, or forget
// old challenges, and silently drop requests with a wrong challenge.
func (s *Session) renew(p *Plan, now time.Duration, qs Questions) {
	known := &s.Got.challenges
	if known.current == wire.NoChallenge {
		return
	}
	old := now-known.seenAt >= freshFor
	for q := range Each(qs &^ (known.renewed | s.bare)) {
		last := int(s.attempts[q])+1 == s.maxAsks(p, q)
		foreign := !known.owned.Has(q) && known.origin != 1<<q
		if last && (foreign || old) && s.err[q] == 0 && !s.rarelyAnswered(q) {
			known.single = true
			known.fresh |= 1 << q
			known.renewed |= 1 << q
		}
	}
}

// rarelyAnswered reports whether q is hardly ever answered: RULES of app 730
// (EC-99).
func (s *Session) rarelyAnswered(q wire.Question) bool {
	return q == wire.QuestionRules && s.Is(flagCSGO)
}

// maxAsks returns the maximum number of attempts at q, not counting challenge rounds.
func (s *Session) maxAsks(p *Plan, q wire.Question) int {
	n := p.Schedule.Attempts
	if s.rarelyAnswered(q) {
		most := csgoAsks
		for other := range Each(All &^ (1 << q)) {
			if s.attempts[other] > 1 { // the path may lose datagrams
				most = csgoAsks + 1
			}
		}
		return min(n, most)
	}
	if s.Got != nil && s.Got.heard.Has(q) {
		n += extraAsks
	}
	return n
}

// timeout returns how long to wait after the last request: as long as the schedule
// says, or as learned, but at least two round trips of this server, up to maxRTTWait.
// If the server limits queries, it is at least SerialGap. base is how long the first
// attempt waits.
func (s *Session) timeout(p *Plan, base time.Duration) time.Duration {
	_, n := s.most(All)
	d := p.Schedule.wait(n)
	switch {
	case p.Second:
		d = p.Schedule.Longest()
	case base < p.Schedule.Timeout && n > 0:
		d = s.learnt(p, base, n)
	}
	if a := s.Got; a != nil {
		d = max(d, min(max(2*a.RTT, a.late*5/4), maxRTTWait))
	}
	if s.Is(flagLimited) {
		d = max(d, SerialGap)
	}
	return d
}

// learnt returns how long to wait after attempt n in a scan that learned to wait only
// base for the first attempt. If the target can't be listened for later, the wait after
// the last attempt ends when it would end in the fixed schedule.
func (s *Session) learnt(p *Plan, base time.Duration, n int) time.Duration {
	after := s.LastAt() - s.FirstAt
	switch {
	case s.Is(flagFallback):
		return p.Schedule.sum(p.Schedule.Attempts) + p.Schedule.Timeout - after
	case s.Got == nil && n >= p.Schedule.Attempts && p.Schedule.SecondPass:
		return p.Schedule.sum(n) - after
	case s.Got == nil:
		return p.Schedule.learnt(base, after, n, p.Schedule.Attempts)
	}
	spent := s.spent(p)
	if spent == s.silent() {
		return max(base, s.spentEnd(p, spent)-s.LastAt())
	}
	q, n := s.most(^spent)
	after = s.LastAt() - s.at(s.Got.askedUS[q])
	return p.Schedule.learnt(base, after, n, s.maxAsks(p, q))
}

// spent returns the silent questions that have had all their attempts.
func (s *Session) spent(p *Plan) (qs Questions) {
	for q := range Each(s.silent()) {
		if int(s.attempts[q]) >= s.maxAsks(p, q) {
			qs |= 1 << q
		}
	}
	return qs
}

// spentEnd returns the time at which the fixed schedule gives up the last of qs, or an
// earlier time at the end of a scan.
func (s *Session) spentEnd(p *Plan, qs Questions) (end time.Duration) {
	for q := range Each(qs) {
		until := s.at(s.Got.askedUS[q]) + p.Schedule.sum(s.maxAsks(p, q))
		if p.Last.Heard > 0 {
			until = min(until, s.SentAt(q)+p.Last.Heard)
		}
		end = max(end, until)
	}
	return end
}

// kept returns the questions that have had all their attempts and are still waited
// for, because the fixed schedule would wait for them.
func (s *Session) kept(p *Plan, now, base time.Duration) (qs Questions) {
	if s.Got == nil || p.Second || base >= p.Schedule.Timeout {
		return 0
	}
	for q := range Each(s.spent(p)) {
		if now < s.spentEnd(p, 1<<q) {
			qs |= 1 << q
		}
	}
	return qs
}

// Retime sets the end of the wait for an answer again, from the current timeouts. It
// reports whether a wait goes on.
func (s *Session) Retime(p *Plan, base time.Duration) bool {
	if s.silent() != 0 && s.due == 0 && !s.unpacking() {
		s.wakeAt(s.LastAt() + s.timeout(p, base))
	}
	return s.wakeMS != 0
}

// GivenUpEarly reports whether the server stayed silent and may be listened for later:
// it was sent nothing but its first question.
func (s *Session) GivenUpEarly(p *Plan) bool {
	const asked = flagPing | flagGet | flagFallback | flagStranger | flagKeyed
	return s.StayedSilent(p) && !s.Is(asked)
}

// StayedSilent reports whether nothing came from the server, and nothing but time ended
// the session.
func (s *Session) StayedSilent(p *Plan) bool {
	qs := Lowest(p.Questions & All)
	return s.Got == nil && qs != 0 && s.err[first(qs)] == wire.ErrTimeout
}
