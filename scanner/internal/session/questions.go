package session

import (
	"math/bits"

	"github.com/a2sscan/a2sscan/wire"
)

func count(qs wire.Questions) int { return bits.OnesCount8(uint8(qs)) }

// Agenda holds the state of each question of a session. A question is open until it is
// answered or given up. An open question is due, waits for its answer, or is put off.
type Agenda struct {
	Open    wire.Questions // neither answered nor given up
	Asked   wire.Questions // sent at least once
	due     wire.Questions // to be sent as soon as the rate allows
	Waiting wire.Questions // sent, and not answered yet
	bare    wire.Questions // last sent without a challenge

	Attempts [wire.NumQuestions]uint8 // how many times each question was asked, not counting challenge rounds
	// Err is why each question was closed without a complete answer, or 0 if it has a
	// complete answer. While a question is open, Err is the error of its last faulty reply.
	Err [wire.NumQuestions]wire.Error
}

func (a *Agenda) count(qs wire.Questions) {
	for q := range qs.Each() {
		a.Attempts[q] += b2u8(a.Attempts[q] < 255)
	}
}

// Silent returns the open questions that were sent and have no answer yet.
func (a *Agenda) Silent() wire.Questions { return a.Waiting & a.Open }

// stopWaiting ends the wait for answers to open questions, which will be asked
// again.
func (a *Agenda) stopWaiting() { a.Waiting &= wire.AskPing }

// hold puts off the open questions: after it, none of them is due or waits for its answer.
func (a *Agenda) hold() {
	a.Waiting &= wire.AskPing
	a.due &= wire.AskPing
}

// fault records code, the error of a reply, for those questions in qs that are open.
func (a *Agenda) fault(qs wire.Questions, code wire.Error) {
	for q := range (qs & a.Open).Each() {
		a.Err[q] = code
	}
}

// giveUp closes the questions qs. Its last argument is the reason why they have no
// complete answer, or 0 if they have one.
func (a *Agenda) giveUp(qs wire.Questions, code wire.Error) {
	a.Open &^= qs
	for q := range qs.Each() {
		a.Err[q] = code
	}
}

// Drop gives up those questions in qs that are open. Requests that are due for qs are not
// sent.
func (a *Agenda) Drop(qs wire.Questions, code wire.Error) {
	a.due &^= qs
	a.giveUp(qs&a.Open, code)
}

// longest returns the silent question that usually has the longest answer: RULES, if
// RULES is silent (EC-95).
func (a *Agenda) longest() wire.Questions {
	qs := a.Silent()
	if qs == 0 {
		return 0
	}
	return 1 << (bits.Len8(uint8(qs)) - 1)
}

// most returns, of the silent questions in qs, the one that has had the most attempts,
// and the number n of its attempts. If no question in qs is silent, n is 0.
func (a *Agenda) most(qs wire.Questions) (most wire.Question, n int) {
	for q := range (a.Silent() & qs).Each() {
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
