// Package session conducts the conversation with one server. Given an event, a session
// decides what to send and when to wake up. It has no socket and no clock, so text files in
// testdata can test conversations. The events of a session are:
//
//	Start                  a target begins
//	Sent                   a request was sent; Unsent: it could not be sent
//	Agenda.Drop            nothing more may be sent
//	Hear                   the first datagram came; Session.Got stores what it contains
//	Message, Fragment, …   a datagram came
//	Tick                   the wake-up time has passed
//	Unreachable            ICMP reports that nothing listens
//
// After each event, Advance decides what follows. Then the flag Done and the methods Due
// and Clock.Wake tell the caller what to do, and Request returns the request to send. In
// the drawing, A, I, D, E and X are the type bytes of replies (package wire).
//
//	          Start                      A (challenge)
//	(new) ───────────▶ first question ──────────────────▶ all open questions, together
//	                     │    ▲                             │      │       ▲
//	       I, D, E  ┌────┘    │ silence: repeated           │      │ silence: all silent
//	                ▼         │                             │      │ questions repeated
//	          next question ──┘                             │      │ together
//	        (one at a time, no                              │      └───────┘
//	         challenge is known)                            │
//	                               second new challenge, X, │ conflict,
//	                               a burst fully unanswered,▼
//	                               last repetition     serial: one question at a time,
//	                               (one challenge per  1.2 s apart where a limit shows
//	                               question)
//
//	every question answered or given up ──▶ Done (after a GoldSource INFO reply: once no
//	                                              Source INFO reply can follow)
package session

