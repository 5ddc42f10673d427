package scanner

import (
	"math"
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// suspicion records the signs that a reply may be forged. A server sends one reply
// to each datagram, so more replies than requests are a sign. So are replies that
// come sooner than they could, or before the server was asked.
//
// The record of a suspicious server is held back for one timeout, in case its true
// replies are still to come. A question whose answer is in doubt is asked once
// more. Two replies contradict each other if
//
//   - two 'I' answer one request and differ at all, or answer several requests and
//     differ in fields that do not change while a server runs;
//   - two lists answer one request, and name different players or rules;
//   - an 'A' comes for a question that was answered without a challenge.
type suspicion struct {
	requests     uint8         // datagrams sent, not counting pings
	answered     Questions     // answered after they were asked
	unasked      Questions     // answered before they were asked
	unchallenged Questions     // answered, at least in part, in reply to a request without a challenge
	stranger     bool          // a reply came before the server was asked anything
	verifying    Questions     // asked once more although they were answered
	verified     Questions     // those of verifying that were answered again
	conflict     bool          // a reply contradicts another
	least, most  time.Duration // shortest and longest round trip
	holdEnd      time.Duration // the record is held back until then; 0: it is not
}

// contradicted records that two replies contradict each other. One of them may be
// forged, so they prove nothing about the server's challenges.
func (x *suspicion) contradicted() { x.conflict = true }

// sent counts a request that was sent, unless it is a ping.
func (x *suspicion) sent(qs Questions) {
	x.requests += b2u8(qs&^AskPing != 0 && x.requests < math.MaxUint8)
}

// answer records an answer to q. bare means that it answers a request without a
// challenge, asked means that q was asked before.
func (x *suspicion) answer(q wire.Question, bare, asked bool) {
	x.unchallenged &^= 1 << q
	if bare {
		x.unchallenged |= 1 << q
	}
	if !asked {
		x.unasked |= 1 << q
	}
}

// takeBack returns the lists that came before they were asked for, and marks them
// as not answered.
func (x *suspicion) takeBack() Questions {
	lists := x.unasked &^ AskInfo
	x.unasked, x.unchallenged = x.unasked&^lists, x.unchallenged&^lists
	return lists
}

// again records another answer to q. If q was asked once more, this verifies it.
func (x *suspicion) again(q wire.Question) { x.verified |= x.verifying & (1 << q) }

// trip includes a round trip in least and most.
func (x *suspicion) trip(d time.Duration) {
	if x.most == 0 || d < x.least {
		x.least = d
	}
	x.most = max(x.most, d)
}

// tooSoon reports whether one answer came much sooner than another.
func (x *suspicion) tooSoon() bool { return 4*x.least+muchEarlier < x.most }

// withdraw removes from unchallenged the questions that could not be verified.
func (x *suspicion) withdraw() { x.unchallenged &^= x.verifying &^ x.verified }

// surplus reports whether more replies came than requests went out: either the
// network duplicated a challenge, or one of the replies is forged.
func (a *answer) surplus() bool {
	replies := int(a.challenges.seen) + bits.OnesCount8(uint8(a.suspicion.answered))
	return a.challenges.seen > 0 && replies > int(a.suspicion.requests)
}

// doubted returns the questions to ask once more: those answered without a
// challenge, if more replies came than requests went out. A list that came before
// it was asked for is not among them.
func (a *answer) doubted() Questions {
	if !a.surplus() {
		return 0
	}
	return a.suspicion.unchallenged &^ (a.suspicion.unasked &^ AskInfo)
}

// suspicious reports whether one of the answers may be forged.
func (a *answer) suspicious() bool {
	x := &a.suspicion
	soon := x.unasked != 0 || x.tooSoon()
	return x.stranger || soon && x.unchallenged != 0 || a.doubted() != 0
}

// countChallenge counts an 'A' as one of the server's replies, and reports whether its
// value came before. It records a contradiction if the 'A' contradicts an earlier
// answer.
func (s *session) countChallenge(now time.Duration, c wire.Challenge) (known bool) {
	a, qs := s.got, s.agenda.silent()
	first := a.challenges.seen == 0
	known = a.challenges.note(c)
	if first && s.agenda.open == 0 {
		a.challenges.current = c // used to verify INFO
	}
	lists := verify(a.suspicion.verifying &^ AskInfo)
	if s.agenda.waiting&lists != 0 || first && a.refuted() {
		a.suspicion.contradicted()
	}
	if q := wire.Question(bits.TrailingZeros8(uint8(qs))); first && qs != 0 && qs == lowest(qs) && s.agenda.attempts[q] == 1 {
		a.suspicion.trip(s.clock.since(a.trips.sentUS[q], now))
	}
	return known
}

// refuted reports whether the first 'A' contradicts an answer: it came when every
// request already had a reply, so it answers a question that was also answered
// without a challenge. Some servers send an 'A' after an 'I' (EC-9); for them INFO
// is asked once more instead.
func (a *answer) refuted() bool {
	open := a.suspicion.unchallenged
	return open != 0 && !open.Has(wire.QuestionInfo) && a.surplus()
}

// askedOnce reports whether exactly one request for q went out, so that exactly one
// answer can be expected.
func (s *session) askedOnce(q wire.Question) bool {
	a := s.got
	several := a.challenges.resent | a.suspicion.verifying
	return s.agenda.asked.Has(q) && s.agenda.attempts[q] == 1 && !several.Has(q)
}

// openly returns the questions that were sent without a challenge, and never with one:
// an answer to any other question may be a late answer to a request that bore one.
func openly(s *session) Questions { return s.agenda.bare &^ s.got.hints.keyed }
