package scanner

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// This file is the conversation with one server as a pure step: an event in,
// what to send and when to wake up out. It has no socket, no clock and no
// memory of its own, so that whole conversations stand as text files in
// testdata/session. What must be known only once something came stands in the
// answer, so that a server that is silent, as most of a network is, takes
// little room.
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

// Limits of a conversation. They are ours; the reasons are the server's.
const (
	maxRounds   = 4                       // challenges a question, then challenge_loop (EC-2)
	serialGap   = 1200 * time.Millisecond // servers that allow one query a second are common (FORMATS 4.4)
	minGold     = 50 * time.Millisecond   // how long an 'I' may come after its 'm' (EC-63)
	extraAsks   = 2                       // for a question of which something came
	slowAsks    = 2                       // silent ones in a row, and it isn't a limit
	csgoAsks    = 2                       // RULES of app 730 mostly never come (EC-99)
	csgoAppID   = 730
	freshFor    = 5 * time.Second  // some servers drop an older challenge in silence (EC-14)
	maxRTTWait  = 10 * time.Second // no round trip makes us wait longer than that
	muchEarlier = 5 * time.Millisecond
	packedWait  = 50 * time.Millisecond
	maxPacked   = 2  // a server's replies in the decompressor: players and rules
	maxUnpacked = 16 // of a server in all: both, asked as often as by default, and a few more
)

// sessionFlags are the yes and no of a conversation.
type sessionFlags uint16

const (
	flagRefused  sessionFlags = 1 << iota // ICMP said that nothing listens, and nothing came since
	flagChanged                           // a second challenge replaced the first
	flagSerial                            // one question at a time
	flagLimited                           // serialGap apart
	flagSuspect                           // the limit is a guess of ours
	flagGold                              // an 'm' came, and no 'I' yet
	flagBurst                             // sent together after an 'A', and silent since
	flagCSGO                              // app 730
	flagDone                              // every question is answered or given up
	flagSplit                             // fragments came: the reassembly table may hold some
	flagQueued                            // waits in a queue of the sender
	flagRepeat                            // what is due is a repetition
	flagAnswered                          // a question was answered
	flagRetried                           // something was sent after flagRefused
	flagHeld                              // a challenge came that is answered once nothing is under way
	flagGSO                               // players and rules were asked for in one piece, and the wait for them goes on
)

// besides are the yes and no of what is asked beside the three questions.
type besides uint8

const (
	besidePing     besides = 1 << iota // a ping was asked for
	besidePong                         // its answer came
	besideGet                          // a challenge was asked for by itself: GETCHALLENGE
	besideFallback                     // INFO was ignored: PLAYER and ping are the last attempt
	besideVerify                       // INFO was asked for once more, as the first answer may be forged
	besideVerified                     // and that was answered
)

// session is the state of one conversation.
type session struct {
	got     *answer       // what came; nil while nothing did
	firstAt time.Duration // first datagram sent
	wakeMS  uint32        // ms after firstAt: when tick wants to be called; 0: not at all
	sentUS  uint32        // µs after firstAt: last datagram sent
	flags   sessionFlags

	open    Questions // neither answered nor given up
	asked   Questions // sent at least once
	due     Questions // to be sent as soon as the rate allows
	waiting Questions // sent, and silent so far
	bare    Questions // last sent without a challenge
	beside  besides   // what was done beside the three questions
	quiet   uint8     // waits in a row in which nothing came
	flying  uint8     // datagrams sent that nothing came back for, as far as can be known

	attempts [wire.NumQuestions]uint8      // sent, challenge rounds not counted
	err      [wire.NumQuestions]wire.Error // why it is closed without a whole answer; while open: the fault seen last
}

// dialog is the part of a conversation that begins when something comes. It
// stands in the answer.
type dialog struct {
	rtt          time.Duration                    // of the first question asked once and answered
	rtts         [wire.NumQuestions]time.Duration // of each
	unchallenged Questions                        // answered, in part at least, to a request without a challenge

	challenge wire.Challenge           // in use; NoChallenge: none yet
	origin    Questions                // those that it may have been the reply to
	seenAt    time.Duration            // when it, or one of a question's own, came last
	single    bool                     // each question has a challenge of its own: see own
	sentUS    [wire.NumRequests]uint32 // µs after firstAt: when each was sent last
	goldEnd   time.Duration            // when an 'I' after an 'm' is no longer waited for

	heard    Questions // something came of them: extraAsks
	resent   Questions // sent with several challenges: which one is answered can't be told
	openly   Questions // part of their answer came to a request without a challenge
	packed   uint8     // replies in the decompressor
	unpacked uint8     // replies that ever were there
	echoed   bool      // the challenge in use came since the last datagram sent
	same     uint8     // sendings that were answered by the challenge in use
	slow     uint8     // waits in a row in which nothing came, after a question that was asked slowly

	unpackErr wire.Error // what the decompressor found wrong last; 0: nothing yet

	rounds [wire.NumQuestions]uint8 // challenges in answer to each

	// For finding forged replies: each datagram sent is answered once at most.
	requests   uint8             // datagrams sent, pings not counted
	challenges uint8             // those that came back
	answered   Questions         // the questions answered after they were asked
	unasked    Questions         // the questions answered before they were asked
	early      Questions         // the questions answered before that could be expected
	conflict   bool              // a reply contradicts another
	values     [8]wire.Challenge // that came last
	oldest     uint8             // in values
	repeated   wire.Challenge    // the last one that came more than once
	twice      bool              // there is one
	pinned     bool              // no other is used any more
	verifyEnd  time.Duration

	get      Questions // to be asked by GETCHALLENGE
	getFirst bool      // the game is one whose servers want that

	fresh   Questions                         // to be sent without a challenge, to get one of their own
	renewed Questions                         // that was tried, or is of no use
	owned   Questions                         // those with a challenge of their own
	own     [wire.NumQuestions]wire.Challenge // theirs
}

