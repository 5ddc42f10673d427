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
// testdata/talk. What must be known only once something came stands in the
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

// talkFlags are the yes and no of a conversation.
type talkFlags uint16

const (
	flagRefused  talkFlags = 1 << iota // ICMP said that nothing listens, and nothing came since
	flagChanged                        // a second challenge replaced the first
	flagSerial                         // one question at a time
	flagLimited                        // serialGap apart
	flagSuspect                        // the limit is a guess of ours
	flagGold                           // an 'm' came, and no 'I' yet
	flagBurst                          // sent together after an 'A', and silent since
	flagCSGO                           // app 730
	flagDone                           // every question is answered or given up
	flagSplit                          // fragments came: the reassembly table may hold some
	flagQueued                         // waits in a queue of the sender
	flagRepeat                         // what is due is a repetition
	flagAnswered                       // a question was answered
	flagRetried                        // something was sent after flagRefused
	flagHeld                           // a challenge came that is answered once nothing is under way
	flagGSO                            // players and rules were asked for in one piece, and the wait for them goes on
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

// talk is the state of one conversation.
type talk struct {
	got     *answer       // what came; nil while nothing did
	firstAt time.Duration // first datagram sent
	wakeMS  uint32        // ms after firstAt: when tick wants to be called; 0: not at all
	sentUS  uint32        // µs after firstAt: last datagram sent
	flags   talkFlags

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
func (t *talk) begin(a *answer) {
	t.got = a
	a.challenge = wire.NoChallenge
	for q := range each(t.asked) {
		a.requests += t.attempts[q] - b2u8(t.due.Has(q))
	}
	for q := range a.sentUS { // only one was waited for
		a.sentUS[q] = t.sentUS
	}
}

// challenge is the one in use.
func (t *talk) challenge() wire.Challenge {
	if t.got == nil {
		return wire.NoChallenge
	}
	return t.got.challenge
}

// challengeFor is the one to send q with.
func (t *talk) challengeFor(q wire.Question) wire.Challenge {
	switch {
	case t.got == nil || t.got.fresh.Has(q):
		return wire.NoChallenge
	case t.got.owned.Has(q):
		return t.got.own[q]
	}
	return t.got.challenge
}

// verifyInfo is INFO once more, when it has an answer already. As a question of
// which a request is due it has the number behind the last one.
const (
	questionVerify = wire.Question(wire.NumRequests)
	verifyInfo     = Questions(1 << questionVerify)
	aside          = AskPing | verifyInfo // what may be due and is not open
)

// requestFor is the request to send for q: GETCHALLENGE may stand in for it.
func (t *talk) requestFor(q wire.Question) wire.Question {
	if q == questionVerify {
		return wire.QuestionInfo
	}
	if t.got != nil && t.got.get.Has(q) {
		return wire.QuestionChallenge
	}
	return q
}

// serial reports whether only one question is asked at a time.
func (t *talk) serial() bool {
	return t.flags&flagSerial != 0 || t.got != nil && t.got.single
}

// unpacking reports whether an answer may be in the decompressor.
func (t *talk) unpacking() bool { return t.got != nil && t.got.packed > 0 }

// wake is when tick wants to be called; 0: not at all.
func (t *talk) wake() time.Duration {
	if t.wakeMS == 0 {
		return 0
	}
	return t.firstAt + time.Duration(t.wakeMS)*time.Millisecond
}

// wakeAt has tick called at a time, or less than a millisecond later.
func (t *talk) wakeAt(at time.Duration) {
	ms := (at - t.firstAt + time.Millisecond - 1) / time.Millisecond
	t.wakeMS = uint32(min(max(ms, 0), math.MaxUint32))
}

// verdict is what an event was worth.
type verdict bool

const (
	used    verdict = true  // it brought something new
	useless verdict = false // a duplicate, or too late
)

// start opens the conversation: the first question is due.
func (t *talk) start(p *plan) {
	*t = talk{open: p.questions.status()}
	t.ask(lowest(t.open))
}

// came notes that a datagram came, for one of those under way.
func (t *talk) came() {
	t.flags &^= flagRefused | flagRetried
	t.flying -= b2u8(t.flying > 0)
}

// onChallenge takes an 'A'. A challenge round is no retry.
func (t *talk) onChallenge(now time.Duration, c wire.Challenge) verdict {
	t.came()
	t.countChallenge(c)
	switch a := t.got; {
	case t.pin():
		return used
	case t.open == 0 || a.pinned:
		return useless
	case a.single:
		return t.onOwnChallenge(now, c)
	case c == a.challenge:
		a.seenAt = now
		t.echoed()
		return useless
	}
	first := t.replaceChallenge(now, c)
	if t.flags&flagHeld != 0 && t.flying > 0 {
		return used
	}
	if t.countRound((t.waiting | t.due) & t.open); !t.pin() {
		t.useChallenge(first)
	}
	return used
}

// replaceChallenge takes c for the challenge in use. It reports whether it is the
// first one.
func (t *talk) replaceChallenge(now time.Duration, c wire.Challenge) (first bool) {
	a := t.got
	t.quiet = 0
	qs := t.waiting & t.open
	if qs == lowest(qs) {
		a.openly &^= qs // the fragments were this challenge
	}
	if first = a.challenge == wire.NoChallenge; !first {
		a.resent |= t.waiting
	}
	a.challenge, a.origin, a.seenAt, a.get = c, qs, now, 0
	return first
}

// useChallenge has what is open sent with the challenge that came.
func (t *talk) useChallenge(first bool) {
	switch {
	case t.open == 0:
	case t.flags&flagLimited != 0:
		t.postpone()
	case t.flags&(flagChanged|flagSerial) == 0:
		if !first {
			t.flags |= flagChanged
		}
		t.resend(t.open)
	default:
		t.flags |= flagSerial | flagHeld
		t.flags &^= flagBurst
	}
}

// countChallenge counts an 'A' among the replies that the server can have sent.
// One that comes when every datagram is answered, none of them by an 'A', is the
// answer to a question that has another answer.
func (t *talk) countChallenge(c wire.Challenge) {
	a := t.got
	first := a.challenges == 0
	a.challenges += b2u8(a.challenges < math.MaxUint8)
	a.remember(c)
	if t.open == 0 && a.challenge == wire.NoChallenge {
		a.challenge = c // to verify INFO with
	}
	if first && t.surplus() && a.unchallenged != 0 && !a.unchallenged.Has(wire.QuestionInfo) {
		t.onContradiction()
	}
}

// surplus reports whether more replies came than requests went out. A server
// sends one reply to each request, so either the network doubled a challenge, or
// one of the replies is forged.
func (t *talk) surplus() bool {
	a := t.got
	return a.challenges > 0 && int(a.challenges)+bits.OnesCount8(uint8(a.answered)) > int(a.requests)
}

// onContradiction takes the news that two replies contradict each other: one may
// be forged, so they tell nothing about the server's challenges.
func (t *talk) onContradiction() { t.got.conflict = true }

// onInfoAgain takes a second answer to INFO.
func (t *talk) onInfoAgain() {
	if t.beside&besideVerify != 0 {
		t.beside |= besideVerified
		t.waiting &^= verifyInfo
	}
}

// onOwnChallenge takes an 'A' where each question has a challenge of its own.
// An 'A' names no question: it answers the only one that is waited for.
func (t *talk) onOwnChallenge(now time.Duration, c wire.Challenge) verdict {
	a := t.got
	qs := t.waiting & t.open
	if qs == 0 {
		return useless
	}
	q := wire.Question(bits.TrailingZeros8(uint8(qs)))
	asked := a.fresh.Has(q)
	switch {
	case asked && c == a.challenge:
		t.oneForAll(qs)
	case !asked && c == t.challengeFor(q):
		t.echoed()
		return useless
	case !asked:
		t.countRound(qs)
	default:
		a.heard |= qs
	}
	a.seenAt = now
	a.fresh &^= qs
	a.own[q] = c
	a.owned |= qs
	t.quiet = 0
	t.waiting &= aside
	t.due |= qs & t.open
	t.flags &^= flagRepeat
	return used
}

// oneForAll takes the news that the server's challenge is the one that was
// dropped in silence: the silence has another reason. What is open is asked
// together again.
func (t *talk) oneForAll(challenged Questions) {
	t.got.single = false
	t.got.fresh = 0
	t.got.renewed = AskAll
	if !t.serial() {
		rest := t.open &^ challenged
		t.askNew(rest)
		t.due |= rest
	}
}

// renewable returns those of qs, which are about to be repeated, that are to be
// sent without a challenge: it is their last repetition, and nothing came of
// them with a challenge that another question got, or with an old one. Some
// servers have a challenge per question, or forget it, and drop a wrong one in
// silence.
func (t *talk) renewable(p *plan, now time.Duration, qs Questions) (renew Questions) {
	a := t.got
	if t.challenge() == wire.NoChallenge {
		return 0
	}
	old := now-a.seenAt >= freshFor
	for q := range each(qs &^ (a.renewed | t.bare)) {
		last := int(t.attempts[q])+1 == t.maxAsks(p, q)
		foreign := !a.owned.Has(q) && a.origin != 1<<q
		if last && (foreign || old) && t.err[q] == 0 && !t.rarelyAnswered(q) {
			renew |= 1 << q
		}
	}
	return renew
}

// renew has each of qs asked for a challenge of its own, one at a time.
func (t *talk) renew(qs Questions) {
	t.got.single = true
	t.got.fresh |= qs
	t.got.renewed |= qs
}

// rarelyAnswered reports whether q is mostly never answered: RULES of app 730
// (EC-99).
func (t *talk) rarelyAnswered(q wire.Question) bool {
	return q == wire.QuestionRules && t.flags&flagCSGO != 0
}

// echoed counts the challenge in use when it comes as the answer to a request
// that bore it: once for all that was sent together, so that late copies of it
// don't look like a server that knows nothing else.
func (t *talk) echoed() {
	if !t.got.echoed {
		t.got.echoed = true
		t.got.same += b2u8(t.got.same < maxRounds)
	}
}

// countRound counts a challenge for each of qs and gives up those that were
// challenged too often.
func (t *talk) countRound(qs Questions) {
	t.got.heard |= qs
	for q := range each(qs) {
		if t.got.rounds[q]++; t.got.rounds[q] > maxRounds {
			t.giveUp(q, wire.ErrChallengeLoop)
		}
	}
}

// pin takes a challenge that came more than once for the server's own, and all
// others for forged ones, where a question was given up for too many of them. What
// has no answer is asked again, together, and no other challenge is used any more.
func (t *talk) pin() bool {
	a := t.got
	if !a.twice || a.pinned || !t.looped() {
		return false
	}
	a.pinned, a.single = true, false
	a.challenge, a.fresh, a.owned = a.repeated, 0, 0
	t.flags &^= flagHeld
	for q := range each(AskAll) {
		if t.err[q] == wire.ErrChallengeLoop {
			t.open |= 1 << q
			t.err[q] = 0
		}
	}
	t.resend(t.open)
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
func (t *talk) resend(qs Questions) {
	t.askNew(qs &^ (t.asked | t.due))
	t.due |= qs
	t.waiting &= aside
	t.flags |= flagBurst
	t.flags &^= flagRepeat
}

// postpone has what was challenged asked again when its time has come, without
// counting it as asked again.
func (t *talk) postpone() {
	for q := range each((t.waiting | t.due) & t.open) {
		t.attempts[q] -= b2u8(t.attempts[q] > 0)
	}
	t.waiting &= aside
	t.due &= aside
}

// onReply takes an answer to q: 'I', 'D' or 'E'. code is 0 or ErrTruncated,
// which close the question, or a fault that leaves it open. The first usable
// answer counts, also for a question that was given up or never asked.
func (t *talk) onReply(now time.Duration, q wire.Question, code wire.Error) verdict {
	t.came()
	if code != 0 && code != wire.ErrTruncated {
		t.fault(1<<q, code)
		return used
	}
	if !t.wants(q, code) {
		return useless
	}
	if q == wire.QuestionInfo {
		t.flags &^= flagGold
	}
	t.measure(now, q)
	t.noteUnchallenged(q)
	t.close(q, code)
	return used
}

// measure takes the round trip of a question that was asked once and answered: a
// reply to a repeated question is not a round trip, nor is one to a question that
// was sent with several challenges.
func (t *talk) measure(now time.Duration, q wire.Question) {
	a := t.got
	if t.attempts[q] != 1 || !t.waiting.Has(q) || a.resent.Has(q) {
		return
	}
	trip := now - t.sent(q)
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
func (t *talk) noteUnchallenged(q wire.Question) {
	if t.withoutChallenge(q) {
		t.got.unchallenged |= 1 << q
	} else {
		t.got.unchallenged &^= 1 << q
	}
	if !t.asked.Has(q) {
		t.got.early |= 1 << q
		t.got.unasked |= 1 << q
	}
}

// onAppID takes the application ID, by which some servers are asked differently.
func (t *talk) onAppID(id uint32) {
	if id == csgoAppID {
		t.flags |= flagCSGO
	}
	t.got.getFirst = wire.GivesChallengeOnRequest(id)
}

// wants reports whether an answer to q would be of use: it is open, or was
// given up, or a truncated answer or an 'm' is all there is. A truncated 'I' is
// no better than a whole 'm'.
func (t *talk) wants(q wire.Question, code wire.Error) bool {
	switch {
	case t.open.Has(q):
		return true
	case q == wire.QuestionInfo && t.flags&flagGold != 0:
		return code == 0 || t.err[q] != 0
	}
	return t.err[q] != 0 && (code == 0 || t.err[q] != code)
}

// onGold takes an 'm': INFO is answered, but an 'I' may still replace it.
func (t *talk) onGold(now time.Duration, code wire.Error) verdict {
	t.came()
	if code != 0 && code != wire.ErrTruncated {
		t.fault(AskInfo, code)
		return used
	}
	if !t.open.Has(wire.QuestionInfo) {
		return useless
	}
	t.measure(now, wire.QuestionInfo)
	t.noteUnchallenged(wire.QuestionInfo)
	t.flags |= flagGold
	t.got.goldEnd = now + max(minGold, t.got.rtt/2)
	t.close(wire.QuestionInfo, code)
	return used
}

// onFragment notes that part of an answer came. Where one question alone is
// waited for, it is that one's.
func (t *talk) onFragment() {
	t.flags |= flagSplit
	t.flags &^= flagBurst | flagRefused | flagRetried
	t.quiet = 0
	qs := t.waiting & t.open
	t.got.heard |= qs
	if qs == lowest(qs) {
		t.fault(qs, wire.ErrIncomplete)
		if t.asked == qs { // else they may be of an answer that is late
			t.got.openly |= qs & t.bare
		}
	}
}

// onConflict takes a fragment that contradicts its group: this server gives
// several replies one ID, so what is open is asked again one by one.
func (t *talk) onConflict() {
	t.flags |= flagSplit
	if t.flags&flagSerial != 0 || t.open == 0 {
		return
	}
	t.flags |= flagSerial
	t.waiting &= aside
	t.due &= aside
	t.flying = 0
}

// onLimited takes an 'X': the server asks us to slow down (EC-21).
func (t *talk) onLimited() {
	t.came()
	t.flags |= flagSerial | flagLimited
	t.flags &^= flagSuspect
	t.fault(t.open, wire.ErrRateLimited)
	t.due &= aside
	t.waiting &= aside
}

// onBanned takes an 'l': nothing more will come (EC-22).
func (t *talk) onBanned() {
	t.came()
	for q := range each(t.open) {
		t.giveUp(q, wire.ErrBanned)
	}
}

// onJunk takes a datagram that answers nothing: what is waited for goes on
// being waited for, and if it never comes this is why.
func (t *talk) onJunk(code wire.Error) {
	t.came()
	t.fault(t.waiting&t.open, code)
}

// onSent notes that qs went out, with the challenge in use.
func (t *talk) onSent(p *plan, now time.Duration, qs Questions) {
	if t.asked == 0 {
		t.firstAt = now
	}
	t.sentUS = uint32(min((now-t.firstAt)/time.Microsecond, math.MaxUint32))
	if t.got != nil {
		t.got.echoed = false
		t.got.requests += b2u8(qs&^AskPing != 0 && t.got.requests < math.MaxUint8)
		for q := range each(qs &^ verifyInfo) {
			t.got.sentUS[q] = t.sentUS
		}
	}
	t.asked |= qs.status()
	t.due &^= qs
	t.waiting |= qs
	t.flying += uint8(bits.OnesCount8(uint8(qs.status())))
	t.bare &^= qs
	for q := range each(qs.status()) {
		if t.challengeFor(q) == wire.NoChallenge {
			t.bare |= 1 << q
		}
	}
	if t.flags&flagRefused != 0 {
		t.flags |= flagRetried
	}
	t.wakeAt(now + t.timeout(p))
}

// onUnreachable takes an ICMP error: nothing listens. The first one is not
// final, as the port may open a moment later. The second one is, if it came
// after another datagram was sent.
func (t *talk) onUnreachable() {
	if t.flags&flagRetried == 0 {
		t.flags |= flagRefused
		return
	}
	t.waiting &^= aside
	for q := range each(t.open) {
		t.giveUp(q, wire.ErrUnreachable)
	}
}

// onSendFailed takes the news that q could not be sent.
func (t *talk) onSendFailed(q wire.Question) {
	t.due &^= 1 << q
	if t.open.Has(q) {
		t.giveUp(q, wire.ErrSendFailed)
	}
}

// onExcluded takes the news that the server is to be sent nothing more.
func (t *talk) onExcluded() {
	t.due = 0
	for q := range each(t.open) {
		t.giveUp(q, wire.ErrExcluded)
	}
}

// tick is called when wake has passed: what is silent is repeated or given up.
func (t *talk) tick(p *plan, now time.Duration) {
	silent := t.waiting & t.open
	switch {
	case silent == 0:
		return
	case t.unpacking():
		t.wakeAt(now + packedWait)
		return
	}
	silent = t.suspectLimit(silent)
	t.waiting &= aside
	t.flying = 0
	t.flags &^= flagHeld
	if t.got != nil {
		t.got.get = 0
	}
	if t.quiet++; t.flags&flagAnswered == 0 && int(t.quiet) >= t.patienceAsks(p) {
		t.ignored(p)
		return
	}
	again := t.silenced(p, silent)
	t.getChallenge(p, again)
	if renew := t.renewable(p, now, again); renew != 0 {
		t.renew(renew)
	}
	if t.serial() || again == 0 {
		return
	}
	if t.got != nil {
		again |= t.open &^ t.asked // no challenge and a silent question: don't wait for it
	}
	t.ask(again)
	t.flags |= flagRepeat
}

// ignored takes the end of the last wait for a server that answered nothing. With
// the fallback, one of which nothing came at all is asked for PLAYER and ping.
func (t *talk) ignored(p *plan) {
	if !p.fallback || t.got != nil || t.beside&besideFallback != 0 || !t.asked.Has(wire.QuestionInfo) {
		t.closeAll()
		return
	}
	t.giveUp(wire.QuestionInfo, t.silence(wire.QuestionInfo))
	t.beside |= besideFallback | besidePing
	t.open |= AskPlayers
	t.ask(AskPlayers)
	t.due |= AskPing
}

// getChallenge has the last repetition of a list that was silent without a
// challenge replaced by a request for one, once for each server that was heard.
func (t *talk) getChallenge(p *plan, again Questions) {
	q := lowest(again &^ AskInfo & t.bare)
	if q == 0 || t.got == nil || t.beside&besideGet != 0 || t.challenge() != wire.NoChallenge {
		return
	}
	n := bits.TrailingZeros8(uint8(q))
	if last := int(t.attempts[n])+1 == t.maxAsks(p, wire.Question(n)); last && t.err[n] == 0 {
		t.beside |= besideGet
		t.got.get = q
	}
}

// suspectLimit takes a whole burst that is unanswered as the sign of a limit
// of queries a second, and drops the suspicion when the server stays silent
// although it is asked slowly: then all that is open is silent together.
func (t *talk) suspectLimit(silent Questions) Questions {
	switch {
	case t.flags&flagBurst != 0 && bits.OnesCount8(uint8(silent)) > 1:
		t.flags |= flagSerial | flagLimited | flagSuspect
		t.got.slow = 0
	case t.flags&flagSuspect != 0:
		if t.got.slow++; t.got.slow == slowAsks {
			t.flags &^= flagSerial | flagLimited | flagSuspect
			silent = t.open
		}
	}
	t.flags &^= flagBurst
	return silent
}

// silenced gives up the questions of silent that were asked often enough and
// returns the others.
func (t *talk) silenced(p *plan, silent Questions) (again Questions) {
	for q := range each(silent) {
		if int(t.attempts[q]) < t.maxAsks(p, q) {
			again |= 1 << q
		} else {
			t.giveUp(q, t.silence(q))
		}
	}
	return again
}

// patienceAsks is how many waits in a row may pass in silence before nothing
// more is expected of a server that answered nothing.
func (t *talk) patienceAsks(p *plan) int {
	heard := t.got != nil && t.got.heard&t.open != 0
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
func (t *talk) advance(p *plan, now time.Duration) {
	if t.flags&flagAnswered != 0 {
		t.open &= p.questions // the fallback may have asked for more
	}
	t.ping(p)
	t.due &= t.open | aside
	t.waiting &= t.open | aside
	switch {
	case t.open == 0:
		t.finish(p, now)
	case t.flags&flagHeld != 0 && t.flying == 0:
		t.flags &^= flagHeld
		t.resend(lowest(t.open))
	case (t.due|t.waiting)&t.open != 0:
	case t.serial():
		t.askSerially(p, now)
	case t.challenge() != wire.NoChallenge:
		t.ask(t.open)
	default:
		t.askFirst(lowest(t.open))
	}
}

// ping makes a ping due, once, as soon as something came.
func (t *talk) ping(p *plan) {
	if t.got != nil && p.questions.Has(wire.QuestionPing) && t.beside&besidePing == 0 {
		t.beside |= besidePing
		t.due |= AskPing
	}
}

// askFirst asks q of a server of which no challenge is known. Of some games it is
// known that a list is answered only to a challenge that GETCHALLENGE gave.
func (t *talk) askFirst(q Questions) {
	t.ask(q)
	if t.got != nil && t.got.getFirst && q != AskInfo && t.beside&besideGet == 0 {
		t.beside |= besideGet
		t.got.get = q
	}
}

// askSerially makes the next question due, or says when it will be.
func (t *talk) askSerially(p *plan, now time.Duration) {
	if next := t.lastAt() + serialGap; t.flags&flagLimited != 0 && now < next {
		t.wakeAt(next)
		return
	}
	q := lowest(t.open)
	if n := bits.TrailingZeros8(uint8(q)); int(t.attempts[n]) >= t.maxAsks(p, wire.Question(n)) {
		t.giveUp(wire.Question(n), t.silence(wire.Question(n)))
		t.advance(p, now)
		return
	}
	t.ask(q)
	t.flags |= flagRepeat
}

// finish ends the conversation, or waits for the 'I' after an 'm', or for the
// answer to a ping.
func (t *talk) finish(p *plan, now time.Duration) {
	t.verify(p, now)
	if t.flags&flagGold != 0 && now < t.got.goldEnd {
		t.wakeAt(t.got.goldEnd)
		return
	}
	if t.due != 0 {
		return // a ping, or INFO once more
	}
	if end := t.lastAt() + p.schedule.Timeout; t.looped() && now < end {
		t.wakeAt(end)
		return
	}
	if end := t.pingEnd(p); t.waiting.Has(wire.QuestionPing) && now < end {
		t.wakeAt(end)
		return
	}
	if t.waiting&verifyInfo != 0 && now < t.got.verifyEnd {
		t.wakeAt(t.got.verifyEnd)
		return
	}
	if !t.unpacking() {
		t.flags |= flagDone
	}
}

// looped reports whether a question was given up for too many challenges. If some
// of them were forged, the answer to one of the others may come yet.
func (t *talk) looped() bool { return slices.Contains(t.err[:], wire.ErrChallengeLoop) }

// verify has INFO asked for once more, with a challenge, if the answer to it may
// be forged: it came without a challenge, and more replies came than requests went
// out. A server whose replies came earlier than they could is given one timeout
// in which its true replies may come.
func (t *talk) verify(p *plan, now time.Duration) {
	a := t.got
	if a == nil || a.conflict {
		return
	}
	switch {
	case t.beside&besideVerify != 0:
	case a.challenge != wire.NoChallenge && a.unchallenged.Has(wire.QuestionInfo) && t.surplus():
		t.beside |= besideVerify
		t.due |= verifyInfo
		a.verifyEnd = now + p.schedule.Timeout
	case a.early != 0 && a.early == a.early&a.unchallenged && a.verifyEnd == 0:
		t.waiting |= verifyInfo
		a.verifyEnd = now + p.schedule.Timeout
	}
}

// pingEnd is when the answer to a ping is no longer waited for.
func (t *talk) pingEnd(p *plan) time.Duration {
	if t.got == nil {
		return t.lastAt() + p.schedule.Timeout
	}
	return t.sent(wire.QuestionPing) + p.schedule.Timeout
}

// onPong takes the answer to a ping. It is no answer to any of the questions.
func (t *talk) onPong() verdict {
	t.flags &^= flagRefused | flagRetried
	if t.beside&besidePing == 0 || t.beside&besidePong != 0 {
		return useless
	}
	t.beside |= besidePong
	t.waiting &^= AskPing
	return used
}

// ask makes qs due and counts them as asked once more.
func (t *talk) ask(qs Questions) {
	t.askNew(qs)
	t.due |= qs
	t.flags &^= flagRepeat
}

func (t *talk) askNew(qs Questions) {
	for q := range each(qs) {
		t.attempts[q] += b2u8(t.attempts[q] < 255)
	}
}

func (t *talk) fault(qs Questions, code wire.Error) {
	for q := range each(qs & t.open) {
		t.err[q] = code
	}
}

func (t *talk) close(q wire.Question, code wire.Error) {
	t.open &^= 1 << q
	t.err[q] = code
	t.got.answered |= t.asked & (1 << q)
	t.quiet, t.got.slow = 0, 0
	t.flags |= flagAnswered
	t.flags &^= flagBurst
}

func (t *talk) giveUp(q wire.Question, code wire.Error) {
	t.open &^= 1 << q
	t.err[q] = code
}

func (t *talk) closeAll() {
	for q := range each(t.open) {
		t.giveUp(q, t.silence(q))
	}
}

// silence is the reason to write for a question that is given up.
func (t *talk) silence(q wire.Question) wire.Error {
	switch {
	case t.err[q] != 0:
		return t.err[q]
	case t.got != nil && t.got.same >= maxRounds:
		return wire.ErrChallengeLoop
	}
	return wire.ErrTimeout
}

func (t *talk) maxAsks(p *plan, q wire.Question) int {
	n := 1 + p.schedule.Retries
	if t.rarelyAnswered(q) {
		return min(n, csgoAsks)
	}
	if t.got != nil && t.got.heard.Has(q) {
		n += extraAsks
	}
	return n
}

// timeout is how long to wait for what was just sent: as the schedule says, and
// never less than two round trips of this server.
func (t *talk) timeout(p *plan) time.Duration {
	var attempts uint8
	for q := range each(t.waiting & t.open) {
		attempts = max(attempts, t.attempts[q])
	}
	d := p.schedule.Wait(int(attempts))
	if p.once {
		d = p.schedule.Longest()
	}
	if t.got != nil {
		d = max(d, min(2*t.got.rtt, maxRTTWait))
	}
	if t.flags&flagLimited != 0 {
		d = max(d, serialGap)
	}
	return d
}

// withoutChallenge reports whether an answer to q that comes now answers a
// request that bore no challenge, or the fragments of an earlier one did.
func (t *talk) withoutChallenge(q wire.Question) bool {
	if !t.asked.Has(q) {
		return t.challenge() == wire.NoChallenge
	}
	return (t.bare | t.got.openly).Has(q)
}

// sent is when q was sent last, of a server of which something came.
func (t *talk) sent(q wire.Question) time.Duration {
	return t.firstAt + time.Duration(t.got.sentUS[q])*time.Microsecond
}

// lastAt is when the last datagram was sent.
func (t *talk) lastAt() time.Duration {
	return t.firstAt + time.Duration(t.sentUS)*time.Microsecond
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
