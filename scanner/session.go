package scanner

import (
	"math"
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// A session is the conversation with one server as a pure step: it takes an event,
// and returns what to send and when to wake up. It has no socket, no clock and no
// memory of its own, so text files in testdata/session can test conversations. The
// parts:
//
//	session.go     its state, and the events that change it
//	agenda.go      where each question stands
//	challenges.go  what is known of the server's challenges
//	suspicion.go   signs of forged replies
//	plan.go        what is sent next, and when to give up
//
// State that is needed only after a datagram came is in the answer. A silent server,
// as most of a network is, takes little memory.
//
//	            start                      A (challenge)
//	  (new) ───────────▶ first question ──────────────────▶ all open questions, together
//	                       │    ▲                             │      │       ▲
//	         I, D, E  ┌────┘    │ silence: repeated           │      │ silence: what is
//	                  ▼         │ 1 + retries times           │      │ silent is repeated
//	            next question ──┘                             │      │ together
//	          (one at a time, no                              │      └───────┘
//	           challenge is known)                            │
//	                                 second new challenge, X, │ conflict,
//	                                 a whole burst unanswered,▼
//	                                 last repetition     serial: one question at a time,
//	                                 (one challenge per  1.2 s apart where a limit shows
//	                                 question)
//
//	  every question answered or given up ──▶ done (after an 'm': once no 'I' can follow)

// Limits of a session. The values are ours; the reasons are how servers behave.
const (
	maxRounds   = 4                       // challenges per question, then challenge_loop (EC-2)
	serialGap   = 1200 * time.Millisecond // servers that allow one query per second are common (FORMATS 4.4)
	minGold     = 50 * time.Millisecond   // minimum time to wait for an 'I' after an 'm' (EC-63)
	extraAsks   = 2                       // additional attempts at a question, if something came in reply to it
	slowAsks    = 2                       // after this many slow questions in a row without an answer, there is no limit
	csgoAsks    = 2                       // RULES of app 730 hardly ever come (EC-99)
	csgoAppID   = 730
	freshFor    = 5 * time.Second  // some servers silently drop an older challenge (EC-14)
	maxRTTWait  = 10 * time.Second // no round trip makes us wait longer than that
	muchEarlier = 5 * time.Millisecond
	packedWait  = 50 * time.Millisecond
	maxPacked   = 2  // a server's replies in the decompressor: players and rules
	maxUnpacked = 16 // replies of one server that are unpacked in all: both lists in every default attempt, and a few more
)

// sessionFlags are the yes-or-no facts about a conversation.
type sessionFlags uint16

const (
	flagRefused  sessionFlags = 1 << iota // ICMP said that nothing listens, and nothing came since
	flagChanged                           // a second challenge replaced the first
	flagSerial                            // one question at a time
	flagLimited                           // serialGap apart
	flagSuspect                           // flagLimited is only a guess
	flagGold                              // an 'm' came, and no 'I' yet
	flagBurst                             // sent together after an 'A', and silent since
	flagCSGO                              // app 730
	flagDone                              // every question is answered or given up
	flagSplit                             // fragments came: the reassembly table may hold some
	flagQueued                            // waits in a queue of the sender
	flagRepeat                            // the next datagram is a repetition
	flagAnswered                          // a question was answered
	flagRetried                           // something was sent after flagRefused
	flagHeld                              // a challenge came; it is used once no answer is outstanding
	flagGSO                               // players and rules were asked for in one piece, and the wait for them goes on
)

// besides are the yes-or-no facts about a session that do not concern the three
// questions.
type besides uint8

const (
	besidePing     besides = 1 << iota // a ping was asked for
	besidePong                         // its answer came
	besideGet                          // a challenge was asked for by itself: GETCHALLENGE
	besideFallback                     // INFO was ignored: PLAYER and ping are the last attempt
	besideStranger                     // a reply came before anything was asked
	besideBlind                        // the last attempt at INFO is PLAYER, since nothing came
	besideKeyed                        // INFO bears the challenge of the target's label
	besideInfoOnly                     // only INFO is asked
)

// session is the state of one conversation.
type session struct {
	got    *answer // what came; nil while nothing did
	clock  clock
	flags  sessionFlags
	agenda agenda
	beside besides // what was done besides the three questions
	quiet  uint8   // waits in a row in which nothing came
	flying uint8   // datagrams sent and not answered, as far as can be known
}

// clock holds the times of a session: when it sent its first and last datagram, and
// when it is to be woken.
type clock struct {
	firstAt time.Duration // first datagram sent
	wakeMS  uint32        // ms after firstAt: the time of the next call of tick; 0: none
	sentUS  uint32        // µs after firstAt: last datagram sent
}

// wake returns the time of the next call of tick, or 0 if none is needed.
func (c *clock) wake() time.Duration {
	if c.wakeMS == 0 {
		return 0
	}
	return c.firstAt + time.Duration(c.wakeMS)*time.Millisecond
}

// wakeAt sets the wake-up time to at, rounded up to a whole number of milliseconds
// after firstAt.
func (c *clock) wakeAt(at time.Duration) {
	ms := (at - c.firstAt + time.Millisecond - 1) / time.Millisecond
	c.wakeMS = uint32(min(max(ms, 0), math.MaxUint32))
}

// lastAt returns the time at which the last datagram was sent.
func (c *clock) lastAt() time.Duration { return c.at(c.sentUS) }

// at returns the time us µs after the first datagram.
func (c *clock) at(us uint32) time.Duration { return c.firstAt + time.Duration(us)*time.Microsecond }

// since returns the time from us µs after the first datagram until now, at least a
// microsecond. The time at which a request left is not known exactly, so the answer
// may seem to come before the request.
func (c *clock) since(us uint32, now time.Duration) time.Duration {
	return max(now-c.at(us), time.Microsecond)
}

// sent records that a datagram was sent.
func (c *clock) sent(now time.Duration) {
	c.sentUS = uint32(min((now-c.firstAt)/time.Microsecond, math.MaxUint32))
}

// trips are the round trips of a server that answers.
type trips struct {
	first  time.Duration                    // of the first question asked once and answered
	each   [wire.NumQuestions]time.Duration // of each question asked once and answered
	sentUS [wire.NumRequests]uint32         // µs after firstAt of the session: when each was sent last

	asked   [wire.NumQuestions]uint32 // µs after firstAt of the session: when each was sent first, with this challenge
	late    time.Duration             // the least that the round trip can be, if several requests were sent before something came
	took    time.Duration             // from asked to the answer that came just now
	unsure  bool                      // the answer came after several requests, and may belong to any of them
	doubled bool                      // a copy of that answer came
}

// again records that a copy of a reply came. A copy brings nothing new, but shows
// which request the reply answered.
func (t *trips) again() { t.doubled = t.unsure }

// sent records the time at which qs were last sent.
func (t *trips) sent(qs Questions, us uint32) {
	for q := range each(qs) {
		t.sentUS[q] = us
	}
}

// begin records the time at which qs were first sent with the current challenge.
func (t *trips) begin(qs Questions, us uint32) {
	for q := range each(qs) {
		t.asked[q] = us
	}
}

// hints hold what the datagrams so far reveal about a server.
type hints struct {
	heard   Questions     // something came in reply to them: see extraAsks
	keyed   Questions     // sent with a challenge, at least once
	openly  Questions     // part of their answer came to a request without a challenge
	slow    uint8         // waits in a row in which nothing came, after a question that was asked slowly
	goldEnd time.Duration // when an 'I' after an 'm' is no longer waited for
}

// unpacking counts a server's replies in the decompressor.
type unpacking struct {
	packed   uint8      // replies there now
	unpacked uint8      // replies that ever were there
	refused  bool       // the decompressor had no room for a reply
	err      wire.Error // the last error of the decompressor; 0: none yet
}

// begin gives the session an empty answer for what it receives from now on. It is
// called before the first datagram of the server becomes an event. remembered is the
// challenge of the target's label, or NoChallenge.
func (s *session) begin(a *answer, remembered wire.Challenge) {
	s.got = a
	a.challenges.current = wire.NoChallenge
	if remembered != wire.NoChallenge {
		a.hints.keyed = AskInfo // even if a later attempt was without it
	}
	if s.beside&besideKeyed != 0 {
		a.challenges.current, a.challenges.origin = remembered, AskInfo
	}
	a.suspicion.stranger = s.beside&besideStranger != 0
	for q := range each(s.agenda.asked) {
		a.suspicion.requests += s.agenda.attempts[q] - b2u8(s.agenda.due.Has(q))
	}
	for q := range a.trips.sentUS { // only one request was waited for
		a.trips.sentUS[q] = s.clock.sentUS
	}
	if s.beside&besideBlind != 0 {
		s.beside &^= besideBlind
		s.agenda.blindToPlayers()
		a.trips.asked[wire.QuestionPlayers] = s.clock.sentUS
	}
}

// serial reports whether only one question is asked at a time.
func (s *session) serial() bool {
	return s.flags&flagSerial != 0 || s.got != nil && s.got.challenges.single
}

// unpacking reports whether a reply of the server is in the decompressor.
func (s *session) unpacking() bool { return s.got != nil && s.got.unpacking.packed > 0 }

// verdict says whether an event brought anything new.
type verdict bool

const (
	used    verdict = true
	useless verdict = false // a duplicate, or too late
)

// came records that a datagram came, presumably in reply to one under way.
func (s *session) came() {
	s.flags &^= flagRefused | flagRetried
	s.flying -= b2u8(s.flying > 0)
}

// onReply takes an answer to q: 'I', 'D' or 'E'. code is 0 or ErrTruncated, which
// close the question, or another error, which leaves it open. The first usable answer
// counts, also for a question that was given up or never asked.
func (s *session) onReply(now time.Duration, q wire.Question, code wire.Error) verdict {
	s.came()
	if code != 0 && code != wire.ErrTruncated {
		s.agenda.fault(1<<q, code)
		return used
	}
	if !s.wants(q, code) {
		return useless
	}
	if q == wire.QuestionInfo {
		s.flags &^= flagGold
	}
	s.close(now, q, code)
	return used
}

// measure records the round trip of a question that was asked once and answered. A
// reply to a question that was repeated, or sent with several challenges, does not
// show a round trip.
func (s *session) measure(now time.Duration, q wire.Question) {
	a := s.got
	if s.agenda.waiting.Has(q) {
		a.trips.took = s.clock.since(a.trips.asked[q], now)
	}
	if s.agenda.attempts[q] != 1 || !s.agenda.waiting.Has(q) || a.challenges.resent.Has(q) {
		return
	}
	trip := s.clock.since(s.got.trips.sentUS[q], now)
	if a.trips.each[q] == 0 {
		a.trips.each[q] = trip
	}
	if a.trips.first == 0 {
		a.trips.first = trip
	}
	a.suspicion.trip(trip)
}

// onAppID notes what the application ID reveals: servers of some games have to be
// asked differently.
func (s *session) onAppID(id uint32) {
	if id == csgoAppID {
		s.flags |= flagCSGO
	}
	s.got.challenges.getFirst = wire.GivesChallengeOnRequest(id)
}

// wants reports whether an answer to q that was decoded with the error code would be
// of use: q is open, or was given up, or has only a truncated answer or an 'm'. A
// truncated 'I' is no better than a complete 'm'.
func (s *session) wants(q wire.Question, code wire.Error) bool {
	switch {
	case s.agenda.open.Has(q):
		return true
	case q == wire.QuestionInfo && s.flags&flagGold != 0:
		return code == 0 || s.agenda.err[q] != 0
	}
	return s.agenda.err[q] != 0 && (code == 0 || s.agenda.err[q] != code)
}

// onGold takes an 'm' that was decoded with the error code. A usable 'm' answers INFO,
// but an 'I' may still replace it.
func (s *session) onGold(now time.Duration, code wire.Error) verdict {
	s.came()
	if code != 0 && code != wire.ErrTruncated {
		s.agenda.fault(AskInfo, code)
		return used
	}
	if !s.agenda.open.Has(wire.QuestionInfo) {
		return useless
	}
	s.close(now, wire.QuestionInfo, code)
	s.flags |= flagGold
	s.got.hints.goldEnd = now + max(minGold, s.got.trips.first/2)
	return used
}

// onFragment records that part of an answer came. If only one question is waited for,
// the part belongs to that question.
func (s *session) onFragment() {
	s.flags |= flagSplit
	s.flags &^= flagBurst | flagRefused | flagRetried
	s.quiet = 0
	qs := s.agenda.silent()
	s.got.hints.heard |= qs
	if qs == lowest(qs) {
		s.agenda.fault(qs, wire.ErrIncomplete)
		if s.agenda.asked == qs { // otherwise the fragment may be part of a late answer
			s.got.hints.openly |= qs & openly(s)
		}
	}
}

// onConflict takes a fragment that contradicts its group: this server gives several
// replies the same ID, so the open questions are asked again one by one.
func (s *session) onConflict() {
	s.flags |= flagSplit
	if s.flags&flagSerial != 0 || s.agenda.open == 0 {
		return
	}
	s.flags |= flagSerial
	s.agenda.hold()
	s.flying = 0
}

// onLimited takes an 'X': the server asks us to slow down (EC-21).
func (s *session) onLimited() {
	s.came()
	s.flags |= flagSerial | flagLimited
	s.flags &^= flagSuspect
	s.agenda.fault(s.agenda.open, wire.ErrRateLimited)
	s.agenda.hold()
}

// onBanned takes an 'l': nothing more will come (EC-22).
func (s *session) onBanned() {
	s.came()
	s.agenda.giveUpAll(wire.ErrBanned)
}

// onJunk takes a datagram that answers nothing. The wait goes on; if no answer
// comes, code is the reason.
func (s *session) onJunk(code wire.Error) {
	s.came()
	s.agenda.fault(s.agenda.silent(), code)
}

// onSent records that qs were sent.
func (s *session) onSent(now time.Duration, qs Questions) {
	if s.agenda.asked == 0 {
		s.clock.firstAt = now
	}
	s.clock.sent(now)
	bare := qs.status()
	if s.beside&besideKeyed != 0 {
		bare = 0
	}
	if s.got != nil {
		bare = s.got.challenges.without(bare)
		s.got.hints.keyed |= qs.status() &^ bare
		s.got.challenges.echoed = false
		s.got.suspicion.sent(qs)
		s.got.trips.sent(qs&^verifyAll, s.clock.sentUS)
		if s.flags&flagRepeat == 0 {
			s.got.trips.begin(qs.status(), s.clock.sentUS)
		}
	}
	s.flying += uint8(bits.OnesCount8(uint8(qs.status())))
	s.agenda.sent(qs, bare)
	if s.flags&flagRefused != 0 {
		s.flags |= flagRetried
	}
}

// onUnreachable takes an ICMP error: nothing listens. The first one is not
// final, as the port may open a moment later. The second one is, if it came
// after another datagram was sent.
func (s *session) onUnreachable() {
	if s.flags&flagRetried == 0 {
		s.flags |= flagRefused
		return
	}
	s.agenda.waiting &^= aside
	s.agenda.giveUpAll(wire.ErrUnreachable)
}

// onSendFailed gives up q, which could not be sent.
func (s *session) onSendFailed(q wire.Question) {
	s.agenda.due &^= 1 << q
	if s.agenda.open.Has(q) {
		s.agenda.giveUp(q, wire.ErrSendFailed)
	}
}

// onExcluded gives up all open questions, because nothing more may be sent to the
// server.
func (s *session) onExcluded() {
	s.agenda.due = 0
	s.agenda.giveUpAll(wire.ErrExcluded)
}

// onPong takes the answer to a ping. It is no answer to any of the questions.
func (s *session) onPong() verdict {
	s.flags &^= flagRefused | flagRetried
	if s.beside&besidePing == 0 || s.beside&besidePong != 0 {
		return useless
	}
	s.beside |= besidePong
	s.agenda.waiting &^= AskPing
	return used
}

// ask makes qs due and counts one more attempt for each.
func (s *session) ask(qs Questions) {
	s.agenda.ask(qs)
	s.flags &^= flagRepeat
}

// close closes q with its answer, which may be truncated.
func (s *session) close(now time.Duration, q wire.Question, code wire.Error) {
	s.measure(now, q)
	// bare: the answer certainly belongs to a request without a challenge, also if its fragments
	// began to arrive in reply to such a request.
	asked := s.agenda.asked.Has(q)
	bare := asked && (openly(s)|s.got.hints.openly).Has(q) || !asked && s.challenge() == wire.NoChallenge
	s.got.suspicion.answer(q, bare, asked)
	s.agenda.giveUp(q, code)
	s.beside &^= besideKeyed // the server accepted the challenge, or needs none
	s.got.suspicion.answered |= s.agenda.asked & (1 << q)
	s.quiet, s.got.hints.slow = 0, 0
	s.flags |= flagAnswered
	s.flags &^= flagBurst
}

// silence returns the error to record for a question that is given up.
func (s *session) silence(q wire.Question) wire.Error {
	switch {
	case s.agenda.err[q] != 0:
		return s.agenda.err[q]
	case s.got != nil && s.got.challenges.same >= maxRounds:
		return wire.ErrChallengeLoop
	}
	return wire.ErrTimeout
}
