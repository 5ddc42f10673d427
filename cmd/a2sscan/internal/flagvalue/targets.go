package flagvalue

import (
	"cmp"
	"errors"
	"os"
	"strconv"

	"github.com/a2sscan/a2sscan/scanner/list"
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
