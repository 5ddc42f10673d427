// Package session is the conversation with one server as a pure step: it takes an
// event, and says what to send and when to wake up. It has no socket and no clock, so
// text files in testdata can test conversations. Its events are, in the order of a
// server's life:
//
//	Start                  a target begins
//	Sent, Unsent           a request left, or could not be sent
//	Hear                   the first datagram came; Session.Got is where its content goes
//	Message, Fragment, …   what a datagram brings
//	Tick                   the wake-up time has passed
//	Unreachable, Exclude   nothing listens; nothing more may be sent
//
// After each event, Advance decides what follows. Then Done, Due and Wake say what to
// do, and Request what to send. The parts:
//
//	session.go     the state, and what is sent next
//	silence.go     silence: repeat, or give up
//	message.go     what the messages of a server change
//	challenges.go  what is known of the server's challenges
//	suspicion.go   signs of forged replies
//	questions.go   where each question stands
//	schedule.go    how long to wait
//	answer.go      the messages of a server
//	memory.go      where they are kept
//
//	            Start                      A (challenge)
//	  (new) ───────────▶ first question ──────────────────▶ all open questions, together
//	                       │    ▲                             │      │       ▲
//	         I, D, E  ┌────┘    │ silence: repeated           │      │ silence: what is
//	                  ▼         │                             │      │ silent is repeated
//	            next question ──┘                             │      │ together
//	          (one at a time, no                              │      └───────┘
//	           challenge is known)                            │
//	                                 second new challenge, X, │ conflict,
//	                                 a whole burst unanswered,▼
//	                                 last repetition     serial: one question at a time,
//	                                 (one challenge per  1.2 s apart where a limit shows
//	                                 question)
//
//	  every question answered or given up ──▶ Done (after an 'm': once no 'I' can follow)
package session

