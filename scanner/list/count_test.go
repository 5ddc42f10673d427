package list

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
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
			for target := range one.From(0) {
				want = append(want, target.Addr)
			}
			got := all.Count(t.Context(), 10)
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

// TestCountAll: all addresses with all ports are counted without passing each of them.
func TestCountAll(t *testing.T) {
	var ports []uint16
	for port := 1; port < 1<<16; port++ {
		ports = append(ports, uint16(port))
	}
	l, err := Open(Config{Args: []string{"0.0.0.0/0"}, Ports: ports})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	first := l.Count(t.Context(), 10)
	t.Logf("counted in %v", time.Since(began))
	if s := l.Stats(); s.Read != (1<<32)*65535 || s.Given == 0 || len(first) != 10 {
		t.Errorf("%+v, first %v", s, first)
	}
}
