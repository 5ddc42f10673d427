package merge

import (
	"fmt"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

// sumLedgers adds up the ledgers of shards. Each shard reads the whole list and
// counts the addresses of other shards as other_shard. The sum has no other_shard
// and accounts for every target of the list once. gaps describes what contradicts
// that.
func sumLedgers(parts []*part) (all ledger.Counts, gaps []string) {
	first := parts[0].sum.Targets
	all = ledger.Counts{}
	for _, p := range parts {
		l := p.sum.Targets
		for i := range ledger.Table {
			c := &ledger.Table[i]
			if c.Kind == ledger.Shared && l.N(c.Name) != first.N(c.Name) {
				gaps = append(gaps, fmt.Sprintf("%s counts %d %s, and %s %d",
					parts[0].name, first.N(c.Name), c.Name, p.name, l.N(c.Name)))
			}
		}
		all.Add(l)
	}
	if n := all.LeftOut() + all.N("finished") + all.N("unfinished"); n != all.N("read") {
		gaps = append(gaps, fmt.Sprintf("the list has %d entries, and all parts account for %d", all.N("read"), n))
	}
	if parts[0].sum.Plan.MaxTargets > 0 && len(parts) > 1 {
		gaps = append(gaps, "--max-targets ended each shard early: together they did not ask the whole list")
	}
	return all, gaps
}

// sumDatagrams adds up the datagram counts of all parts.
func sumDatagrams(parts []*part) ledger.Datagrams {
	all := ledger.Datagrams{Counts: ledger.Counts{}}
	for _, p := range parts {
		all.Add(p.sum.Datagrams.Counts)
		all.LateServers = append(all.LateServers, p.sum.Datagrams.LateServers...)
	}
	return all
}

// sumExclusions adds up the counts of rules with the same network and source.
func sumExclusions(parts []*part) []ledger.Exclusion {
	all := []ledger.Exclusion{}
	for _, p := range parts {
		for _, x := range p.sum.Exclusions {
			at := slices.IndexFunc(all, func(y ledger.Exclusion) bool {
				return y.Network == x.Network && y.Source == x.Source
			})
			if at < 0 {
				all = append(all, x)
				continue
			}
			all[at].Targets += x.Targets
			all[at].Stopped += x.Stopped
		}
	}
	return all
}

// sumRates adds up the rates, because the shards may have run at the same time. If
// a part has no limit, neither has the sum.
func sumRates(parts []*part) (r ledger.Rates) {
	asked := 0.0
	for _, p := range parts {
		r.RateReached += p.sum.RateReached
		if p.sum.RateAsked == nil {
			asked = -1
		} else if asked >= 0 {
			asked += *p.sum.RateAsked
		}
	}
	if asked > 0 {
		r.RateAsked = &asked
	}
	return r
}

// addAsks adds up how many servers first answered attempt 1, 2, and so on.
func addAsks(parts []*part) (at []uint64) {
	for _, p := range parts {
		for i, n := range p.sum.FirstAnswers.AtAsk {
			for len(at) <= i {
				at = append(at, 0)
			}
			at[i] += n
		}
	}
	return at
}
