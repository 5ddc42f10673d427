package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// targetFlags say which targets of a list are asked, and in which order.
type targetFlags struct {
	order   flagvalue.Order
	seed    flagvalue.Seed
	shard   flagvalue.Shard
	strict  bool
	resolve bool

	known    *checkpoint.HostNames     // what names stood for; nil: nobody wants to know
	leaveOut func(list.RuleID, uint64) // told what is left out by which rule; nil: nobody
	passed   func(netip.Addr)          // told what earlier parts were given; nil: nobody
}

func (f *targetFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Var(&f.order, "order", "in which targets are asked: random, or input, which reads lists while it asks")
	fs.Var(&f.seed, "seed", "number that chooses the random order: the same targets and seed, the same order (default: by chance)")
	fs.Var(&f.shard, "shard", "ask only part `I/N` of all addresses, I from 0 to N-1; auto/N takes I from JOB_COMPLETION_INDEX (default all)")
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
	cfg.LeftOut, cfg.Passed = f.leaveOut, f.passed
	if f.resolve {
		cfg.Resolve = resolve
		if f.known != nil {
			cfg.Resolve = f.known.Resolver(resolve)
		}
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

// resolve looks up the IPv4 addresses of a host.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return nil, errors.New(dns.Err) // the name is said anyway
	}
	return addrs, err
}

// load reads the lists, as far as they have to be read before the first
// target, with a status line. A signal ends it.
func (j *job) load(stop *shutdown.Shutdown) error {
	defer j.status.WatchLoading(j.list.Loading)()
	return loadFailure(j.list.Load(stop.Drained))
}

// loadFailure gives an error of Load its exit code.
func loadFailure(err error) error {
	switch bad, isLine := errors.AsType[list.Invalid](err); {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return console.Fail(console.ExitInterrupted, "interrupted before the first packet")
	case isLine:
		return console.Fail(console.ExitInput, "%s:%d: %w: %s", console.Plain(bad.File, 100), bad.Line, bad.Err, console.Quoted(bad.Text, 60)).
			WithHint("without --strict such lines are counted and passed over")
	}
	f := targetFailure(err)
	f.Code = console.ExitInput
	return f
}
