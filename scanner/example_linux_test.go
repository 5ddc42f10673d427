package scanner_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/wire"
)

// simulate runs three simulated servers on this machine, on a free port, so that
// the example has targets.
func simulate() (port uint16, stop func()) {
	f, err := fleet.New(fleet.Config{
		Network: netip.MustParsePrefix("127.77.0.0/30"), Ports: []uint16{0}, Seed: 100,
		Kinds: []fleet.Kind{fleet.Source},
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Serve(ctx) }()
	return f.Config().Ports[0], func() {
		cancel()
		<-done
		f.Close()
	}
}

// Scan a slice of addresses. (simulate runs servers on loopback. For real servers
// use the zero Config.)
func ExampleScan() {
	port, stop := simulate()
	defer stop()
	targets := []scanner.Target{
		{Addr: netip.AddrPortFrom(netip.MustParseAddr("127.77.0.1"), port)},
		{Addr: netip.AddrPortFrom(netip.MustParseAddr("127.77.0.2"), port), Tag: "a friend's"},
		{Addr: netip.AddrPortFrom(netip.MustParseAddr("127.77.0.3"), port)},
	}
	cfg := scanner.Config{Cooldown: scanner.Off} // nothing comes late here
	stats, err := scanner.Scan(context.Background(), cfg, slices.Values(targets), func(r *scanner.Result) {
		fmt.Printf("%v (%s) %v %q: %d players, %d rules\n",
			r.Addr.Addr(), r.Tag, r.Status, r.Info.Name, len(r.Players), len(r.Rules))
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(stats.Answered(), "of", stats.TargetsFinished(), "answered")
	// Unordered output:
	// 127.77.0.1 () ok "Mutiny Dust2 only #2357": 6 players, 13 rules
	// 127.77.0.2 (a friend's) ok "BRASIL Noobs welcome #6183": 13 players, 12 rules
	// 127.77.0.3 () ok "[GER] Roleplay #404": 11 players, 32 rules
	// 3 of 3 answered
}

// Scan the addresses of a list: here two lines, but a list may be a file, a network or
// standard input, in any format that package list reads.
func ExampleScan_list() {
	port, stop := simulate()
	defer stop()
	all, err := list.NewExclusions(true, nil, nil, nil) // also scan loopback
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := list.Open(list.Config{
		Stdin:   strings.NewReader(fmt.Sprintf("127.77.0.2:%d a friend's\n127.77.0.3:%d\n", port, port)),
		InOrder: true, Exclusions: all,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = scanner.Scan(context.Background(), scanner.Config{Cooldown: scanner.Off}, l.From(0), func(r *scanner.Result) {
		fmt.Printf("%v (%s) %v\n", r.Addr.Addr(), r.Tag, r.Status)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// 127.77.0.2 (a friend's) ok
	// 127.77.0.3 () ok
}

// Keep Results after the function returns: their memory belongs to the scan.
func ExampleResult_Clone() {
	port, stop := simulate()
	defer stop()
	var kept []*scanner.Result
	targets := func(yield func(scanner.Target) bool) { // or any other sequence
		for i := range byte(3) {
			addr := netip.AddrFrom4([4]byte{127, 77, 0, i + 1})
			if !yield(scanner.Target{Addr: netip.AddrPortFrom(addr, port)}) {
				return
			}
		}
	}
	cfg := scanner.Config{Questions: wire.AskInfo, Cooldown: scanner.Off}
	if _, err := scanner.Scan(context.Background(), cfg, targets, func(r *scanner.Result) {
		kept = append(kept, r.Clone())
	}); err != nil {
		fmt.Println(err)
	}
	slices.SortFunc(kept, func(a, b *scanner.Result) int { return a.Addr.Compare(b.Addr) })
	for _, r := range kept {
		fmt.Printf("%v runs %s\n", r.Addr.Addr(), r.Info.Map)
	}
	// Output:
	// 127.77.0.1 runs world1
	// 127.77.0.2 runs Nordheim
	// 127.77.0.3 runs ttt_minecraft_b5
}
