package scanner

import (
	"math/bits"

	"github.com/a2sscan/a2sscan/wire"
)

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
