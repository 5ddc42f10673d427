package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/scanner/list"
)

// targetFlags say which targets of a list are asked, and in which order.
type targetFlags struct {
	order   order
	seed    seed
	shard   shard
	strict  bool
	resolve bool

	known    *names                    // what names stood for; nil: nobody wants to know
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
	if f.seed.said && f.order == order(list.OrderInput) {
		return console.Fail(console.ExitUsage, "--seed with --order input").
			WithHint("the order of the input needs no seed")
	}
	if !f.seed.said {
		f.seed.n = rand.Uint64N(1 << 32) // short enough to be typed again
	}
	return nil
}

// into sets what the flags say.
func (f *targetFlags) into(cfg *list.Config) {
	cfg.Order = list.Order(f.order)
	cfg.Seed = f.seed.n
	cfg.Shard = list.Shard(f.shard)
	cfg.Strict = f.strict
	cfg.LeftOut, cfg.Passed = f.leaveOut, f.passed
	if f.resolve {
		cfg.Resolve = resolve
		if f.known != nil {
			cfg.Resolve = f.known.remember(resolve)
		}
	}
}

// said is in which order the targets are asked, in words.
func (f *targetFlags) said() string {
	s := "in the order of the input"
	if f.order == order(list.OrderRandom) {
		s = fmt.Sprintf("in random order, --seed %d", f.seed.n)
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

// order is a flag's order of targets.
type order list.Order

// Set reads "random" or "input".
func (o *order) Set(s string) error {
	for _, known := range []list.Order{list.OrderRandom, list.OrderInput} {
		if s == known.String() {
			*o = order(known)
			return nil
		}
	}
	return errors.New("want random or input")
}

func (o *order) String() string { return list.Order(*o).String() }

// Type is the word that stands for the value in the help.
func (o *order) Type() string { return "ORDER" }

// seed is a flag's number, which may have been left to chance.
type seed struct {
	n    uint64
	said bool
}

// Set reads a number.
func (s *seed) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return errors.New("want a whole number from 0 to 18446744073709551615")
	}
	*s = seed{n, true}
	return nil
}

func (s *seed) String() string {
	if !s.said {
		return ""
	}
	return strconv.FormatUint(s.n, 10)
}

// Type is the word that stands for the value in the help.
func (s *seed) Type() string { return "N" }

// shard is a flag's part of all addresses.
type shard list.Shard

// Set reads I/N or auto/N.
func (s *shard) Set(text string) error {
	if text == "" {
		return errors.New("want I/N such as 0/16, or auto/16")
	}
	v, err := list.ParseShard(text, os.Getenv("JOB_COMPLETION_INDEX"))
	if err != nil {
		return err
	}
	*s = shard(v)
	return nil
}

func (s *shard) String() string {
	if s.Count == 0 {
		return ""
	}
	return list.Shard(*s).String()
}

// Type is the word that stands for the value in the help.
func (s *shard) Type() string { return "I/N" }