// begin keeps in a what comes from now on. It is called before the first event
// that a datagram of the server is; a is empty.
func (s *session) begin(a *answer) {
	s.got = a
	a.challenge = wire.NoChallenge
	for q := range each(s.asked) {
		a.requests += s.attempts[q] - b2u8(s.due.Has(q))
	}
	for q := range a.sentUS { // only one was waited for
		a.sentUS[q] = s.sentUS
	}
}

// serial reports whether only one question is asked at a time.
func (s *session) serial() bool {
	return s.flags&flagSerial != 0 || s.got != nil && s.got.single
}

// unpacking reports whether an answer may be in the decompressor.
func (s *session) unpacking() bool { return s.got != nil && s.got.packed > 0 }

// wake is when tick wants to be called; 0: not at all.
func (s *session) wake() time.Duration {
	if s.wakeMS == 0 {
		return 0
	}
	return s.firstAt + time.Duration(s.wakeMS)*time.Millisecond
}

// wakeAt has tick called at a time, or less than a millisecond later.
func (s *session) wakeAt(at time.Duration) {
	ms := (at - s.firstAt + time.Millisecond - 1) / time.Millisecond
	s.wakeMS = uint32(min(max(ms, 0), math.MaxUint32))
}

// verdict is what an event was worth.
type verdict bool

const (
	used    verdict = true  // it brought something new
	useless verdict = false // a duplicate, or too late
)

// start opens the conversation: the first question is due.
func (s *session) start(p *plan) {
	*s = session{open: p.questions.status()}
	s.ask(lowest(s.open))
}

// came notes that a datagram came, for one of those under way.
func (s *session) came() {
	s.flags &^= flagRefused | flagRetried
	s.flying -= b2u8(s.flying > 0)
}

// onReply takes an answer to q: 'I', 'D' or 'E'. code is 0 or ErrTruncated,
// which close the question, or a fault that leaves it open. The first usable
// answer counts, also for a question that was given up or never asked.
func (s *session) onReply(now time.Duration, q wire.Question, code wire.Error) verdict {
	s.came()
	if code != 0 && code != wire.ErrTruncated {
		s.fault(1<<q, code)
		return used
	}
	if !s.wants(q, code) {
		return useless
	}
	if q == wire.QuestionInfo {
		s.flags &^= flagGold
	}
	s.measure(now, q)
	s.noteUnchallenged(q)
	s.close(q, code)
	return used
}

// measure takes the round trip of a question that was asked once and answered: a
// reply to a repeated question is not a round trip, nor is one to a question that
// was sent with several challenges.
func (s *session) measure(now time.Duration, q wire.Question) {
	a := s.got
	if s.attempts[q] != 1 || !s.waiting.Has(q) || a.resent.Has(q) {
		return
	}
	trip := now - s.sent(q)
	if a.rtts[q] == 0 {
		a.rtts[q] = trip
	}
	if a.rtt == 0 {
		a.rtt = trip
	} else if trip+muchEarlier < a.rtt && 2*trip < a.rtt {
		a.early |= 1 << q
	}
}

// onAppID takes the application ID, by which some servers are asked differently.
func (s *session) onAppID(id uint32) {
	if id == csgoAppID {
		s.flags |= flagCSGO
	}
	s.got.getFirst = wire.GivesChallengeOnRequest(id)
}

// wants reports whether an answer to q would be of use: it is open, or was
// given up, or a truncated answer or an 'm' is all there is. A truncated 'I' is
// no better than a whole 'm'.
func (s *session) wants(q wire.Question, code wire.Error) bool {
	switch {
	case s.open.Has(q):
		return true
	case q == wire.QuestionInfo && s.flags&flagGold != 0:
		return code == 0 || s.err[q] != 0
	}
	return s.err[q] != 0 && (code == 0 || s.err[q] != code)
}

