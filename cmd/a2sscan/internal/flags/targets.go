package flags

import (
	"cmp"
	"errors"
	"os"
	"strings"

	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/wire"
)

// ParseOrder accepts "random" and "input".
func ParseOrder(s string) (order string, err error) {
	if s != "input" && s != "random" {
		return "", errors.New("use random or input")
	}
	return s, nil
}

// ParseShard returns I/N for I/N or auto/N. With auto, I is the index that Kubernetes or
// Slurm assigns to this job.
func ParseShard(text string) (string, error) {
	if text == "" {
		return "", errors.New("use I/N such as 0/16, or auto/16")
	}
	shard, err := list.ParseShard(text, cmp.Or(os.Getenv("JOB_COMPLETION_INDEX"), os.Getenv("SLURM_ARRAY_TASK_ID")))
	return shard.String(), err
}

// Questions is the value of a flag for a set of questions: info,players,rules,ping.
// A ping needs at least one of the other questions.
type Questions wire.Questions

// Set parses a list of questions, separated by commas.
func (q *Questions) Set(s string) error {
	var set wire.Questions
	for word := range strings.SplitSeq(s, ",") {
		var named wire.Questions
		for one := range wire.QuestionChallenge {
			if one.String() == word {
				named = 1 << one
			}
		}
		if set |= named; named == 0 {
			return errors.New("use info, players or rules, separated by commas, and optionally ping")
		}
	}
	if set == wire.AskPing {
		return errors.New("ping needs info, players or rules, too: use a list such as info,ping")
	}
	*q = Questions(set)
	return nil
}

// MarshalText returns the list in the form that Set reads.
func (q Questions) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

// UnmarshalText sets the list from what MarshalText returned.
func (q *Questions) UnmarshalText(text []byte) error { return q.Set(string(text)) }

func (q Questions) String() string {
	var words []string
	for one := range wire.QuestionChallenge {
		if wire.Questions(q).Has(one) {
			words = append(words, one.String())
		}
	}
	return strings.Join(words, ",")
}

func (q *Questions) Type() string { return "LIST" }
