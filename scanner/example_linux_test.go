package scanner_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
)

// simulate runs three simulated servers on this machine, so that the example has
// targets.
func simulate() (stop func()) {
	f, err := fleet.New(fleet.Config{
		Network: netip.MustParsePrefix("127.77.0.0/30"), Ports: []uint16{27402}, Seed: 36,
		Kinds: []fleet.Kind{fleet.Source},
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Serve(ctx) }()
	return func() {
		cancel()
		<-done
		f.Close()
	}
}

// Scanning a slice of addresses. (simulate runs servers on loopback. For real ones
// use the zero Config.)
func ExampleScan() {
	defer simulate()()
	targets := []scanner.Target{
		{Addr: netip.MustParseAddrPort("127.77.0.1:27402")},
		{Addr: netip.MustParseAddrPort("127.77.0.2:27402"), Tag: "a friend's"},
		{Addr: netip.MustParseAddrPort("127.77.0.3:27402")},
	}
	cfg := scanner.Config{Cooldown: scanner.Off} // nothing comes late here
	stats, err := scanner.Scan(context.Background(), cfg, slices.Values(targets), func(r *scanner.Result) {
		fmt.Printf("%v (%s) %v %q: %d players, %d rules\n",
			r.Addr, r.Tag, r.Status, r.Info.Name, len(r.Players), len(r.Rules))
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(stats.Answered(), "of", stats.TargetsFinished(), "answered")
	// Unordered output:
	// 127.77.0.1:27402 () ok "uwu Trade #4823": 18 players, 22 rules
	// 127.77.0.2:27402 (a friend's) ok "24/7 Surf Beginner #3582": 13 players, 13 rules
	// 127.77.0.3:27402 () ok "[EU] Fun Server #7592": 19 players, 16 rules
	// 3 of 3 answered
}

// Keeping Results beyond the call: their memory belongs to the scan.
func ExampleResult_Clone() {
	defer simulate()()
	var kept []*scanner.Result
	targets := func(yield func(scanner.Target) bool) { // or any other sequence
		for i := range byte(3) {
			addr := netip.AddrFrom4([4]byte{127, 77, 0, i + 1})
			if !yield(scanner.Target{Addr: netip.AddrPortFrom(addr, 27402)}) {
				return
			}
		}
	}
	cfg := scanner.Config{Questions: scanner.AskInfo, Cooldown: scanner.Off}
	if _, err := scanner.Scan(context.Background(), cfg, targets, func(r *scanner.Result) {
		kept = append(kept, r.Clone())
	}); err != nil {
		fmt.Println(err)
	}
	slices.SortFunc(kept, func(a, b *scanner.Result) int { return a.Addr.Compare(b.Addr) })
	for _, r := range kept {
		fmt.Printf("%v %q on %s\n", r.Addr, r.Info.Game, r.Info.Map)
	}
	// Output:
	// 127.77.0.1:27402 "Squad" on Narva_RAAS_v1
	// 127.77.0.2:27402 "Team Fortress" on pl_badwater
	// 127.77.0.3:27402 "Team Fortress" on pl_badwater
}
