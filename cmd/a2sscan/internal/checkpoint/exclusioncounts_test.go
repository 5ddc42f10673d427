package checkpoint

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/list"
)

// someRules returns n exclusion rules.
func someRules(t *testing.T, n int) (rules []list.RuleID) {
	t.Helper()
	cfg := list.ExclusionConfig{AllowReserved: true}
	for i := range n {
		cfg.Networks = append(cfg.Networks, fmt.Sprintf("10.0.%d.0", i))
	}
	x, err := list.NewExclusions(cfg)
	if err != nil {
		t.Fatal(err)
	}
	list, err := list.Open(list.Config{
		Args: cfg.Networks, Exclusions: x, LeftOut: func(r list.RuleID, _ uint64) { rules = append(rules, r) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range list.All() {
	}
	return rules
}

// TestExclusionCounts: takeOldest returns for each gap exactly the counts that were
// added to it, with one entry per rule. This holds for gaps of few rules and of
// many, even while the next gap is open.
func TestExclusionCounts(t *testing.T) {
	rules := someRules(t, 3*fewRules)
	if len(rules) != 3*fewRules {
		t.Fatalf("%d rules", len(rules))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var l exclusionCounts
	var gaps []map[list.RuleID]uint64 // the closed gaps
	var sizes []int
	gap := map[list.RuleID]uint64{}
	taken := 0
	for range 20_000 {
		switch rnd.IntN(30) {
		case 0:
			gaps, sizes = append(gaps, gap), append(sizes, l.close())
			gap = map[list.RuleID]uint64{}
		case 1:
			if len(gaps) == 0 {
				continue
			}
			got := map[list.RuleID]uint64{}
			for _, c := range l.takeOldest(sizes[0]) {
				if _, twice := got[c.rule]; twice {
					t.Fatal("a gap has two entries for one rule")
				}
				got[c.rule] = c.targets
			}
			if !maps.Equal(got, gaps[0]) {
				t.Fatalf("gap %d: %v, want %v", taken, got, gaps[0])
			}
			gaps, sizes, taken = gaps[1:], sizes[1:], taken+1
		default:
			rule, n := rules[rnd.IntN(1+rnd.IntN(len(rules)))], rnd.Uint64N(9)+1
			l.add(rule, n)
			gap[rule] += n
		}
	}
	if taken < 100 {
		t.Errorf("%d gaps", taken)
	}
}
