package list

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCount: Count counts what From does, and returns the first targets that From yields, for
// networks that overlap each other and the exclusions, in any order and shard.
func TestCount(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 9))
	addr := func() string { return fmt.Sprintf("9.9.%d.%d", rnd.IntN(4), rnd.IntN(256)) }
	network := func() string { return fmt.Sprintf("%s/%d", addr(), 22+rnd.IntN(10)) }
	for range 60 {
		var args, excluded []string
		for range 1 + rnd.IntN(3) {
			args = append(args, netip.MustParsePrefix(network()).Masked().String())
		}
		for range rnd.IntN(4) {
			excluded = append(excluded, netip.MustParsePrefix(network()).Masked().String(), addr()+"-9.9.4.7")
		}
		var lines strings.Builder
		for range rnd.IntN(30) {
			fmt.Fprintf(&lines, "%s:%d\n%s\n0.0.0.0:1\n10.0.0.%d:2\nx\n[::1]:5\n", addr(), rnd.IntN(5), addr(), rnd.IntN(9))
		}
		shard := Shard{}
		if rnd.IntN(2) == 0 {
			shard = Shard{Index: 1, Count: 3}
		}
		open := func(inOrder bool) *List {
			x, err := NewExclusions(false, excluded, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			l, err := Open(Config{
				Args: append(slices.Clone(args), "-"), Stdin: strings.NewReader(lines.String()), Ports: []uint16{1, 3, 7},
				Exclusions: x, Seed: 5, Shard: shard, InOrder: inOrder,
			})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		for _, inOrder := range []bool{false, true} {
			one, all := open(inOrder), open(inOrder)
			var want []netip.AddrPort
			most, over, taken := rnd.IntN(3), uint64(0), map[netip.Addr]int{}
			for target := range one.From(0) {
				if taken[target.Addr.Addr()]++; most > 0 && taken[target.Addr.Addr()] > most {
					over++
				} else {
					want = append(want, target.Addr)
				}
			}
			got, gotOver := all.Count(t.Context(), 10, most)
			if gotOver != over {
				t.Errorf("in order %v: %d targets over %d per address, want %d", inOrder, gotOver, most, over)
			}
			if want = want[:min(10, len(want))]; !slices.Equal(got, want) {
				t.Errorf("in order %v: first %v, want %v", inOrder, got, want)
			}
			if all.Stats() != one.Stats() || all.Err() != nil {
				t.Errorf("in order %v, %v without %v, shard %v: %+v, want %+v, %v", inOrder, args, excluded, shard, all.Stats(), one.Stats(), all.Err())
			}
			if a, b := all.cfg.Exclusions.Counts(), one.cfg.Exclusions.Counts(); !slices.Equal(a, b) {
				t.Errorf("in order %v: %+v, want %+v", inOrder, a, b)
			}
		}
	}
}

// TestCountAll: all addresses with all ports are counted without passing each of them, also
// if the scan has shards.
func TestCountAll(t *testing.T) {
	var ports []uint16
	for port := 1; port < 1<<16; port++ {
		ports = append(ports, uint16(port))
	}
	for _, shard := range []Shard{{}, {3, 7}} {
		l, err := Open(Config{Args: []string{"0.0.0.0/0"}, Ports: ports, Shard: shard})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		first, _ := l.Count(t.Context(), 10, 0)
		t.Logf("shard %v: counted in %v", shard, time.Since(began))
		if s := l.Stats(); s.Read != (1<<32)*65535 || s.Given == 0 || len(first) != 10 {
			t.Errorf("shard %v: %+v, first %v", shard, s, first)
		}
		// The shares of 7 parts differ by one address, because 2^32 has the remainder 4.
		if here := l.Stats().Read - l.Stats().OtherShard; shard.Count > 1 && here/65535 != 1<<32/7+1 {
			t.Errorf("shard %v has %d targets", shard, here)
		}
	}
}

// TestShardCount: a part is counted exactly, in spans shorter and longer than half of all
// addresses.
func TestShardCount(t *testing.T) {
	const last = 1<<32 - 1
	for _, s := range []Shard{{0, 2}, {2, 3}, {3, 7}, {65535, 65536}, {0, 1}, {}} {
		const cut = 1 << 20
		inside := uint64(0)
		for ip := range uint32(cut) {
			if s.has(ip) {
				inside++
			}
		}
		all := s.count(t.Context(), span{0, last})
		if got := s.count(t.Context(), span{0, cut - 1}); got != inside {
			t.Errorf("%v: %d addresses, want %d", s, got, inside)
		}
		if got := s.count(t.Context(), span{cut, last}); got != all-inside {
			t.Errorf("%v: %d other addresses, want %d", s, got, all-inside)
		}
	}
	sum := uint64(0)
	for i := range 7 {
		sum += Shard{i, 7}.count(t.Context(), span{0, last})
	}
	if sum != 1<<32 {
		t.Errorf("the parts have %d addresses", sum)
	}
}

// TestCountPorts: a list of ports that many networks repeat is parsed only once, also if the
// networks have it and another list in turn.
func TestCountPorts(t *testing.T) {
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "20.%d.%d.0/24:%d-30003\n", i/256, i%256, 1017+i%2)
	}
	l, err := Open(Config{Args: []string{"-"}, Stdin: strings.NewReader(lines.String())})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l.Count(t.Context(), 10, 0)
	runtime.ReadMemStats(&after)
	const all = 2000 * 29_000 * 2 // bytes that the ports of all networks take
	if s := l.Stats(); s.Given != 1000*256*(28987+28986) || after.TotalAlloc-before.TotalAlloc > all/2 {
		t.Errorf("counted with %d bytes: %+v", after.TotalAlloc-before.TotalAlloc, s)
	}
}