// onGold takes an 'm': INFO is answered, but an 'I' may still replace it.
func (s *session) onGold(now time.Duration, code wire.Error) verdict {
	s.came()
	if code != 0 && code != wire.ErrTruncated {
		s.fault(AskInfo, code)
		return used
	}
	if !s.open.Has(wire.QuestionInfo) {
		return useless
	}
	s.measure(now, wire.QuestionInfo)
	s.noteUnchallenged(wire.QuestionInfo)
	s.flags |= flagGold
	s.got.goldEnd = now + max(minGold, s.got.rtt/2)
	s.close(wire.QuestionInfo, code)
	return used
}

// onFragment notes that part of an answer came. Where one question alone is
// waited for, it is that one's.
func (s *session) onFragment() {
	s.flags |= flagSplit
	s.flags &^= flagBurst | flagRefused | flagRetried
	s.quiet = 0
	qs := s.waiting & s.open
	s.got.heard |= qs
	if qs == lowest(qs) {
		s.fault(qs, wire.ErrIncomplete)
		if s.asked == qs { // else they may be of an answer that is late
			s.got.openly |= qs & s.bare
		}
	}
}

// onConflict takes a fragment that contradicts its group: this server gives
// several replies one ID, so what is open is asked again one by one.
func (s *session) onConflict() {
	s.flags |= flagSplit
	if s.flags&flagSerial != 0 || s.open == 0 {
		return
	}
	s.flags |= flagSerial
	s.waiting &= aside
	s.due &= aside
	s.flying = 0
}

// onLimited takes an 'X': the server asks us to slow down (EC-21).
func (s *session) onLimited() {
	s.came()
	s.flags |= flagSerial | flagLimited
	s.flags &^= flagSuspect
	s.fault(s.open, wire.ErrRateLimited)
	s.due &= aside
	s.waiting &= aside
}

// onBanned takes an 'l': nothing more will come (EC-22).
func (s *session) onBanned() {
	s.came()
	for q := range each(s.open) {
		s.giveUp(q, wire.ErrBanned)
	}
}

// onJunk takes a datagram that answers nothing: what is waited for goes on
// being waited for, and if it never comes this is why.
func (s *session) onJunk(code wire.Error) {
	s.came()
	s.fault(s.waiting&s.open, code)
}

// onSent notes that qs went out, with the challenge in use.
func (s *session) onSent(p *plan, now time.Duration, qs Questions) {
	if s.asked == 0 {
		s.firstAt = now
	}
	s.sentUS = uint32(min((now-s.firstAt)/time.Microsecond, math.MaxUint32))
	if s.got != nil {
		s.got.echoed = false
		s.got.requests += b2u8(qs&^AskPing != 0 && s.got.requests < math.MaxUint8)
		for q := range each(qs &^ verifyInfo) {
			s.got.sentUS[q] = s.sentUS
		}
	}
	s.asked |= qs.status()
	s.due &^= qs
	s.waiting |= qs
	s.flying += uint8(bits.OnesCount8(uint8(qs.status())))
	s.bare &^= qs
	for q := range each(qs.status()) {
		if s.challengeFor(q) == wire.NoChallenge {
			s.bare |= 1 << q
		}
	}
	if s.flags&flagRefused != 0 {
		s.flags |= flagRetried
	}
	s.wakeAt(now + s.timeout(p))
}

// onUnreachable takes an ICMP error: nothing listens. The first one is not
// final, as the port may open a moment later. The second one is, if it came
// after another datagram was sent.
func (s *session) onUnreachable() {
	if s.flags&flagRetried == 0 {
		s.flags |= flagRefused
		return
	}
	s.waiting &^= aside
	for q := range each(s.open) {
		s.giveUp(q, wire.ErrUnreachable)
	}
}

// onSendFailed takes the news that q could not be sent.
func (s *session) onSendFailed(q wire.Question) {
	s.due &^= 1 << q
	if s.open.Has(q) {
		s.giveUp(q, wire.ErrSendFailed)
	}
}

// onExcluded takes the news that the server is to be sent nothing more.
func (s *session) onExcluded() {
	s.due = 0
	for q := range each(s.open) {
		s.giveUp(q, wire.ErrExcluded)
	}
}

// looped reports whether a question was given up for too many challenges. If some
// of them were forged, the answer to one of the others may come yet.
func (s *session) looped() bool { return slices.Contains(s.err[:], wire.ErrChallengeLoop) }

// onPong takes the answer to a ping. It is no answer to any of the questions.
func (s *session) onPong() verdict {
	s.flags &^= flagRefused | flagRetried
	if s.beside&besidePing == 0 || s.beside&besidePong != 0 {
		return useless
	}
	s.beside |= besidePong
	s.waiting &^= AskPing
	return used
}

// sent is when q was sent last, of a server of which something came.
func (s *session) sent(q wire.Question) time.Duration {
	return s.firstAt + time.Duration(s.got.sentUS[q])*time.Microsecond
}

// lastAt is when the last datagram was sent.
func (s *session) lastAt() time.Duration {
	return s.firstAt + time.Duration(s.sentUS)*time.Microsecond
}
