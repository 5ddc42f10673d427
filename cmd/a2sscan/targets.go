package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// targetFlags choose the targets of a list and their order.
type targetFlags struct {
	order   flagvalue.Order
	seed    flagvalue.Seed
	shard   flagvalue.Shard
	strict  bool
	resolve bool
}

func (f *targetFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Var(&f.order, "order", "in which targets are asked: random, or input, which reads lists while it asks")
	fs.Var(&f.seed, "seed", "number that chooses the random order: the same targets and seed, the same order (default: by chance)")
	fs.Var(&f.shard, "shard", "ask only part `I/N` of all addresses, I from 0 to N-1; auto/N takes I from JOB_COMPLETION_INDEX (Kubernetes) or SLURM_ARRAY_TASK_ID (default all)")
	fs.BoolVar(&f.strict, "strict", false, "refuse a list with a bad line, before anything is sent")
	fs.BoolVar(&f.resolve, "resolve", false, "look up host names in lists and arguments, and ask all of their IPv4 addresses")
}

// check settles what was not said.
func (f *targetFlags) check() error {
	if f.seed.Given && f.order == flagvalue.Order(list.OrderInput) {
		return console.Fail(console.ExitUsage, "--seed with --order input").
			WithHint("the order of the input needs no seed")
	}
	if !f.seed.Given {
		f.seed.N = rand.Uint64N(1 << 32) // short enough to be typed again
	}
	return nil
}

// into sets what the flags say.
func (f *targetFlags) into(cfg *list.Config) {
	cfg.Order = list.Order(f.order)
	cfg.Seed = f.seed.N
	cfg.Shard = list.Shard(f.shard)
	cfg.Strict = f.strict
	if f.resolve {
		cfg.Resolve = inputs.Resolve
	}
}

// said is in which order the targets are asked, in words.
func (f *targetFlags) said() string {
	s := "in the order of the input"
	if f.order == flagvalue.Order(list.OrderRandom) {
		s = fmt.Sprintf("in random order, --seed %d", f.seed.N)
	}
	if f.shard.Count > 1 {
		s += ", --shard " + f.shard.String()
	}
	return s
}
