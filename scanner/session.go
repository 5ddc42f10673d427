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

// status returns those of the set that make up a status.
func (s Questions) status() Questions { return s & AskAll }

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

// challenge is the one in use.
func (s *session) challenge() wire.Challenge {
	if s.got == nil {
		return wire.NoChallenge
	}
	return s.got.challenge
}

// challengeFor is the one to send q with.
func (s *session) challengeFor(q wire.Question) wire.Challenge {
	switch {
	case s.got == nil || s.got.fresh.Has(q):
		return wire.NoChallenge
	case s.got.owned.Has(q):
		return s.got.own[q]
	}
	return s.got.challenge
}

// verifyInfo is INFO once more, when it has an answer already. As a question of
// which a request is due it has the number behind the last one.
const (
	questionVerify = wire.Question(wire.NumRequests)
	verifyInfo     = Questions(1 << questionVerify)
	aside          = AskPing | verifyInfo // what may be due and is not open
)

// requestFor is the request to send for q: GETCHALLENGE may stand in for it.
func (s *session) requestFor(q wire.Question) wire.Question {
	if q == questionVerify {
		return wire.QuestionInfo
	}
	if s.got != nil && s.got.get.Has(q) {
		return wire.QuestionChallenge
	}
	return q
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

// onChallenge takes an 'A'. A challenge round is no retry.
func (s *session) onChallenge(now time.Duration, c wire.Challenge) verdict {
	s.came()
	s.countChallenge(c)
	switch a := s.got; {
	case s.pin():
		return used
	case s.open == 0 || a.pinned:
		return useless
	case a.single:
		return s.onOwnChallenge(now, c)
	case c == a.challenge:
		a.seenAt = now
		s.echoed()
		return useless
	}
	first := s.replaceChallenge(now, c)
	if s.flags&flagHeld != 0 && s.flying > 0 {
		return used
	}
	if s.countRound((s.waiting | s.due) & s.open); !s.pin() {
		s.useChallenge(first)
	}
	return used
}

// replaceChallenge takes c for the challenge in use. It reports whether it is the
// first one.
func (s *session) replaceChallenge(now time.Duration, c wire.Challenge) (first bool) {
	a := s.got
	s.quiet = 0
	qs := s.waiting & s.open
	if qs == lowest(qs) {
		a.openly &^= qs // the fragments were this challenge
	}
	if first = a.challenge == wire.NoChallenge; !first {
		a.resent |= s.waiting
	}
	a.challenge, a.origin, a.seenAt, a.get = c, qs, now, 0
	return first
}

// useChallenge has what is open sent with the challenge that came.
func (s *session) useChallenge(first bool) {
	switch {
	case s.open == 0:
	case s.flags&flagLimited != 0:
		s.postpone()
	case s.flags&(flagChanged|flagSerial) == 0:
		if !first {
			s.flags |= flagChanged
		}
		s.resend(s.open)
	default:
		s.flags |= flagSerial | flagHeld
		s.flags &^= flagBurst
	}
}

// countChallenge counts an 'A' among the replies that the server can have sent.
// One that comes when every datagram is answered, none of them by an 'A', is the
// answer to a question that has another answer.
func (s *session) countChallenge(c wire.Challenge) {
	a := s.got
	first := a.challenges == 0
	a.challenges += b2u8(a.challenges < math.MaxUint8)
	a.remember(c)
	if s.open == 0 && a.challenge == wire.NoChallenge {
		a.challenge = c // to verify INFO with
	}
	if first && s.surplus() && a.unchallenged != 0 && !a.unchallenged.Has(wire.QuestionInfo) {
		s.onContradiction()
	}
}

// surplus reports whether more replies came than requests went out. A server
// sends one reply to each request, so either the network doubled a challenge, or
// one of the replies is forged.
func (s *session) surplus() bool {
	a := s.got
	return a.challenges > 0 && int(a.challenges)+bits.OnesCount8(uint8(a.answered)) > int(a.requests)
}

// onContradiction takes the news that two replies contradict each other: one may
// be forged, so they tell nothing about the server's challenges.
func (s *session) onContradiction() { s.got.conflict = true }

// onInfoAgain takes a second answer to INFO.
func (s *session) onInfoAgain() {
	if s.beside&besideVerify != 0 {
		s.beside |= besideVerified
		s.waiting &^= verifyInfo
	}
}

// onOwnChallenge takes an 'A' where each question has a challenge of its own.
// An 'A' names no question: it answers the only one that is waited for.
func (s *session) onOwnChallenge(now time.Duration, c wire.Challenge) verdict {
	a := s.got
	qs := s.waiting & s.open
	if qs == 0 {
		return useless
	}
	q := wire.Question(bits.TrailingZeros8(uint8(qs)))
	asked := a.fresh.Has(q)
	switch {
	case asked && c == a.challenge:
		s.oneForAll(qs)
	case !asked && c == s.challengeFor(q):
		s.echoed()
		return useless
	case !asked:
		s.countRound(qs)
	default:
		a.heard |= qs
	}
	a.seenAt = now
	a.fresh &^= qs
	a.own[q] = c
	a.owned |= qs
	s.quiet = 0
	s.waiting &= aside
	s.due |= qs & s.open
	s.flags &^= flagRepeat
	return used
}

// oneForAll takes the news that the server's challenge is the one that was
// dropped in silence: the silence has another reason. What is open is asked
// together again.
func (s *session) oneForAll(challenged Questions) {
	s.got.single = false
	s.got.fresh = 0
	s.got.renewed = AskAll
	if !s.serial() {
		rest := s.open &^ challenged
		s.askNew(rest)
		s.due |= rest
	}
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

// renew has each of qs asked for a challenge of its own, one at a time.
func (s *session) renew(qs Questions) {
	s.got.single = true
	s.got.fresh |= qs
	s.got.renewed |= qs
}

// rarelyAnswered reports whether q is mostly never answered: RULES of app 730
// (EC-99).
func (s *session) rarelyAnswered(q wire.Question) bool {
	return q == wire.QuestionRules && s.flags&flagCSGO != 0
}

// echoed counts the challenge in use when it comes as the answer to a request
// that bore it: once for all that was sent together, so that late copies of it
// don't look like a server that knows nothing else.
func (s *session) echoed() {
	if !s.got.echoed {
		s.got.echoed = true
		s.got.same += b2u8(s.got.same < maxRounds)
	}
}

// countRound counts a challenge for each of qs and gives up those that were
// challenged too often.
func (s *session) countRound(qs Questions) {
	s.got.heard |= qs
	for q := range each(qs) {
		if s.got.rounds[q]++; s.got.rounds[q] > maxRounds {
			s.giveUp(q, wire.ErrChallengeLoop)
		}
	}
}

// pin takes a challenge that came more than once for the server's own, and all
// others for forged ones, where a question was given up for too many of them. What
// has no answer is asked again, together, and no other challenge is used any more.
func (s *session) pin() bool {
	a := s.got
	if !a.twice || a.pinned || !s.looped() {
		return false
	}
	a.pinned, a.single = true, false
	a.challenge, a.fresh, a.owned = a.repeated, 0, 0
	s.flags &^= flagHeld
	for q := range each(AskAll) {
		if s.err[q] == wire.ErrChallengeLoop {
			s.open |= 1 << q
			s.err[q] = 0
		}
	}
	s.resend(s.open)
	return true
}

// remember notes the value of an 'A', and whether it came before.
func (a *dialog) remember(c wire.Challenge) {
	n := min(int(a.challenges)-1, len(a.values))
	if slices.Contains(a.values[:n], c) {
		a.repeated, a.twice = c, true
		return
	}
	a.values[a.oldest] = c
	a.oldest = (a.oldest + 1) % uint8(len(a.values))
}

// resend makes qs due with the challenge that came: those that were asked
// before are not counted as asked again.
func (s *session) resend(qs Questions) {
	s.askNew(qs &^ (s.asked | s.due))
	s.due |= qs
	s.waiting &= aside
	s.flags |= flagBurst
	s.flags &^= flagRepeat
}

// postpone has what was challenged asked again when its time has come, without
// counting it as asked again.
func (s *session) postpone() {
	for q := range each((s.waiting | s.due) & s.open) {
		s.attempts[q] -= b2u8(s.attempts[q] > 0)
	}
	s.waiting &= aside
	s.due &= aside
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

// noteUnchallenged notes whether the answer to q that comes now answers a request
// that bore no challenge.
func (s *session) noteUnchallenged(q wire.Question) {
	if s.withoutChallenge(q) {
		s.got.unchallenged |= 1 << q
	} else {
		s.got.unchallenged &^= 1 << q
	}
	if !s.asked.Has(q) {
		s.got.early |= 1 << q
		s.got.unasked |= 1 << q
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

// looped reports whether a question was given up for too many challenges. If some
// of them were forged, the answer to one of the others may come yet.
func (s *session) looped() bool { return slices.Contains(s.err[:], wire.ErrChallengeLoop) }

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

// ask makes qs due and counts them as asked once more.
func (s *session) ask(qs Questions) {
	s.askNew(qs)
	s.due |= qs
	s.flags &^= flagRepeat
}

func (s *session) askNew(qs Questions) {
	for q := range each(qs) {
		s.attempts[q] += b2u8(s.attempts[q] < 255)
	}
}

func (s *session) fault(qs Questions, code wire.Error) {
	for q := range each(qs & s.open) {
		s.err[q] = code
	}
}

func (s *session) close(q wire.Question, code wire.Error) {
	s.open &^= 1 << q
	s.err[q] = code
	s.got.answered |= s.asked & (1 << q)
	s.quiet, s.got.slow = 0, 0
	s.flags |= flagAnswered
	s.flags &^= flagBurst
}

func (s *session) giveUp(q wire.Question, code wire.Error) {
	s.open &^= 1 << q
	s.err[q] = code
}

func (s *session) closeAll() {
	for q := range each(s.open) {
		s.giveUp(q, s.silence(q))
	}
}

// silence is the reason to write for a question that is given up.
func (s *session) silence(q wire.Question) wire.Error {
	switch {
	case s.err[q] != 0:
		return s.err[q]
	case s.got != nil && s.got.same >= maxRounds:
		return wire.ErrChallengeLoop
	}
	return wire.ErrTimeout
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

// withoutChallenge reports whether an answer to q that comes now answers a
// request that bore no challenge, or the fragments of an earlier one did.
func (s *session) withoutChallenge(q wire.Question) bool {
	if !s.asked.Has(q) {
		return s.challenge() == wire.NoChallenge
	}
	return (s.bare | s.got.openly).Has(q)
}

// sent is when q was sent last, of a server of which something came.
func (s *session) sent(q wire.Question) time.Duration {
	return s.firstAt + time.Duration(s.got.sentUS[q])*time.Microsecond
}

// lastAt is when the last datagram was sent.
func (s *session) lastAt() time.Duration {
	return s.firstAt + time.Duration(s.sentUS)*time.Microsecond
}

// lowest returns the first question of qs, as a set.
func lowest(qs Questions) Questions { return qs & -qs }

// each yields the questions of qs in order.
func each(qs Questions) func(yield func(wire.Question) bool) {
	return func(yield func(wire.Question) bool) {
		for ; qs != 0; qs &= qs - 1 {
			if !yield(wire.Question(bits.TrailingZeros8(uint8(qs)))) {
				return
			}
		}
	}
}

func b2u8(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