import (
	"math"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// Limits of a session. The values are ours; the reasons are how servers behave.
const (
	SerialGap = 1200 * time.Millisecond // servers that allow one query per second are common (FORMATS 4.4)

	maxRounds   = 4                     // challenges per question, then challenge_loop (EC-2)
	minGold     = 50 * time.Millisecond // minimum time to wait for an 'I' after an 'm' (EC-63)
	extraAsks   = 2                     // additional attempts at a question, if something came in reply to it
	slowAsks    = 2                     // after this many slow questions in a row without an answer, there is no limit
	csgoAsks    = 2                     // RULES of app 730 hardly ever come (EC-99)
	csgoAppID   = 730
	freshFor    = 5 * time.Second  // some servers silently drop an older challenge (EC-14)
	maxRTTWait  = 10 * time.Second // no round trip makes us wait longer than that
	muchEarlier = 5 * time.Millisecond
	packedWait  = 50 * time.Millisecond
	maxPacked   = 2  // a server's replies in the decompressor: players and rules
	maxUnpacked = 16 // replies of one server that are unpacked in all: both lists in every default attempt, and a few more
)

// Plan holds what is the same for every session of a scan.
type Plan struct {
	Questions   Questions // ping may be one of them
	Schedule    Schedule
	Fallback    bool // a server that ignores INFO is asked for PLAYER and ping once each
	TryPlayers  bool // the last of several attempts at INFO of a silent server is PLAYER
	TrailingNUL bool // every request but INFO has one more NUL

	Second bool      // the second pass: a server that answers nothing is asked once
	Last   LastWaits // at the end of a scan
}

// AppendRequest appends a request.
func (p *Plan) AppendRequest(dst []byte, q wire.Question, c wire.Challenge) []byte {
	dst = wire.AppendRequest(dst, q, c)
	if p.TrailingNUL && q != wire.QuestionInfo {
		dst = append(dst, 0)
	}
	return dst
}

// Flags are the yes-or-no facts about a conversation.
type Flags uint32

// Queued and Paired belong to the engine, which has no other room for them.
const (
	Queued Flags = 1 << iota // waits in a queue of the sender
	Paired                   // players and rules were asked for in one piece, and the wait for them goes on

	flagRefused  // ICMP said that nothing listens, and nothing came since
	flagRetried  // something was sent after flagRefused
	flagChanged  // a second challenge replaced the first
	flagSerial   // one question at a time
	flagLimited  // SerialGap apart
	flagSuspect  // flagLimited is only a guess
	flagGold     // an 'm' came, and no 'I' yet
	flagBurst    // sent together after an 'A', and silent since
	flagCSGO     // app 730
	flagDone     // every question is answered or given up
	flagSplit    // fragments came: the reassembly table may hold some
	flagRepeat   // the next datagram is a repetition
	flagAnswered // a question was answered
	flagHeld     // a challenge came; it is used once no answer is outstanding
	flagPing     // a ping was asked for
	flagPong     // its answer came
	flagGet      // a challenge was asked for by itself: GETCHALLENGE
	flagFallback // INFO was ignored: PLAYER and ping are the last attempt
	flagStranger // a reply came before anything was asked
	flagBlind    // the last attempt at INFO is PLAYER, since nothing came
	flagKeyed    // INFO bears the challenge that the target is remembered by
	flagInfoOnly // only INFO is asked
)

// Session is the state of one conversation. A silent server, as most of a network is,
// has nothing else: 40 bytes.
type Session struct {
	Got     *Answer       // what came; nil while nothing did
	FirstAt time.Duration // first datagram sent
	wakeMS  uint32        // ms after FirstAt: the time of the next call of Tick; 0: none
	sentUS  uint32        // µs after FirstAt: last datagram sent
	flags   Flags
	agenda
	quiet uint8 // waits in a row in which nothing came
}

// Is reports whether one of the flags is set.
func (s *Session) Is(f Flags) bool { return s.flags&f != 0 }

// Set sets flags.
func (s *Session) Set(f Flags) { s.flags |= f }

// Clear clears flags.
func (s *Session) Clear(f Flags) { s.flags &^= f }

// Done reports whether every question is answered or given up, and nothing is waited
// for.
func (s *Session) Done() bool { return s.Is(flagDone) }

// Due returns the requests to send as soon as the rate allows, by the question that
// each serves.
func (s *Session) Due() Questions {
	s.due &= s.open | aside
	return s.due
}

// Repeats reports whether what is due repeats what stayed silent.
func (s *Session) Repeats() bool { return s.Is(flagRepeat) }

// Limited reports whether the server seems to limit queries per second.
func (s *Session) Limited() bool { return s.Is(flagLimited) }

// Split reports whether fragments came.
func (s *Session) Split() bool { return s.Is(flagSplit) }

// Silent returns the questions that are waited for.
func (s *Session) Silent() Questions { return s.silent() }

// Asked returns the questions that were sent at least once.
func (s *Session) Asked() Questions { return s.asked }

// Attempts returns how many times q was asked, not counting challenge rounds.
func (s *Session) Attempts(q wire.Question) uint8 { return s.attempts[q] }

// Errors returns why each question has no complete answer; 0: it has one.
func (s *Session) Errors() [wire.NumQuestions]wire.Error { return s.err }

// Wake returns the time of the next call of Tick, or 0 if none is needed.
func (s *Session) Wake() time.Duration {
	if s.wakeMS == 0 {
		return 0
	}
	return s.FirstAt + time.Duration(s.wakeMS)*time.Millisecond
}

// wakeAt sets the wake-up time to at, rounded up to a whole number of milliseconds
// after FirstAt.
func (s *Session) wakeAt(at time.Duration) {
	ms := (at - s.FirstAt + time.Millisecond - 1) / time.Millisecond
	s.wakeMS = uint32(min(max(ms, 0), math.MaxUint32))
}

// LastAt returns the time at which the last datagram was sent.
func (s *Session) LastAt() time.Duration { return s.at(s.sentUS) }

// SentAt returns the time at which q was last sent to a server that answered.
func (s *Session) SentAt(q wire.Question) time.Duration { return s.at(s.Got.sentUS[q]) }

// at returns the time us µs after the first datagram.
func (s *Session) at(us uint32) time.Duration { return s.FirstAt + time.Duration(us)*time.Microsecond }

// since returns the time from us µs after the first datagram until now, at least a
// microsecond. The time at which a request left is not known exactly, so the answer
// may seem to come before the request.
func (s *Session) since(us uint32, now time.Duration) time.Duration {
	return max(now-s.at(us), time.Microsecond)
}

// clocked sets the time at which the last datagram was sent.
func (s *Session) clocked(now time.Duration) {
	s.sentUS = uint32(min((now-s.FirstAt)/time.Microsecond, math.MaxUint32))
}

// Start opens a session: the first question is due. keyed means that a challenge is
// remembered for INFO.
func (s *Session) Start(p *Plan, infoOnly, keyed bool) {
	*s = Session{agenda: agenda{open: p.Questions & All}}
	if infoOnly {
		s.open &= Info
		s.flags |= flagInfoOnly
	}
	if keyed && s.open.Has(wire.QuestionInfo) {
		s.flags |= flagKeyed
	}
	s.ask(Lowest(s.open))
}

// Resume puts a session that has just started into the state that it would have if its
// target had been sent all its attempts and stayed silent.
func (s *Session) Resume(p *Plan, firstAt, lastAt time.Duration) {
	qs := Lowest(s.open)
	for range p.Schedule.Attempts - 1 {
		s.count(qs)
	}
	s.left(firstAt, qs)
	s.clocked(lastAt)
	s.quiet = uint8(min(p.Schedule.Attempts-1, 255))
	if p.TryPlayers {
		s.flags |= flagBlind
	}
	s.wakeAt(firstAt + p.Schedule.Silence())
}

// Stranger records that a reply came before the server was asked anything.
func (s *Session) Stranger() { s.flags |= flagStranger }

// Request returns the request to send for q, and its challenge. The request may be
// GETCHALLENGE instead of q, or PLAYER instead of INFO. remembered is the challenge
// that the target is remembered by.
func (s *Session) Request(q wire.Question, remembered wire.Challenge) (wire.Question, wire.Challenge) {
	a := s.Got
	c := wire.NoChallenge
	switch {
	case a != nil:
		c = a.challenges.of(q)
	case s.Is(flagKeyed):
		c = remembered
	}
	switch {
	case q >= questionVerify:
		q -= questionVerify
	case a != nil && a.challenges.get.Has(q):
		q = wire.QuestionChallenge
	case s.Is(flagBlind):
		q = wire.QuestionPlayers
	}
	return q, c
}

// Sent records that the request for q was sent, and sets the time at which the wait for
// an answer ends. base is how long the first attempt waits.
func (s *Session) Sent(p *Plan, now, base time.Duration, q wire.Question) {
	s.left(now, 1<<q)
	s.wakeAt(now + s.timeout(p, base))
}

// left records that qs were sent.
func (s *Session) left(now time.Duration, qs Questions) {
	if s.asked == 0 {
		s.FirstAt = now
	}
	s.clocked(now)
	bare := qs & All
	if s.Is(flagKeyed) {
		bare = 0
	}
	if a := s.Got; a != nil {
		for q := range Each(bare) {
			if a.challenges.of(q) != wire.NoChallenge {
				bare &^= 1 << q
			}
		}
		a.keyed |= qs & All &^ bare
		a.challenges.echoed = false
		a.requests += b2u8(qs&^Ping != 0 && a.requests < math.MaxUint8)
		a.flying += uint8(count(qs & All))
		for q := range Each(qs &^ verifyAll) {
			a.sentUS[q] = s.sentUS
			if !s.Is(flagRepeat) && All.Has(q) {
				a.askedUS[q] = s.sentUS
			}
		}
	}
	s.asked |= qs & All
	s.due &^= qs
	s.waiting |= qs
	s.bare = s.bare&^qs | bare
	if s.Is(flagRefused) {
		s.flags |= flagRetried
	}
}

// Unsent gives up q, which could not be sent.
func (s *Session) Unsent(q wire.Question) {
	s.due &^= 1 << q
	s.giveUp(s.open&(1<<q), wire.ErrSendFailed)
}

// Exclude gives up all open questions, because nothing more may be sent to the
// server.
func (s *Session) Exclude() {
	s.due = 0
	s.giveUp(s.open, wire.ErrExcluded)
}

// Unreachable takes an ICMP error: nothing listens. The first one is not final, as the
// port may open a moment later. The second one is, if it came after another datagram
// was sent.
func (s *Session) Unreachable() {
	if !s.Is(flagRetried) {
		s.flags |= flagRefused
		return
	}
	s.waiting &^= aside
	s.giveUp(s.open, wire.ErrUnreachable)
}

// Advance is called after every event: it decides what is asked next and when to wake
// up.
func (s *Session) Advance(p *Plan, now time.Duration) {
	if s.Is(flagAnswered) {
		s.open &= p.Questions // the fallback may have asked for more
		if s.Is(flagInfoOnly) {
			s.open &= Info
		}
	}
	if s.Got != nil && p.Questions.Has(wire.QuestionPing) && !s.Is(flagPing) { // one ping, once the server has sent something
		s.flags |= flagPing
		s.due |= Ping
	}
	s.due &= s.open | aside
	s.waiting &= s.open | aside
	switch {
	case s.open == 0:
		s.finish(p, now)
	case s.Is(flagHeld) && s.Got.flying == 0:
		s.flags &^= flagHeld
		s.resend(Lowest(s.open))
	case (s.due|s.waiting)&s.open != 0:
	case s.serial():
		s.askSerially(p, now)
	case s.challenge() != wire.NoChallenge:
		s.ask(s.open)
	default:
		q := Lowest(s.open)
		s.ask(q)
		// Servers of some games send a list only for a challenge obtained with
		// GETCHALLENGE; that request goes out instead of q.
		if a := s.Got; a != nil && a.challenges.getFirst && q != Info && !s.Is(flagGet) {
			s.flags |= flagGet
			a.challenges.get = q
		}
	}
}

// serial reports whether only one question is asked at a time.
func (s *Session) serial() bool {
	return s.Is(flagSerial) || s.Got != nil && s.Got.challenges.single
}

// ask makes qs due and counts one more attempt for each.
func (s *Session) ask(qs Questions) {
	s.count(qs)
	s.due |= qs
	s.flags &^= flagRepeat
}

// resend makes qs due with the new challenge. For questions that were asked before
// this does not count as another attempt.
func (s *Session) resend(qs Questions) {
	s.count(qs &^ (s.asked | s.due))
	s.due |= qs
	s.stopWaiting()
	s.flags |= flagBurst
	s.flags &^= flagRepeat
}

// askSerially makes the next question due, and gives up those that have had all their
// attempts. If the server limits queries and SerialGap is not over yet, askSerially
// only sets the wake-up time.
func (s *Session) askSerially(p *Plan, now time.Duration) {
	if next := s.LastAt() + SerialGap; s.Is(flagLimited) && now < next {
		s.wakeAt(next)
		return
	}
	qs := Lowest(s.open)
	if q := first(qs); int(s.attempts[q]) >= s.maxAsks(p, q) {
		s.giveUp(qs, s.reason(q))
		s.Advance(p, now)
		return
	}
	s.ask(qs)
	s.flags |= flagRepeat
}

// finish marks the session as done, unless there is something left to wait for: an 'I'
// after an 'm', requests that are due, an answer after too many challenges, the answer
// to a ping, a reply that contradicts a suspicious one, or the decompressor.
func (s *Session) finish(p *Plan, now time.Duration) {
	a := s.Got
	var end time.Duration
	if a != nil {
		s.verify(p, now)
		if end = a.goldEnd; s.Is(flagGold) && now < end {
			s.wakeAt(end)
			return
		}
	}
	if s.due != 0 {
		return // a ping, or a question that is verified
	}
	if end = s.LastAt() + p.Schedule.Timeout; s.looped() && now < end {
		s.wakeAt(end)
		return
	}
	if a != nil {
		end = s.SentAt(wire.QuestionPing) + p.Schedule.Timeout
	}
	if s.waiting.Has(wire.QuestionPing) && now < end {
		s.wakeAt(end)
		return
	}
	if a != nil && !a.Conflict && now < a.holdEnd {
		s.wakeAt(a.holdEnd)
		return
	}
	if !s.unpacking() {
		s.flags |= flagDone
	}
}
