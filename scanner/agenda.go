package scanner

import (
	"math/bits"
	"slices"

	"github.com/a2sscan/a2sscan/wire"
)

// agenda holds the state of each question of a session. A question is open until it
// is answered or given up. While it is open it is due, or waited for, or put off.
type agenda struct {
	open    Questions // neither answered nor given up
	asked   Questions // sent at least once
	due     Questions // to be sent as soon as the rate allows
	waiting Questions // sent, and silent so far
	bare    Questions // last sent without a challenge

	attempts [wire.NumQuestions]uint8      // how many times each was asked, not counting challenge rounds
	err      [wire.NumQuestions]wire.Error // why each was closed without a complete answer, 0 if it has one; while open: the error of its last faulty reply
}

// An answered question can be asked once more, to verify its answer. In due and
// waiting, the repetition of q is number q + questionVerify, above the numbers of all
// requests.
const (
	questionVerify = wire.Question(wire.NumRequests)
	verifyAll      = AskAll << questionVerify
	aside          = AskPing | verifyAll // what may be due or waited for without being open
)

// verify returns the repetitions of qs.
func verify(qs Questions) Questions { return qs << questionVerify }

// ask makes qs due and counts one more attempt for each.
func (a *agenda) ask(qs Questions) {
	a.count(qs)
	a.due |= qs
}

// count counts one more attempt for each of qs.
func (a *agenda) count(qs Questions) {
	for q := range each(qs) {
		a.attempts[q] += b2u8(a.attempts[q] < 255)
	}
}

// sent records that qs were sent. bare are those of them that were sent without a
// challenge.
func (a *agenda) sent(qs, bare Questions) {
	a.asked |= qs.status()
	a.due &^= qs
	a.waiting |= qs
	a.bare = a.bare&^qs | bare
}

// blindToPlayers makes PLAYER the question that is waited for, because it was sent as
// the last attempt at INFO, and something came. INFO gets all its attempts again.
func (a *agenda) blindToPlayers() {
	a.asked |= AskPlayers
	a.waiting = AskPlayers | a.waiting&aside
	a.bare |= AskPlayers
	a.attempts[wire.QuestionInfo], a.attempts[wire.QuestionPlayers] = 0, 1
}

// silent returns the open questions that are waited for.
func (a *agenda) silent() Questions { return a.waiting & a.open }

// stopWaiting ends the wait for answers to open questions, which will be asked
// again.
func (a *agenda) stopWaiting() { a.waiting &= aside }

// hold puts off the open questions: none of them is due or waited for.
func (a *agenda) hold() {
	a.waiting &= aside
	a.due &= aside
}

// postpone puts off the open questions. It takes back the attempt of each that was
// due or waited for, so that asking it later does not count as a retry.
func (a *agenda) postpone() {
	for q := range each((a.waiting | a.due) & a.open) {
		a.attempts[q] -= b2u8(a.attempts[q] > 0)
	}
	a.hold()
}

// trim drops closed questions from due and waiting.
func (a *agenda) trim() {
	a.due &= a.open | aside
	a.waiting &= a.open | aside
}

// fault records code, the error of a reply, for the open questions of qs.
func (a *agenda) fault(qs Questions, code wire.Error) {
	for q := range each(qs & a.open) {
		a.err[q] = code
	}
}

// giveUp closes q. code is the reason why it has no complete answer; 0: it has one.
func (a *agenda) giveUp(q wire.Question, code wire.Error) {
	a.open &^= 1 << q
	a.err[q] = code
}

// giveUpAll closes all open questions.
func (a *agenda) giveUpAll(code wire.Error) {
	for q := range each(a.open) {
		a.giveUp(q, code)
	}
}

// looped reports whether a question was given up because of too many challenges. If
// some of the challenges were forged, a request with a genuine one may still be
// answered.
func (a *agenda) looped() bool { return slices.Contains(a.err[:], wire.ErrChallengeLoop) }

// reopen opens again the questions that were given up because of too many challenges.
func (a *agenda) reopen() {
	for q := range each(AskAll) {
		if a.err[q] == wire.ErrChallengeLoop {
			a.open |= 1 << q
			a.err[q] = 0
		}
	}
}

// most returns the question of qs that is waited for and has had the most attempts,
// and the number of these attempts. n is 0 if none of qs is waited for.
func (a *agenda) most(qs Questions) (most wire.Question, n int) {
	for q := range each(a.silent() & qs) {
		if times := int(a.attempts[q]); times > n {
			most, n = q, times
		}
	}
	return most, n
}

// status returns the questions of s that make up a status.
func (s Questions) status() Questions { return s & AskAll }

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
