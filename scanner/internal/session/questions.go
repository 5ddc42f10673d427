package session

import (
	"math/bits"
	"slices"

	"github.com/a2sscan/a2sscan/wire"
)

// Questions is a set of questions.
type Questions uint8

// The sets of one question each, and All, the set of the three questions that
// determine a target's status. All does not contain the ping.
const (
	Info    = Questions(1 << wire.QuestionInfo)
	Players = Questions(1 << wire.QuestionPlayers)
	Rules   = Questions(1 << wire.QuestionRules)
	All     = Info | Players | Rules
	Ping    = Questions(1 << wire.QuestionPing)
)

// Has reports whether q is in the set.
func (qs Questions) Has(q wire.Question) bool { return qs&(1<<q) != 0 }

// Lowest returns the first question of qs, as a set.
func Lowest(qs Questions) Questions { return qs & -qs }

// Each yields the questions of qs in order.
func Each(qs Questions) func(yield func(wire.Question) bool) {
	return func(yield func(wire.Question) bool) {
		for ; qs != 0; qs &= qs - 1 {
			if !yield(first(qs)) {
				return
			}
		}
	}
}

// first returns the first question of qs, which must not be empty.
func first(qs Questions) wire.Question { return wire.Question(bits.TrailingZeros8(uint8(qs))) }

func count(qs Questions) int { return bits.OnesCount8(uint8(qs)) }

// Agenda holds the state of each question of a session. A question is open until it
// is answered or given up. An open question is due, waited for, or put off.
type Agenda struct {
	Open    Questions // neither answered nor given up
	Asked   Questions // sent at least once
	due     Questions // to be sent as soon as the rate allows
	Waiting Questions // sent, and not answered yet
	bare    Questions // last sent without a challenge

	Attempts [wire.NumQuestions]uint8 // how many times each was asked, not counting challenge rounds
	// Err is why each question was closed without a complete answer; 0: it has one. While a
	// question is open, Err is the error of its last faulty reply.
	Err [wire.NumQuestions]wire.Error
}

// count counts one more attempt for each of qs.
func (a *Agenda) count(qs Questions) {
	for q := range Each(qs) {
		a.Attempts[q] += b2u8(a.Attempts[q] < 255)
	}
}

// Silent returns the open questions that are waited for.
func (a *Agenda) Silent() Questions { return a.Waiting & a.Open }

// stopWaiting ends the wait for answers to open questions, which will be asked
// again.
func (a *Agenda) stopWaiting() { a.Waiting &= Ping }

// hold puts off the open questions: none of them is due or waited for.
func (a *Agenda) hold() {
	a.Waiting &= Ping
	a.due &= Ping
}

// fault records code, the error of a reply, for the open questions of qs.
func (a *Agenda) fault(qs Questions, code wire.Error) {
	for q := range Each(qs & a.Open) {
		a.Err[q] = code
	}
}

// giveUp closes qs. code is the reason why they have no complete answer; 0: they have
// one.
func (a *Agenda) giveUp(qs Questions, code wire.Error) {
	a.Open &^= qs
	for q := range Each(qs) {
		a.Err[q] = code
	}
}

// Drop gives up those of qs that are open, without sending what is due for them.
func (a *Agenda) Drop(qs Questions, code wire.Error) {
	a.due &^= qs
	a.giveUp(qs&a.Open, code)
}

// longest returns the silent question with the longest answer: rules, if they were
// asked for (EC-95).
func (a *Agenda) longest() Questions {
	qs := a.Silent()
	if qs == 0 {
		return 0
	}
	return 1 << (bits.Len8(uint8(qs)) - 1)
}

// looped reports whether a question was given up because of too many challenges. If
// some of the challenges were forged, a request with a genuine one may still be
// answered.
func (a *Agenda) looped() bool { return slices.Contains(a.Err[:], wire.ErrChallengeLoop) }

// most returns the question of qs that is waited for and has had the most attempts,
// and the number of these attempts. n is 0 if none of qs is waited for.
func (a *Agenda) most(qs Questions) (most wire.Question, n int) {
	for q := range Each(a.Silent() & qs) {
		if times := int(a.Attempts[q]); times > n {
			most, n = q, times
		}
	}
	return most, n
}

func b2u8(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
