package scan

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/wire"
)

func (s *Run) forecast(n float64) *Forecast {
	o := s.plan
	listed := n
	if size, known := s.list.Size(); known {
		listed *= float64(s.list.Listed()) / float64(max(size, 1))
	}
	fc := &Forecast{
		Listed: listed, InNetworks: n - listed,
		Questions: wire.Questions(o.Query), Schedule: o.Config().Schedule(), Fallback: o.Fallback,
		Rate: float64(o.Rate.Rate), Finds: o.Rate.On, AddressRate: float64(o.AddressRate),
	}
	if ports, err := ParsePorts("--port", o.Ports); err == nil {
		fc.Ports = len(ports)
	}
	return fc
}

// left returns how many targets are left to query, including the targets of other shards.
// The number is unknown if the length of the list is unknown.
func (s *Run) left() (n uint64, known bool) {
	size, known := s.list.Size()
	if !known {
		return 0, false
	}
	past := &s.checkpoint.Past
	n = size - min(size, past.Place)
	if most := s.plan.MaxTargets; most > 0 {
		n = min(n, most-min(most, past.List.Given))
	}
	return n + uint64(len(past.OpenTargets)) + uint64(past.Silent.Waiting()), true
}

func (s *Run) printPlan() {
	plan, left := s.plan, ""
	if s.checkpoint.Resumes {
		left = " left"
	}
	order := "in the order of the input"
	if !plan.InOrder() {
		order = fmt.Sprintf("in random order, --seed %d", plan.Seed)
	}
	shards := max(1, plan.Part().Count)
	if shards > 1 {
		order += ", --shard " + plan.Shard
	}
	n, known := s.left()
	switch {
	case known && n == 0: // the end of the run says that no target is left
	case s.plan.DryRun && known: // a dry run prints its forecast at the end, when it has counted the targets
		s.term.Say("%s%s %s", console.Plural(n, "target"), left, order)
	case !known:
		rate := console.PerSecond(float64(s.plan.Rate.Rate))
		if s.plan.Rate.On {
			rate = "at most " + rate
		}
		s.term.Say("targets%s: queried as they are read, %s; %s", left, rate, order)
	case shards > 1:
		s.term.Say("%s%s, 1 in %d of them in this shard, %s; %s", console.Plural(n, "target"), left, shards, s.forecast(float64(n)/float64(shards)), order)
	default:
		s.term.Say("%s%s, %s; %s", console.Plural(n, "target"), left, s.forecast(float64(n)), order)
	}
}

func (s *Run) dryRun() error {
	const shown = 10
	var end func()
	s.shutdown, _, end = NewShutdown(s.term, s.plan.Exclude.hangupEnds(), func() {})
	defer end()
	s.guard = &guard{drain: s.shutdown.Drain, interrupted: s.shutdown.Interrupted}
	if err := s.load(); err != nil {
		s.bad.Close()
		return err
	}
	all, known := s.left()
	all /= uint64(max(1, s.plan.Part().Count))
	endStatus := s.status.WatchTargets(Counting, func() (uint64, float64, bool) {
		n := s.list.Stats().Given
		return n, min(1, float64(n)/float64(max(all, 1))), known
	})
	first, asked, over, err := s.countTargets(shown)
	endStatus()
	if err != nil {
		return err
	}
	for _, addr := range first {
		fmt.Fprintln(s.program.Stdout, addr)
	}
	s.bad.Close()
	now, behind := s.list.Stats(), ""
	if s.checkpoint.Enabled {
		now = s.checkpoint.ListTotal(now)
		behind = console.Grouped(now.Given-asked-over) + " queried earlier + "
	} else if n := now.Given - asked - over; n > 0 {
		behind = console.Grouped(n) + " beyond --max-targets + "
	}
	if n := s.checkpoint.Past.Silent.Waiting(); s.checkpoint.SilentTargets != nil {
		s.term.Say("%s would be queried once more", console.Plural(n, "silent target"))
	}
	l := ledger.OfList(now)
	l.OverLimit = over
	s.term.Say("%s read = %s%s%s to be queried%s", console.Grouped(now.Read), l.Accounted(), behind, console.Grouped(asked), l.AtDefault())
	if (!s.checkpoint.Enabled || s.list.Err() != nil) && !s.emptyShard() {
		if err := NothingToAsk(s.list, s.exclusions); err != nil {
			return err
		}
	}
	if n := uint64(len(first)); n < min(asked, shown) {
		s.term.Say("listed only %s: many excluded targets come before the next target", console.Plural(n, "target"))
	} else if n < asked {
		s.term.Say("the first %d targets are listed", n)
	}
	s.term.Say("%s would be queried: %s", console.Plural(asked, "target"), s.forecast(float64(asked)))
	s.term.Say("each target would be asked for %s; nothing was sent", strings.ReplaceAll(s.plan.Query.String(), ",", ", "))
	return Truncated(s.list)
}

// countTargets returns how many targets the scan would query, the first n of them, and how
// many targets it would skip because of --max-per-address. Usually the list itself counts
// the targets. But if the scan is resumed, or has --max-targets and either
// --max-per-address or a list that it reads while it runs, countTargets iterates over the
// targets: which of them come first decides how many are over the limit.
func (s *Run) countTargets(n int) (first []netip.AddrPort, asked, over uint64, err error) {
	interrupted := console.Fail(console.ExitInterrupted, "interrupted")
	most, perAddress := s.plan.MaxTargets, s.plan.MaxPerAddress
	size, known := s.list.Size()
	if !s.checkpoint.Resumes && (most == 0 || known && (perAddress == 0 || most >= size)) {
		if first, over = s.list.Count(s.shutdown.Drained, n, perAddress); s.shutdown.Interrupted() {
			return nil, 0, 0, interrupted
		}
		asked = s.list.Stats().Given - over
		if most > 0 {
			asked = min(asked, most)
		}
		return first[:min(uint64(len(first)), asked)], asked, over, nil
	}
	taken := s.checkpoint.Recount(s.list)
	if taken == nil {
		taken = map[netip.Addr]int{}
	}
	for t := range s.checkpoint.Targets(s.list) {
		if s.shutdown.Interrupted() {
			return nil, 0, 0, interrupted
		}
		addr := t.Addr.Addr()
		if perAddress > 0 && taken[addr] >= perAddress {
			over++
			continue
		}
		if perAddress > 0 {
			taken[addr]++
		}
		if asked++; len(first) < n {
			first = append(first, t.Addr)
		}
	}
	return first, asked, over, nil
}
