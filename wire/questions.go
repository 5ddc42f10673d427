package wire

import (
	"iter"
	"math/bits"
)

// Questions is a set of questions.
type Questions uint8

// The sets of one question each, and AskAll, the set of the three questions that
// determine a target's status. AskAll does not contain the ping, because a ping never
// affects the status.
const (
	AskInfo    = Questions(1 << QuestionInfo)
	AskPlayers = Questions(1 << QuestionPlayers)
	AskRules   = Questions(1 << QuestionRules)
	AskAll     = AskInfo | AskPlayers | AskRules
	AskPing    = Questions(1 << QuestionPing)
)

// Has reports whether q is in the set.
func (qs Questions) Has(q Question) bool { return qs&(1<<q) != 0 }

// First returns the first question of qs, which must not be empty.
func (qs Questions) First() Question { return Question(bits.TrailingZeros8(uint8(qs))) }

// Lowest returns the first question of qs, as a set.
func (qs Questions) Lowest() Questions { return qs & -qs }

// Each yields the questions of qs in order.
func (qs Questions) Each() iter.Seq[Question] {
	return func(yield func(Question) bool) {
		for ; qs != 0; qs &= qs - 1 {
			if !yield(qs.First()) {
				return
			}
		}
	}
}
