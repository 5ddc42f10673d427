package flagvalue

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/wire"
)

// Order is the value of a flag for the order in which targets are queried: whether it
// is the order of the input.
type Order bool

// Set parses "random" or "input".
func (o *Order) Set(s string) error {
	*o = s == "input"
	if s != o.String() {
		return errors.New("want random or input")
	}
	return nil
}

func (o *Order) String() string {
	if *o {
		return "input"
	}
	return "random"
}

func (o *Order) Type() string { return "ORDER" }

// Seed is the value of a flag for the seed of the random order.
type Seed struct {
	N     uint64
	Given bool
}

// Set parses an unsigned decimal number.
func (s *Seed) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return errors.New("want a whole number from 0 to 18446744073709551615")
	}
	*s = Seed{n, true}
	return nil
}

func (s *Seed) String() string {
	if !s.Given {
		return ""
	}
	return strconv.FormatUint(s.N, 10)
}

func (s *Seed) Type() string { return "N" }

// Shard is the value of a flag for one shard of all addresses.
type Shard list.Shard

// Set parses I/N or auto/N. With auto, I is the index that Kubernetes or Slurm
// assigns to this job.
func (s *Shard) Set(text string) error {
	if text == "" {
		return errors.New("want I/N such as 0/16, or auto/16")
	}
	v, err := list.ParseShard(text, cmp.Or(os.Getenv("JOB_COMPLETION_INDEX"), os.Getenv("SLURM_ARRAY_TASK_ID")))
	if err != nil {
		return err
	}
	*s = Shard(v)
	return nil
}

func (s *Shard) String() string {
	if s.Count == 0 {
		return ""
	}
	return list.Shard(*s).String()
}

func (s *Shard) Type() string { return "I/N" }

// Questions is the value of a flag for a set of questions: info,players,rules,ping.
// A ping needs at least one of the other questions.
type Questions scanner.Questions

// Set parses a list of questions, separated by commas.
func (q *Questions) Set(s string) error {
	var set scanner.Questions
	for word := range strings.SplitSeq(s, ",") {
		var named scanner.Questions
		for one := range wire.QuestionChallenge {
			if one.String() == word {
				named = 1 << one
			}
		}
		if set |= named; named == 0 {
			return errors.New("want one or more of info, players, rules with commas between them, and optionally ping")
		}
	}
	if set == scanner.AskPing {
		return errors.New("a ping is sent beside info, players or rules: want info,ping")
	}
	*q = Questions(set)
	return nil
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

// StatusKind is the value of a flag for the kind of status lines. The zero value
// means text.
type StatusKind struct {
	word  string
	Given bool
}

var statusModes = []string{"text", "json", "none"}

// Set parses text, json or none.
func (m *StatusKind) Set(s string) error {
	if !slices.Contains(statusModes, s) {
		return errors.New("want text, json or none")
	}
	*m = StatusKind{s, true}
	return nil
}

func (m *StatusKind) String() string {
	if m.word == "" {
		return statusModes[0]
	}
	return m.word
}

func (m *StatusKind) Type() string { return "KIND" }