import (
	"math"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// Limits of a session. The values follow from the observed behaviour of servers.
const (
	SerialGap = 1200 * time.Millisecond // many servers allow one query per second (docs/FORMATS.md, section 4)

	maxRounds     = 4                     // maximum number of challenges per question; more are a challenge_loop (EC-2)
	minGold       = 50 * time.Millisecond // minimum time to wait for a Source INFO reply after a GoldSource one (EC-63)
	extraAttempts = 2                     // additional attempts at a question, if something came in reply to it
	slowAttempts  = 2                     // after this many waits without a reply, the session drops the suspicion of a limit
	csgoAttempts  = 2                     // attempts at RULES of app 730, which is hardly ever answered (EC-99)
	csgoAppID     = 730
	freshFor      = 5 * time.Second  // a server may silently refuse a challenge that is older than this (EC-14)
	maxRTTWait    = 10 * time.Second // maximum wait that is derived from round trips
	packedWait    = 50 * time.Millisecond
	maxPacked     = 2 // maximum number of a server's replies in the decompressor: players and rules
	// maxUnpacked is the maximum number of replies from one server that are decompressed:
	// both lists in each of the default number of attempts, and a few more.
	maxUnpacked = 16
)

// Plan holds what is the same for every session of a scan.
type Plan struct {
	Questions   wire.Questions  // may include the ping
	Schedule    timing.Schedule // the engine sets Schedule.Learned anew for each target
	Fallback    bool            // a server that ignores INFO is asked for PLAYER and ping once each
	TryPlayers  bool            // as the last attempt at INFO, a silent server is sent PLAYER
	TrailingNUL bool            // every request but INFO ends with an additional NUL

	Second bool      // this is the second pass: a silent server gets one attempt
	Last   LastWaits // shorter waits at the end of a scan that learns its timeouts; else zero
}

// AppendRequest appends to dst the request for q, with challenge c.
func (p *Plan) AppendRequest(dst []byte, q wire.Question, c wire.Challenge) []byte {
	dst = wire.AppendRequest(dst, q, c)
	if p.TrailingNUL && q != wire.QuestionInfo {
		dst = append(dst, 0)
	}
	return dst
}

// Flags is a set of facts about a conversation.
type Flags uint32

// Has reports whether f contains one or more of the flags in g.
func (f Flags) Has(g Flags) bool { return f&g != 0 }

// The exported flags are also for the engine. Queued and Paired are for the engine only,
// and are stored here to save memory.
const (
	Queued Flags = 1 << iota // the target waits in a queue of the sender
	Paired                   // PLAYER and RULES were sent in one call, and their answers are outstanding

	flagRefused  // ICMP said that nothing listens, and nothing came since
	flagRetried  // something was sent after flagRefused was set
	flagChanged  // a second challenge replaced the first
	flagSerial   // one question at a time
	flagSingle   // one question at a time, and each has a challenge of its own
	Limited      // questions are sent SerialGap apart
	flagSuspect  // Limited is only a guess
	flagGold     // a GoldSource INFO reply came, and no Source reply yet
	flagBurst    // questions were sent together after a challenge, and nothing came since
	flagCSGO     // the game is app 730 (CS:GO and CS2)
	Done         // every question is answered or given up
	Split        // fragments came: the reassembly table may hold some
	Repeat       // the next datagram repeats a request
	flagAnswered // a question was answered
	flagHeld     // a challenge came; it is used once no answer is outstanding
	flagPing     // a ping was requested
	flagPong     // the ping was answered
	flagGet      // GETCHALLENGE was sent
	flagFallback // INFO was ignored: PLAYER and ping are the last attempt
	Listening    // a silent server has had all its attempts and may still answer late
	flagBlind    // PLAYER is sent as the last attempt at INFO, since nothing came
	flagKeyed    // INFO contains the challenge of an earlier scan
	flagInfoOnly // only INFO is asked
	flagAgain    // before the first reply, a request was sent again after an outage
)

// Session is the state of one conversation. It takes only 40 bytes, since most addresses of
// a network are silent. Got has the data that are needed only for a server that answers.
type Session struct {
	Got    *Answer // nil before the first reply
	Clock  Clock
	Flags  Flags
	Agenda Agenda
	quiet  uint8 // number of consecutive waits without a reply
}

// Due returns the questions whose requests are to be sent as soon as the rate allows.
func (s *Session) Due() wire.Questions {
	s.Agenda.due &= s.Agenda.Open | wire.AskPing
	return s.Agenda.due
}

// SentAt returns the time at which q was last sent. s.Got must not be nil.
func (s *Session) SentAt(q wire.Question) time.Duration { return s.Clock.at(s.Got.sentUS[q]) }

// askedAt returns the time at which q was first sent with its present challenge.
func (s *Session) askedAt(q wire.Question) time.Duration {
	if s.Got == nil {
		return s.Clock.FirstAt
	}
	return s.Clock.at(s.Got.askedUS[q])
}

// Start opens a session: the first question is due. With infoOnly, no other question
// follows INFO. With keyed, INFO contains the challenge of an earlier scan.
func (s *Session) Start(p *Plan, infoOnly, keyed bool) {
	*s = Session{Agenda: Agenda{Open: p.Questions & wire.AskAll}}
	if infoOnly {
		s.Agenda.Open &= wire.AskInfo
		s.Flags |= flagInfoOnly
	}
	if keyed && s.Agenda.Open.Has(wire.QuestionInfo) {
		s.Flags |= flagKeyed
	}
	s.ask(s.Agenda.Open.Lowest())
}

// Request returns the request to send for q, and its challenge. The request may be
// GETCHALLENGE instead of q, or PLAYER instead of INFO. The last argument is the
// challenge of an earlier scan.
func (s *Session) Request(q wire.Question, remembered wire.Challenge) (wire.Question, wire.Challenge) {
	a := s.Got
	c := wire.NoChallenge
	switch {
	case a != nil:
		c = a.challenges.of(q)
	case s.Flags.Has(flagKeyed):
		c = remembered
	}
	switch {
	case a != nil && a.challenges.get.Has(q):
		q = wire.QuestionChallenge
	case s.Flags.Has(flagBlind):
		q = wire.QuestionPlayers
	}
	return q, c
}

// Sent records that the request for q was sent, and sets the time at which the wait for
// an answer ends.
func (s *Session) Sent(p *Plan, now time.Duration, q wire.Question) {
	if s.Agenda.Asked == 0 {
		s.Clock.FirstAt = now
	}
	s.Clock.sentUS = uint32(min((now-s.Clock.FirstAt)/time.Microsecond, math.MaxUint32))
	qs := wire.Questions(1) << q
	bare := qs & wire.AskAll
	if s.Flags.Has(flagKeyed) || s.Got != nil && s.Got.challenges.of(q) != wire.NoChallenge {
		bare = 0
	}
	if a := s.Got; a != nil {
		a.keyed |= qs & wire.AskAll &^ bare
		a.flying += b2u8(wire.AskAll.Has(q))
		a.sentUS[q] = s.Clock.sentUS
		if q != wire.QuestionPing {
			a.challenges.sent(q)
		}
		if !s.Flags.Has(Repeat) && wire.AskAll.Has(q) {
			a.askedUS[q] = s.Clock.sentUS
		}
	}
	s.Agenda.Asked |= qs & wire.AskAll
	s.Agenda.due &^= qs
	s.Agenda.Waiting |= qs
	s.Agenda.bare = s.Agenda.bare&^qs | bare
	if s.Flags.Has(flagRefused) {
		s.Flags |= flagRetried
	}
	s.Clock.wakeAt(now + p.timeout(s))
}

// Unsent records that the request for q could not be sent. The session waits as if the
// request had been lost on its way.
func (s *Session) Unsent(p *Plan, now time.Duration, q wire.Question) {
	if s.Agenda.Asked == 0 {
		s.Clock.FirstAt = now
	}
	s.Clock.sentUS = uint32(min((now-s.Clock.FirstAt)/time.Microsecond, math.MaxUint32))
	s.Agenda.due &^= 1 << q
	s.Agenda.Waiting |= 1 << q
	s.Clock.wakeAt(now + p.timeout(s))
}

// Refund is called after an outage for a request for q that could not be sent. The
// request then no longer counts as an attempt.
func (s *Session) Refund(q wire.Question) {
	if wire.AskAll.Has(q) && s.Agenda.Attempts[q] > 1 {
		s.Agenda.Attempts[q]--
	}
	s.quiet -= b2u8(s.quiet > 0)
}

// Again marks the questions whose answers are outstanding as due again, and reports
// whether there are any. It counts no attempt. The round trips of these answers stay
// unknown.
func (s *Session) Again() bool {
	qs := s.Agenda.Waiting & (s.Agenda.Open | wire.AskPing)
	s.Agenda.due |= qs
	s.Agenda.Waiting = 0
	switch {
	case s.Got != nil:
		s.Got.flying = 0
		s.Got.challenges.resent |= qs & wire.AskAll
	case qs != 0:
		s.Flags |= flagAgain
	}
	return qs != 0
}

// Unreachable takes an ICMP error: nothing listens. The first error is not final, because
// the port may open a moment later. The second error is final if another datagram was
// sent between the two. An error for the session's last datagram is final, too.
func (s *Session) Unreachable() {
	if !s.Flags.Has(flagRetried) {
		s.Flags |= flagRefused
		return
	}
	s.Agenda.Waiting &^= wire.AskPing
	s.Agenda.giveUp(s.Agenda.Open, wire.ErrUnreachable)
}

// Advance is called after every event. It decides what is asked next and when to wake up.
func (s *Session) Advance(p *Plan, now time.Duration) {
	if s.Flags.Has(flagAnswered) {
		s.Agenda.Open &= p.Questions // the fallback may have opened further questions
		if s.Flags.Has(flagInfoOnly) {
			s.Agenda.Open &= wire.AskInfo
		}
	}
	// Send one ping, once the server has sent something.
	if s.Got != nil && p.Questions.Has(wire.QuestionPing) && !s.Flags.Has(flagPing) {
		s.Flags |= flagPing
		s.Agenda.due |= wire.AskPing
	}
	s.Agenda.due &= s.Agenda.Open | wire.AskPing
	s.Agenda.Waiting &= s.Agenda.Open | wire.AskPing
	switch {
	case s.Agenda.Open == 0:
		s.finish(p, now)
	case s.Flags.Has(flagHeld) && s.Got.flying == 0:
		s.Flags &^= flagHeld
		s.resend(s.Agenda.Open.Lowest())
	case (s.Agenda.due|s.Agenda.Waiting)&s.Agenda.Open != 0:
	case s.Flags.Has(flagSerial | flagSingle):
		s.askSerially(p, now)
	case s.Got != nil && s.Got.challenges.current != wire.NoChallenge:
		s.ask(s.Agenda.Open)
	default:
		q := s.Agenda.Open.Lowest()
		s.ask(q)
		// Servers of some games send a list only for a challenge obtained with
		// GETCHALLENGE; GETCHALLENGE is then sent instead of q.
		if a := s.Got; a != nil && a.challenges.getFirst && q != wire.AskInfo && !s.Flags.Has(flagGet) {
			s.Flags |= flagGet
			a.challenges.get = q
		}
	}
}

// ask makes qs due and counts one more attempt for each.
func (s *Session) ask(qs wire.Questions) {
	s.Agenda.count(qs)
	s.Agenda.due |= qs
	s.Flags &^= Repeat
}

// resend makes qs due with the new challenge. It counts no further attempt at questions
// that were asked before.
func (s *Session) resend(qs wire.Questions) {
	s.Agenda.count(qs &^ (s.Agenda.Asked | s.Agenda.due))
	s.Agenda.due |= qs
	s.Agenda.stopWaiting()
	s.Flags |= flagBurst
	s.Flags &^= Repeat
}

// askSerially makes the next question due, and gives up questions that have had all their
// attempts. If the server limits queries and SerialGap is not over yet, askSerially
// only sets the wake-up time.
func (s *Session) askSerially(p *Plan, now time.Duration) {
	if next := s.Clock.LastAt() + SerialGap; s.Flags.Has(Limited) && now < next {
		s.Clock.wakeAt(next)
		return
	}
	qs := s.Agenda.Open.Lowest()
	if q := qs.First(); int(s.Agenda.Attempts[q]) >= p.maxAttempts(s, q) {
		s.Agenda.giveUp(qs, s.reason(q))
		s.Advance(p, now)
		return
	}
	s.ask(qs)
	s.Flags |= Repeat
}

// finish marks the session as done, unless there is something left to wait for: a Source
// INFO reply after a GoldSource one, a ping that is due, an answer after too many
// challenges, the answer to a ping, or the decompressor.
func (s *Session) finish(p *Plan, now time.Duration) {
	a := s.Got
	var end time.Duration
	if a != nil && s.Flags.Has(flagGold) && now < a.goldEnd {
		s.Clock.wakeAt(a.goldEnd)
		return
	}
	if s.Agenda.due != 0 {
		return // a ping is due
	}
	// If too many challenges came, some may be forged. A request with a genuine challenge
	// may then still be answered.
	looped := slices.Contains(s.Agenda.Err[:], wire.ErrChallengeLoop)
	if end = s.Clock.LastAt() + p.Schedule.Timeout; looped && now < end {
		s.Clock.wakeAt(end)
		return
	}
	if a != nil {
		end = s.SentAt(wire.QuestionPing) + p.Schedule.Timeout
	}
	if s.Agenda.Waiting.Has(wire.QuestionPing) && now < end {
		s.Clock.wakeAt(end)
		return
	}
	if a != nil && a.packed > 0 {
		s.Clock.wakeAt(now + packedWait)
		return
	}
	s.Flags |= Done
}

// Overdue reports whether the time since the session's last datagram is more than twice
// the longest time that its schedule allows. A session that waits for the decompressor is
// not overdue while the decompressor makes progress. unpackedAt is the time of the last
// progress.
func (s *Session) Overdue(p *Plan, now, unpackedAt time.Duration) bool {
	most := 2 * (p.Schedule.Sum(p.Schedule.Attempts+extraAttempts) + maxRTTWait)
	last := s.Clock.LastAt()
	if s.Clock.sentUS == math.MaxUint32 { // the last datagram may have been sent after the latest time that sentUS can hold
		last = s.Clock.Wake()
	}
	if s.Got != nil && s.Got.packed > 0 {
		last = max(last, unpackedAt)
	}
	return now-last > most
}

// Abandon ends a session because of a fault of this program.
func (s *Session) Abandon() {
	s.Agenda.Drop(^wire.Questions(0), wire.ErrInternal)
	s.Flags |= Done
}
