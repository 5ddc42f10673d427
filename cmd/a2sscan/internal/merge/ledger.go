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
func sumLedgers(parts []*part) (all ledger.Ledger, gaps []string) {
	first := parts[0].sum.Targets
	all = ledger.Ledger{Read: first.Read, Invalid: first.Invalid, Duplicate: first.Duplicate, By: map[string]uint64{}}
	for _, p := range parts {
		l := &p.sum.Targets
		if l.Read != first.Read || l.Invalid != first.Invalid || l.Duplicate != first.Duplicate {
			gaps = append(gaps, fmt.Sprintf(
				"%s read %d entries (%d invalid, %d duplicate), and %s %d (%d invalid, %d duplicate)",
				parts[0].name, first.Read, first.Invalid, first.Duplicate, p.name, l.Read, l.Invalid, l.Duplicate))
		}
		all.Unscannable += l.Unscannable
		all.NoPort += l.NoPort
		all.Excluded += l.Excluded
		all.OverLimit += l.OverLimit
		all.Stopped += l.Stopped
		all.Finished += l.Finished
		all.Unfinished += l.Unfinished
		addCounts(all.By, l.By)
	}
	if n := all.LeftOut() + all.Finished + all.Unfinished; n != all.Read {
		gaps = append(gaps, fmt.Sprintf("the list has %d entries, and all parts account for %d", all.Read, n))
	}
	if parts[0].sum.Plan.MaxTargets > 0 && len(parts) > 1 {
		gaps = append(gaps, "--max-targets ended each shard early: together they did not ask the whole list")
	}
	return all, gaps
}

// addCounts adds the counts in from to those in to.
func addCounts(to, from map[string]uint64) {
	for name, n := range from {
		to[name] += n
	}
}

// sumDatagrams adds up the datagram counts of all parts.
func sumDatagrams(parts []*part) ledger.Datagrams {
	all := ledger.Datagrams{
		SentBy: map[string]uint64{}, SendFaults: map[string]uint64{}, ByClass: map[string]uint64{},
		ByKind: map[string]uint64{}, Foreign: map[string]uint64{},
	}
	for _, p := range parts {
		addDatagrams(&all, &p.sum.Datagrams)
	}
	return all
}

func addDatagrams(to, d *ledger.Datagrams) {
	for _, c := range []struct{ to, from *uint64 }{
		{&to.Sent, &d.Sent}, {&to.SentBytes, &d.SentBytes}, {&to.Repeats, &d.Repeats}, {&to.Pairs, &d.Pairs},
		{&to.SendErrors, &d.SendErrors}, {&to.SendPutOff, &d.SendPutOff},
		{&to.Received, &d.Received}, {&to.ReceivedBytes, &d.ReceivedBytes}, {&to.KernelDrops, &d.KernelDrops},
		{&to.ForeignReplies, &d.ForeignReplies}, {&to.EarlyReplies, &d.EarlyReplies},
		{&to.Conflicts, &d.Conflicts}, {&to.LateConflicts, &d.LateConflicts},
	} {
		*c.to += *c.from
	}
	to.PairsLost = to.PairsLost || d.PairsLost
	to.Forged = to.Forged || d.Forged
	to.LateServers = append(to.LateServers, d.LateServers...)
	addCounts(to.SentBy, d.SentBy)
	addCounts(to.SendFaults, d.SendFaults)
	addCounts(to.ByClass, d.ByClass)
	addCounts(to.ByKind, d.ByKind)
	addCounts(to.Foreign, d.Foreign)
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
