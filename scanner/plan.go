package scanner

import (
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// plan is what is the same for every conversation of a scan.
type plan struct {
	questions Questions // ping may be one of them
	schedule  Schedule
	once      bool // the second pass: a server that answers nothing is asked once

	fallback     bool // a server that ignores INFO is asked for PLAYER and ping once each
	lateFallback bool // the same for the second pass
	trailingNUL  bool // every request but INFO has one more NUL
}

func newPlan(cfg *Config) plan {
	return plan{
		questions: cfg.Questions, schedule: cfg.schedule(), trailingNUL: cfg.TrailingNUL,
		lateFallback: cfg.Fallback, fallback: cfg.Fallback && !cfg.SecondPass,
	}
}

// beginSecondPass changes the plan for the targets that stayed silent.
func (p *plan) beginSecondPass() {
	p.once = true
	p.fallback = p.lateFallback
}

// appendRequest appends a request, with one more NUL where that is wanted.
func (p *plan) appendRequest(dst []byte, q wire.Question, c wire.Challenge) []byte {
	dst = wire.AppendRequest(dst, q, c)
	if p.trailingNUL && q != wire.QuestionInfo {
		dst = append(dst, 0)
	}
	return dst
}

// renewable returns those of qs, which are about to be repeated, that are to be
// sent without a challenge: it is their last repetition, and nothing came of
// them with a challenge that another question got, or with an old one. Some
// servers have a challenge per question, or forget it, and drop a wrong one in
// silence.
func (s *session) renewable(p *plan, now time.Duration, qs Questions) (renew Questions) {
	a := s.got
	if s.challenge() == wire.NoChallenge {
		return 0
	}
	old := now-a.seenAt >= freshFor
	for q := range each(qs &^ (a.renewed | s.bare)) {
		last := int(s.attempts[q])+1 == s.maxAsks(p, q)
		foreign := !a.owned.Has(q) && a.origin != 1<<q
		if last && (foreign || old) && s.err[q] == 0 && !s.rarelyAnswered(q) {
			renew |= 1 << q
		}
	}
	return renew
}

// rarelyAnswered reports whether q is mostly never answered: RULES of app 730
// (EC-99).
func (s *session) rarelyAnswered(q wire.Question) bool {
	return q == wire.QuestionRules && s.flags&flagCSGO != 0
}

// tick is called when wake has passed: what is silent is repeated or given up.
func (s *session) tick(p *plan, now time.Duration) {
	silent := s.waiting & s.open
	switch {
	case silent == 0:
		return
	case s.unpacking():
		s.wakeAt(now + packedWait)
		return
	}
	silent = s.suspectLimit(silent)
	s.waiting &= aside
	s.flying = 0
	s.flags &^= flagHeld
	if s.got != nil {
		s.got.get = 0
	}
	if s.quiet++; s.flags&flagAnswered == 0 && int(s.quiet) >= s.patienceAsks(p) {
		s.ignored(p)
		return
	}
	again := s.silenced(p, silent)
	s.getChallenge(p, again)
	if renew := s.renewable(p, now, again); renew != 0 {
		s.renew(renew)
	}
	if s.serial() || again == 0 {
		return
	}
	if s.got != nil {
		again |= s.open &^ s.asked // no challenge and a silent question: don't wait for it
	}
	s.ask(again)
	s.flags |= flagRepeat
}

// ignored takes the end of the last wait for a server that answered nothing. With
// the fallback, one of which nothing came at all is asked for PLAYER and ping.
func (s *session) ignored(p *plan) {
	if !p.fallback || s.got != nil || s.beside&besideFallback != 0 || !s.asked.Has(wire.QuestionInfo) {
		s.closeAll()
		return
	}
	s.giveUp(wire.QuestionInfo, s.silence(wire.QuestionInfo))
	s.beside |= besideFallback | besidePing
	s.open |= AskPlayers
	s.ask(AskPlayers)
	s.due |= AskPing
}

// getChallenge has the last repetition of a list that was silent without a
// challenge replaced by a request for one, once for each server that was heard.
func (s *session) getChallenge(p *plan, again Questions) {
	q := lowest(again &^ AskInfo & s.bare)
	if q == 0 || s.got == nil || s.beside&besideGet != 0 || s.challenge() != wire.NoChallenge {
		return
	}
	n := bits.TrailingZeros8(uint8(q))
	if last := int(s.attempts[n])+1 == s.maxAsks(p, wire.Question(n)); last && s.err[n] == 0 {
		s.beside |= besideGet
		s.got.get = q
	}
}

// suspectLimit takes a whole burst that is unanswered as the sign of a limit
// of queries a second, and drops the suspicion when the server stays silent
// although it is asked slowly: then all that is open is silent together.
func (s *session) suspectLimit(silent Questions) Questions {
	switch {
	case s.flags&flagBurst != 0 && bits.OnesCount8(uint8(silent)) > 1:
		s.flags |= flagSerial | flagLimited | flagSuspect
		s.got.slow = 0
	case s.flags&flagSuspect != 0:
		if s.got.slow++; s.got.slow == slowAsks {
			s.flags &^= flagSerial | flagLimited | flagSuspect
			silent = s.open
		}
	}
	s.flags &^= flagBurst
	return silent
}

// silenced gives up the questions of silent that were asked often enough and
// returns the others.
func (s *session) silenced(p *plan, silent Questions) (again Questions) {
	for q := range each(silent) {
		if int(s.attempts[q]) < s.maxAsks(p, q) {
			again |= 1 << q
		} else {
			s.giveUp(q, s.silence(q))
		}
	}
	return again
}

// patienceAsks is how many waits in a row may pass in silence before nothing
// more is expected of a server that answered nothing.
func (s *session) patienceAsks(p *plan) int {
	heard := s.got != nil && s.got.heard&s.open != 0
	if p.once && !heard {
		return 1
	}
	if heard {
		return 1 + p.schedule.Retries + extraAsks
	}
	return 1 + p.schedule.Retries
}

// advance is called after every event: it decides what is asked next and when
// to wake up.
func (s *session) advance(p *plan, now time.Duration) {
	if s.flags&flagAnswered != 0 {
		s.open &= p.questions // the fallback may have asked for more
	}
	s.ping(p)
	s.due &= s.open | aside
	s.waiting &= s.open | aside
	switch {
	case s.open == 0:
		s.finish(p, now)
	case s.flags&flagHeld != 0 && s.flying == 0:
		s.flags &^= flagHeld
		s.resend(lowest(s.open))
	case (s.due|s.waiting)&s.open != 0:
	case s.serial():
		s.askSerially(p, now)
	case s.challenge() != wire.NoChallenge:
		s.ask(s.open)
	default:
		s.askFirst(lowest(s.open))
	}
}

// ping makes a ping due, once, as soon as something came.
func (s *session) ping(p *plan) {
	if s.got != nil && p.questions.Has(wire.QuestionPing) && s.beside&besidePing == 0 {
		s.beside |= besidePing
		s.due |= AskPing
	}
}

// askFirst asks q of a server of which no challenge is known. Of some games it is
// known that a list is answered only to a challenge that GETCHALLENGE gave.
func (s *session) askFirst(q Questions) {
	s.ask(q)
	if s.got != nil && s.got.getFirst && q != AskInfo && s.beside&besideGet == 0 {
		s.beside |= besideGet
		s.got.get = q
	}
}

// askSerially makes the next question due, or says when it will be.
func (s *session) askSerially(p *plan, now time.Duration) {
	if next := s.lastAt() + serialGap; s.flags&flagLimited != 0 && now < next {
		s.wakeAt(next)
		return
	}
	q := lowest(s.open)
	if n := bits.TrailingZeros8(uint8(q)); int(s.attempts[n]) >= s.maxAsks(p, wire.Question(n)) {
		s.giveUp(wire.Question(n), s.silence(wire.Question(n)))
		s.advance(p, now)
		return
	}
	s.ask(q)
	s.flags |= flagRepeat
}

// finish ends the conversation, or waits for the 'I' after an 'm', or for the
// answer to a ping.
func (s *session) finish(p *plan, now time.Duration) {
	s.verify(p, now)
	if s.flags&flagGold != 0 && now < s.got.goldEnd {
		s.wakeAt(s.got.goldEnd)
		return
	}
	if s.due != 0 {
		return // a ping, or INFO once more
	}
	if end := s.lastAt() + p.schedule.Timeout; s.looped() && now < end {
		s.wakeAt(end)
		return
	}
	if end := s.pingEnd(p); s.waiting.Has(wire.QuestionPing) && now < end {
		s.wakeAt(end)
		return
	}
	if s.waiting&verifyInfo != 0 && now < s.got.verifyEnd {
		s.wakeAt(s.got.verifyEnd)
		return
	}
	if !s.unpacking() {
		s.flags |= flagDone
	}
}

// verify has INFO asked for once more, with a challenge, if the answer to it may
// be forged: it came without a challenge, and more replies came than requests went
// out. A server whose replies came earlier than they could is given one timeout
// in which its true replies may come.
func (s *session) verify(p *plan, now time.Duration) {
	a := s.got
	if a == nil || a.conflict {
		return
	}
	switch {
	case s.beside&besideVerify != 0:
	case a.challenge != wire.NoChallenge && a.unchallenged.Has(wire.QuestionInfo) && s.surplus():
		s.beside |= besideVerify
		s.due |= verifyInfo
		a.verifyEnd = now + p.schedule.Timeout
	case a.early != 0 && a.early == a.early&a.unchallenged && a.verifyEnd == 0:
		s.waiting |= verifyInfo
		a.verifyEnd = now + p.schedule.Timeout
	}
}

// pingEnd is when the answer to a ping is no longer waited for.
func (s *session) pingEnd(p *plan) time.Duration {
	if s.got == nil {
		return s.lastAt() + p.schedule.Timeout
	}
	return s.sent(wire.QuestionPing) + p.schedule.Timeout
}

func (s *session) maxAsks(p *plan, q wire.Question) int {
	n := 1 + p.schedule.Retries
	if s.rarelyAnswered(q) {
		return min(n, csgoAsks)
	}
	if s.got != nil && s.got.heard.Has(q) {
		n += extraAsks
	}
	return n
}

// timeout is how long to wait for what was just sent: as the schedule says, and
// never less than two round trips of this server.
func (s *session) timeout(p *plan) time.Duration {
	var attempts uint8
	for q := range each(s.waiting & s.open) {
		attempts = max(attempts, s.attempts[q])
	}
	d := p.schedule.Wait(int(attempts))
	if p.once {
		d = p.schedule.Longest()
	}
	if s.got != nil {
		d = max(d, min(2*s.got.rtt, maxRTTWait))
	}
	if s.flags&flagLimited != 0 {
		d = max(d, serialGap)
	}
	return d
}
