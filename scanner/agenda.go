package scanner

import (
	"math/bits"
	"slices"

	"github.com/a2sscan/a2sscan/wire"
)

// agenda is where each question of a session stands. A question is open until it
// is answered or given up. While it is open it is due, or waited for, or put off.
type agenda struct {
	open    Questions // neither answered nor given up
	asked   Questions // sent at least once
	due     Questions // to be sent as soon as the rate allows
	waiting Questions // sent, and silent so far
	bare    Questions // last sent without a challenge

	attempts [wire.NumQuestions]uint8      // sent, challenge rounds not counted
	err      [wire.NumQuestions]wire.Error // why it is closed without a whole answer; while open: the fault seen last
}

// A question that has an answer can be asked once more, to verify it. As a question
// of which a request is due it has a number behind those of all requests.
const (
	questionVerify = wire.Question(wire.NumRequests)
	verifyAll      = AskAll << questionVerify
	aside          = AskPing | verifyAll // what may be due and is not open
)

// verify returns what is due where qs are to be asked once more.
func verify(qs Questions) Questions { return qs << questionVerify }

// ask makes qs due and counts them as sent once more.
func (a *agenda) ask(qs Questions) {
	a.count(qs)
	a.due |= qs
}

// count counts qs as sent once more.
func (a *agenda) count(qs Questions) {
	for q := range each(qs) {
		a.attempts[q] += b2u8(a.attempts[q] < 255)
	}
}

// sent notes that qs went out, those of bare without a challenge.
func (a *agenda) sent(qs, bare Questions) {
	a.asked |= qs.status()
	a.due &^= qs
	a.waiting |= qs
	a.bare = a.bare&^qs | bare
}

// silent returns the open questions that are waited for.
func (a *agenda) silent() Questions { return a.waiting & a.open }

// stopWaiting takes the silence of what is open for final: it is to be asked again.
func (a *agenda) stopWaiting() { a.waiting &= aside }

// hold puts off what is open: nothing of it is due or waited for.
func (a *agenda) hold() {
	a.waiting &= aside
	a.due &= aside
}

// postpone puts off what is open, without counting it as sent again later.
func (a *agenda) postpone() {
	for q := range each((a.waiting | a.due) & a.open) {
		a.attempts[q] -= b2u8(a.attempts[q] > 0)
	}
	a.hold()
}

// trim drops from due and waiting what is closed.
func (a *agenda) trim() {
	a.due &= a.open | aside
	a.waiting &= a.open | aside
}

// fault notes what was wrong with a reply to one of qs.
func (a *agenda) fault(qs Questions, code wire.Error) {
	for q := range each(qs & a.open) {
		a.err[q] = code
	}
}

// giveUp closes q, with the reason why it has no whole answer, if it has none.
func (a *agenda) giveUp(q wire.Question, code wire.Error) {
	a.open &^= 1 << q
	a.err[q] = code
}

// giveUpAll closes what is open.
func (a *agenda) giveUpAll(code wire.Error) {
	for q := range each(a.open) {
		a.giveUp(q, code)
	}
}

// looped reports whether a question was given up because of too many challenges. If
// some of them were forged, a request with a genuine one may still be answered.
func (a *agenda) looped() bool { return slices.Contains(a.err[:], wire.ErrChallengeLoop) }

// reopen opens the questions again that were given up because of too many
// challenges.
func (a *agenda) reopen() {
	for q := range each(AskAll) {
		if a.err[q] == wire.ErrChallengeLoop {
			a.open |= 1 << q
			a.err[q] = 0
		}
	}
}

// most returns the most repeated of the silent questions of qs, and how often it was
// sent.
func (a *agenda) most(qs Questions) (most wire.Question, n int) {
	for q := range each(a.silent() & qs) {
		if times := int(a.attempts[q]); times > n {
			most, n = q, times
		}
	}
	return most, n
}

// status returns those of the set that make up a status.
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
