package scanner

import (
	"math"
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// suspicion is what tells that a reply may be forged. A server sends one reply to
// each datagram: more replies than requests are a sign, and so are replies that
// come sooner than they could.
type suspicion struct {
	requests     uint8     // datagrams sent, pings not counted
	answered     Questions // answered after they were asked
	unasked      Questions // answered before they were asked
	early        Questions // answered before that could be expected
	unchallenged Questions // answered, in part at least, to a request without a challenge
	conflict     bool      // a reply contradicts another
	verifyEnd    time.Duration
}

// contradicted takes the news that two replies contradict each other: one may be
// forged, so they tell nothing about the server's challenges.
func (x *suspicion) contradicted() { x.conflict = true }

// sent counts a datagram that went out.
func (x *suspicion) sent(qs Questions) {
	x.requests += b2u8(qs&^AskPing != 0 && x.requests < math.MaxUint8)
}

// answer notes an answer to q: whether it answers a request without a challenge,
// and whether it was asked for at all.
func (x *suspicion) answer(q wire.Question, bare, asked bool) {
	x.unchallenged &^= 1 << q
	if bare {
		x.unchallenged |= 1 << q
	}
	if !asked {
		x.early |= 1 << q
		x.unasked |= 1 << q
	}
}

// surplus reports whether more replies came than requests went out: either the
// network doubled a challenge, or one of the replies is forged.
func (a *answer) surplus() bool {
	replies := int(a.challenges.seen) + bits.OnesCount8(uint8(a.suspicion.answered))
	return a.challenges.seen > 0 && replies > int(a.suspicion.requests)
}

// countChallenge counts an 'A' among the replies that the server can have sent.
// One that comes when every datagram is answered, none of them by an 'A', is the
// answer to a question that has another answer.
func (s *session) countChallenge(c wire.Challenge) {
	a := s.got
	first := a.challenges.seen == 0
	a.challenges.note(c)
	if s.agenda.open == 0 && a.challenges.current == wire.NoChallenge {
		a.challenges.current = c // to verify INFO with
	}
	open := a.suspicion.unchallenged
	if first && open != 0 && !open.Has(wire.QuestionInfo) && a.surplus() {
		a.suspicion.contradicted()
	}
}

// onInfoAgain takes a second answer to INFO.
func (s *session) onInfoAgain() {
	if s.beside&besideVerify != 0 {
		s.beside |= besideVerified
		s.agenda.waiting &^= verifyInfo
	}
}

// withoutChallenge reports whether an answer to q that comes now answers a
// request that bore no challenge, or the fragments of an earlier one did.
func (s *session) withoutChallenge(q wire.Question) bool {
	if !s.agenda.asked.Has(q) {
		return s.challenge() == wire.NoChallenge
	}
	return (s.agenda.bare | s.got.hints.openly).Has(q)
}
