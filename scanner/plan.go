package scanner

import (
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// plan holds what is the same for every session of a scan.
type plan struct {
	questions Questions // ping may be one of them
	schedule  Schedule
	once      bool // the second pass: a server that answers nothing is asked once

	last lastWaits // at the end of a scan

	fallback     bool // a server that ignores INFO is asked for PLAYER and ping once each
	lateFallback bool // fallback in the second pass
	trailingNUL  bool // every request but INFO has one more NUL
	tryPlayers   bool // the last attempt at INFO of a silent server is PLAYER
}

func newPlan(cfg *Config) plan {
	tryPlayers := cfg.TryPlayers && !cfg.Fallback && cfg.Attempts > 1 && cfg.Questions&(AskInfo|AskPlayers) == AskInfo|AskPlayers
	return plan{
		tryPlayers: tryPlayers,
		questions:  cfg.Questions, schedule: cfg.schedule(), trailingNUL: cfg.TrailingNUL,
		lateFallback: cfg.Fallback, fallback: cfg.Fallback && !cfg.SecondPass,
	}
}

// beginSecondPass changes the plan for the targets that stayed silent.
func (p *plan) beginSecondPass() {
	p.once = true
	p.fallback = p.lateFallback
}

// appendRequest appends a request. If Config.TrailingNUL is set, every request but
// INFO gets one more NUL.
func (p *plan) appendRequest(dst []byte, q wire.Question, c wire.Challenge) []byte {
	dst = wire.AppendRequest(dst, q, c)
	if p.trailingNUL && q != wire.QuestionInfo {
		dst = append(dst, 0)
	}
	return dst
}

// start opens a session: the first question is due. l is the label of its target.
func (p *plan) start(s *session, l *label) {
	*s = session{agenda: agenda{open: l.questions(p.questions).status()}}
	if l != nil && l.infoOnly {
		s.beside |= besideInfoOnly
	}
	if l.remembered() != wire.NoChallenge && s.agenda.open.Has(wire.QuestionInfo) {
		s.beside |= besideKeyed
	}
	s.ask(lowest(s.agenda.open))
}

// sent records that qs were sent, and sets the time at which the wait for an answer
// ends. base is how long the first attempt waits.
func (p *plan) sent(s *session, now, base time.Duration, qs Questions) {
	s.onSent(now, qs)
	s.clock.wakeAt(now + p.timeout(s, base))
}

// retime sets the end of the wait for an answer again, from the current timeouts.
func (p *plan) retime(s *session, base time.Duration) {
	if s.agenda.silent() != 0 && s.agenda.due == 0 && !s.unpacking() {
		s.clock.wakeAt(s.clock.lastAt() + p.timeout(s, base))
	}
}

// renewable returns the questions of qs, all about to be repeated, that should be sent
// without a challenge so that the server gives a new one. These are questions before
// their last attempt, if nothing came in reply to a challenge that is old or was
// obtained for another question. Some servers have a challenge per question, or forget
// old challenges, and silently drop requests with a wrong challenge.
func (p *plan) renewable(s *session, now time.Duration, qs Questions) (renew Questions) {
	a := s.got
	if s.challenge() == wire.NoChallenge {
		return 0
	}
	old := now-a.challenges.seenAt >= freshFor
	for q := range each(qs &^ (a.challenges.renewed | s.agenda.bare)) {
		last := int(s.agenda.attempts[q])+1 == p.maxAsks(s, q)
		foreign := !a.challenges.owned.Has(q) && a.challenges.origin != 1<<q
		if last && (foreign || old) && s.agenda.err[q] == 0 && !s.rarelyAnswered(q) {
			renew |= 1 << q
		}
	}
	return renew
}

// rarelyAnswered reports whether q is hardly ever answered: RULES of app 730
// (EC-99).
func (s *session) rarelyAnswered(q wire.Question) bool {
	return q == wire.QuestionRules && s.flags&flagCSGO != 0
}

// tick is called when the wake-up time has passed: it repeats or gives up silent
// questions. base is how long the first attempt waits.
func (p *plan) tick(s *session, now, base time.Duration) {
	silent, kept := s.agenda.silent(), p.kept(s, now, base)
	switch {
	case silent == 0:
		return
	case s.unpacking():
		s.clock.wakeAt(now + packedWait)
		return
	case kept != 0:
		s.clock.wakeAt(p.spentEnd(s, kept)) // unless something is sent before
		if silent &^= kept; silent == 0 {
			return
		}
	}
	p.silent(s, now, silent, kept)
}

// silent repeats or gives up silent questions, except those that are kept.
func (p *plan) silent(s *session, now time.Duration, silent, kept Questions) {
	silent = s.suspectLimit(silent) &^ kept
	s.agenda.stopWaiting()
	s.agenda.waiting |= kept
	s.flying = 0
	s.forget() // some servers drop requests with an old challenge (EC-14)
	s.flags &^= flagHeld
	if s.got != nil {
		s.got.challenges.waited()
	}
	if s.quiet++; kept == 0 && s.flags&flagAnswered == 0 && int(s.quiet) >= p.patienceAsks(s) {
		p.ignored(s)
		return
	}
	again := p.silenced(s, silent)
	p.getChallenge(s, again)
	if renew := p.renewable(s, now, again); renew != 0 {
		s.got.challenges.renew(renew)
	}
	if s.serial() || again == 0 {
		return
	}
	if s.got != nil {
		again |= s.agenda.open &^ s.agenda.asked // no challenge, and a silent question: don't wait for it before asking the others
	}
	s.ask(again)
	s.flags |= flagRepeat
	if p.tryPlayers && s.got == nil && s.beside&besideInfoOnly == 0 && int(s.agenda.attempts[wire.QuestionInfo]) > p.schedule.Retries {
		s.beside |= besideBlind
	}
}

// ignored handles the end of the last wait for a server that answered nothing. With
// the fallback, a server that sent nothing at all is then asked for PLAYER and ping.
// Otherwise ignored gives up all open questions.
func (p *plan) ignored(s *session) {
	if !p.fallback || s.got != nil || s.beside&besideFallback != 0 || !s.agenda.asked.Has(wire.QuestionInfo) {
		for q := range each(s.agenda.open) {
			s.agenda.giveUp(q, s.silence(q))
		}
		return
	}
	s.agenda.giveUp(wire.QuestionInfo, s.silence(wire.QuestionInfo))
	s.beside |= besideFallback | besidePing
	s.agenda.open |= AskPlayers
	s.ask(AskPlayers)
	s.agenda.due |= AskPing
}

// getChallenge replaces the last attempt at a list question by GETCHALLENGE, if the
// question was sent without a challenge and nothing came in reply. It does so once per
// server, and only for a server that has sent something.
func (p *plan) getChallenge(s *session, again Questions) {
	q := lowest(again &^ AskInfo & s.agenda.bare)
	if q == 0 || s.got == nil || s.beside&besideGet != 0 || s.challenge() != wire.NoChallenge {
		return
	}
	n := bits.TrailingZeros8(uint8(q))
	if last := int(s.agenda.attempts[n])+1 == p.maxAsks(s, wire.Question(n)); last && s.agenda.err[n] == 0 {
		s.beside |= besideGet
		s.got.challenges.get = q
	}
}

// suspectLimit takes an entirely unanswered burst as a sign that the server limits
// queries per second. It drops the suspicion if the server stays silent although it
// is asked slowly; then it returns all open questions as silent.
func (s *session) suspectLimit(silent Questions) Questions {
	switch {
	case s.flags&flagBurst != 0 && bits.OnesCount8(uint8(silent)) > 1:
		s.flags |= flagSerial | flagLimited | flagSuspect
		s.got.hints.slow = 0
	case s.flags&flagSuspect != 0:
		if s.got.hints.slow++; s.got.hints.slow == slowAsks {
			s.flags &^= flagSerial | flagLimited | flagSuspect
			silent = s.agenda.open
		}
	}
	s.flags &^= flagBurst
	return silent
}

// silenced gives up the questions of silent that have had all their attempts, and
// returns the others.
func (p *plan) silenced(s *session, silent Questions) (again Questions) {
	for q := range each(silent) {
		if int(s.agenda.attempts[q]) < p.maxAsks(s, q) {
			again |= 1 << q
		} else {
			s.agenda.giveUp(q, s.silence(q))
		}
	}
	return again
}

// patienceAsks returns the number of silent waits in a row after which a server that
// answered nothing is given up.
func (p *plan) patienceAsks(s *session) int {
	heard := s.got != nil && s.got.hints.heard&s.agenda.open != 0
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
func (p *plan) advance(s *session, now time.Duration) {
	if s.flags&flagAnswered != 0 {
		s.agenda.open &= p.questions // the fallback may have asked for more
		if s.beside&besideInfoOnly != 0 {
			s.agenda.open &= AskInfo
		}
	}
	p.ping(s)
	s.agenda.trim()
	switch {
	case s.agenda.open == 0:
		p.finish(s, now)
	case s.flags&flagHeld != 0 && s.flying == 0:
		s.flags &^= flagHeld
		s.resend(lowest(s.agenda.open))
	case (s.agenda.due|s.agenda.waiting)&s.agenda.open != 0:
	case s.serial():
		p.askSerially(s, now)
	case s.challenge() != wire.NoChallenge:
		s.ask(s.agenda.open)
	default:
		s.askFirst(lowest(s.agenda.open))
	}
}

// ping makes a ping due as soon as the server has sent something, but only once.
func (p *plan) ping(s *session) {
	if s.got != nil && p.questions.Has(wire.QuestionPing) && s.beside&besidePing == 0 {
		s.beside |= besidePing
		s.agenda.due |= AskPing
	}
}

// askFirst asks q of a server whose challenge is not known yet. Servers of some
// games send a list only for a challenge obtained with GETCHALLENGE; for those, that
// request is sent instead of q.
func (s *session) askFirst(q Questions) {
	s.ask(q)
	if s.got != nil && s.got.challenges.getFirst && q != AskInfo && s.beside&besideGet == 0 {
		s.beside |= besideGet
		s.got.challenges.get = q
	}
}

// askSerially makes the next question due, or gives it up if it has had all its
// attempts. If the server limits queries and serialGap is not over yet, askSerially
// only sets the wake-up time.
func (p *plan) askSerially(s *session, now time.Duration) {
	if next := s.clock.lastAt() + serialGap; s.flags&flagLimited != 0 && now < next {
		s.clock.wakeAt(next)
		return
	}
	q := lowest(s.agenda.open)
	if n := bits.TrailingZeros8(uint8(q)); int(s.agenda.attempts[n]) >= p.maxAsks(s, wire.Question(n)) {
		s.agenda.giveUp(wire.Question(n), s.silence(wire.Question(n)))
		p.advance(s, now)
		return
	}
	s.ask(q)
	s.flags |= flagRepeat
}

// finish marks the session as done, unless there is something left to wait for: an 'I'
// after an 'm', requests that are due, an answer after too many challenges, the answer
// to a ping, a reply that contradicts a suspicious one, or the decompressor.
func (p *plan) finish(s *session, now time.Duration) {
	p.verify(s, now)
	if s.flags&flagGold != 0 && now < s.got.hints.goldEnd {
		s.clock.wakeAt(s.got.hints.goldEnd)
		return
	}
	if s.agenda.due != 0 {
		return // a ping, or a question that is verified
	}
	if end := s.clock.lastAt() + p.schedule.Timeout; s.agenda.looped() && now < end {
		s.clock.wakeAt(end)
		return
	}
	if end := p.pingEnd(s); s.agenda.waiting.Has(wire.QuestionPing) && now < end {
		s.clock.wakeAt(end)
		return
	}
	if s.got != nil && !s.got.suspicion.conflict && now < s.got.suspicion.holdEnd {
		s.clock.wakeAt(s.got.suspicion.holdEnd)
		return
	}
	if !s.unpacking() {
		s.flags |= flagDone
	}
}

// verify holds back the record of a server whose answers may be forged, and asks the
// doubtful questions once more. INFO is sent with the challenge, so that the true
// server answers it. A list is asked for without a challenge, so that the true server
// sends an 'A'.
func (p *plan) verify(s *session, now time.Duration) {
	if s.got == nil || s.got.suspicion.conflict || !s.got.suspicious() {
		return
	}
	x := &s.got.suspicion
	if x.holdEnd == 0 {
		x.holdEnd = now + p.schedule.Timeout
	}
	if qs := s.got.doubted(); qs != 0 && x.verifying == 0 {
		x.verifying = qs
		s.agenda.due |= verify(qs)
		x.holdEnd = now + p.schedule.Timeout
	}
}

// pingEnd returns the time at which the session stops waiting for the answer to its
// ping.
func (p *plan) pingEnd(s *session) time.Duration {
	if s.got == nil {
		return s.clock.lastAt() + p.schedule.Timeout
	}
	return s.clock.at(s.got.trips.sentUS[wire.QuestionPing]) + p.schedule.Timeout
}

// maxAsks returns the maximum number of attempts at q, not counting challenge rounds.
func (p *plan) maxAsks(s *session, q wire.Question) int {
	n := 1 + p.schedule.Retries
	if s.rarelyAnswered(q) {
		most := csgoAsks
		for other := range each(AskAll &^ (1 << q)) {
			if s.agenda.attempts[other] > 1 { // the path may lose datagrams
				most = csgoAsks + 1
			}
		}
		return min(n, most)
	}
	if s.got != nil && s.got.hints.heard.Has(q) {
		n += extraAsks
	}
	return n
}

// timeout returns how long to wait after the last request: as long as the schedule
// says, or as learned, but at least two round trips of this server, up to maxRTTWait.
// If the server limits queries, it is at least serialGap. base is how long the first
// attempt waits.
func (p *plan) timeout(s *session, base time.Duration) time.Duration {
	_, n := s.agenda.most(AskAll)
	d := p.schedule.Wait(n)
	switch {
	case p.once:
		d = p.schedule.Longest()
	case base < p.schedule.Timeout && n > 0:
		d = p.learnt(s, base)
	}
	if s.got != nil {
		d = max(d, min(max(2*s.got.trips.first, s.got.trips.late*5/4), maxRTTWait))
	}
	if s.flags&flagLimited != 0 {
		d = max(d, serialGap)
	}
	return d
}

// learnt returns how long to wait in a scan that learned to wait only base for the
// first attempt. If the target can't be listened for later, the wait after the last
// attempt ends when it would end in the fixed schedule.
func (p *plan) learnt(s *session, base time.Duration) time.Duration {
	after := s.clock.lastAt() - s.clock.firstAt
	switch {
	case s.beside&besideFallback != 0:
		return p.schedule.sum(1+p.schedule.Retries) + p.schedule.Timeout - after
	case s.got == nil:
		_, n := s.agenda.most(AskAll)
		if n > p.schedule.Retries && p.schedule.SecondPass {
			return p.schedule.sum(n) - after
		}
		return p.schedule.learnt(base, after, n, 1+p.schedule.Retries)
	}
	spent := p.spent(s)
	if spent == s.agenda.silent() {
		return max(base, p.spentEnd(s, spent)-s.clock.lastAt())
	}
	q, n := s.agenda.most(^spent)
	after = s.clock.lastAt() - s.clock.at(s.got.trips.asked[q])
	return p.schedule.learnt(base, after, n, p.maxAsks(s, q))
}

// spent returns the silent questions that have had all their attempts.
func (p *plan) spent(s *session) (qs Questions) {
	for q := range each(s.agenda.silent()) {
		if int(s.agenda.attempts[q]) >= p.maxAsks(s, q) {
			qs |= 1 << q
		}
	}
	return qs
}

// spentEnd returns the time at which the fixed schedule gives up the last of qs, or an
// earlier time at the end of a scan.
func (p *plan) spentEnd(s *session, qs Questions) (end time.Duration) {
	trips := &s.got.trips
	for q := range each(qs) {
		until := s.clock.at(trips.asked[q]) + p.schedule.sum(p.maxAsks(s, q))
		if p.last.heard > 0 {
			until = min(until, s.clock.at(trips.sentUS[q])+p.last.heard)
		}
		end = max(end, until)
	}
	return end
}

// kept returns the questions that have had all their attempts and are still waited
// for, because the fixed schedule would wait for them.
func (p *plan) kept(s *session, now, base time.Duration) (qs Questions) {
	if s.got == nil || p.once || base >= p.schedule.Timeout {
		return 0
	}
	for q := range each(p.spent(s)) {
		if now < p.spentEnd(s, 1<<q) {
			qs |= 1 << q
		}
	}
	return qs
}
