package flagvalue

import (
	"errors"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// Questions is a flag's set of questions: info,players,rules.
type Questions scanner.Questions

// Set reads a list of questions.
func (q *Questions) Set(s string) error {
	var set scanner.Questions
	for word := range strings.SplitSeq(s, ",") {
		one, ok := questionOf(word)
		if !ok {
			return errors.New("want one or more of info, players, rules with commas between them")
		}
		set |= one
	}
	*q = Questions(set)
	return nil
}

func questionOf(word string) (scanner.Questions, bool) {
	for q := range wire.Question(wire.NumQuestions) {
		if q.String() == word {
			return 1 << q, true
		}
	}
	return 0, false
}

func (q *Questions) String() string {
	var words []string
	for one := range wire.Question(wire.NumQuestions) {
		if scanner.Questions(*q).Has(one) {
			words = append(words, one.String())
		}
	}
	return strings.Join(words, ",")
}

// Type is the word that stands for the value in the help.
func (q *Questions) Type() string { return "LIST" }
