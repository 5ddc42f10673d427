package flagvalue

import (
	"errors"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// Questions is the value of a flag for a set of questions: info,players,rules,ping.
// A ping needs at least one of the other questions.
type Questions scanner.Questions

// Set parses a list of questions, separated by commas.
func (q *Questions) Set(s string) error {
	var set scanner.Questions
	for word := range strings.SplitSeq(s, ",") {
		one, ok := questionOf(word)
		if !ok {
			return errors.New("want one or more of info, players, rules with commas between them, and optionally ping")
		}
		set |= one
	}
	if set == scanner.AskPing {
		return errors.New("a ping is sent beside info, players or rules: want info,ping")
	}
	*q = Questions(set)
	return nil
}

func questionOf(word string) (scanner.Questions, bool) {
	for q := range wire.QuestionChallenge {
		if q.String() == word {
			return 1 << q, true
		}
	}
	return 0, false
}

func (q *Questions) String() string {
	var words []string
	for one := range wire.QuestionChallenge {
		if scanner.Questions(*q).Has(one) {
			words = append(words, one.String())
		}
	}
	return strings.Join(words, ",")
}

func (q *Questions) Type() string { return "LIST" }
