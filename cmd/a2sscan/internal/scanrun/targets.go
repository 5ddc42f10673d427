package scanrun

import (
	"fmt"
	"math/rand/v2"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// Targets selects the targets of the lists and their order.
type Targets struct {
	Order   flagvalue.Order
	Seed    flagvalue.Seed
	Shard   flagvalue.Shard
	Strict  bool // refuse a list with a bad line
	Resolve bool // look up host names in lists, too
}

// check chooses a seed if none is given. It returns an error if a seed is given for
// the order of the input.
func (t *Targets) check() error {
	if t.Seed.Given && bool(t.Order) {
		return console.Fail(console.ExitUsage, "--seed with --order input").
			WithHint("the order of the input needs no seed")
	}
	if !t.Seed.Given {
		t.Seed.N = rand.Uint64N(1 << 32) // short enough to type again
	}
	return nil
}

// into sets the options of cfg that t determines.
func (t *Targets) into(cfg *list.Config) {
	cfg.InOrder = bool(t.Order)
	cfg.Seed = t.Seed.N
	cfg.Shard = list.Shard(t.Shard)
	cfg.Strict = t.Strict
	cfg.Resolve = inputs.Resolve
	cfg.OnlyArgs = !t.Resolve
}

// said describes the order in which the targets are queried.
func (t *Targets) said() string {
	s := "in the order of the input"
	if !t.Order {
		s = fmt.Sprintf("in random order, --seed %d", t.Seed.N)
	}
	if t.Shard.Count > 1 {
		s += ", --shard " + t.Shard.String()
	}
	return s
}
