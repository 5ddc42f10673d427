package list

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/target"
)

// sources holds the inputs for one list: arguments, and files of lines.
type sources struct {
	args  []string
	lines [][]string
}

func randomSources(r *rand.Rand) (s sources) {
	for range 1 + r.IntN(6) {
		if r.IntN(3) > 0 {
			s.args = append(s.args, randomPorts(r))
			continue
		}
		var lines []string
		for range r.IntN(12) {
			lines = append(lines, randomPorts(r))
		}
		s.lines = append(s.lines, append(lines, "nonsense"))
	}
	return s
}

// randomPorts returns a random name that sometimes has its own range of ports.
func randomPorts(r *rand.Rand) string {
	name := randomName(r)
	if r.IntN(3) > 0 || strings.Contains(name, ":") {
		return name
	}
	first := 1 + r.IntN(20)
	return fmt.Sprintf("%s:%d-%d", name, first, first+r.IntN(30))
}

// shuffled returns the same arguments and lines in random order, with the lines
// divided between two files.
func (s sources) shuffled(r *rand.Rand) (out sources) {
	var all []string
	for _, lines := range s.lines {
		all = append(all, lines...)
	}
	r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	cut := r.IntN(len(all) + 1)
	out.lines = [][]string{all[:cut], all[cut:]}
	out.args = slices.Clone(s.args)
	r.Shuffle(len(out.args), func(i, k int) { out.args[i], out.args[k] = out.args[k], out.args[i] })
	return out
}

func (s sources) open(t *testing.T, cfg Config) *List {
	cfg.Args = slices.Clone(s.args)
	for _, lines := range s.lines {
		cfg.Args = append(cfg.Args, writeFile(t, "list", strings.Join(lines, "\n")))
	}
	return mustOpen(t, cfg)
}

func byAddr(a, b target.Target) int { return a.Addr.Compare(b.Addr) }

var seedsFlag = flag.Uint64("seeds", 20, "random lists of each test that compares with a model")

// TestRandomOrder checks that the random order and the input order yield the same
// targets and statistics. The random order must not depend on how the targets are
// listed. In both orders, From must yield the rest of the targets from any place
// on.
func TestRandomOrder(t *testing.T) {
	seeds := *seedsFlag
	if testing.Short() {
		seeds = 5 // more seeds would find nothing new about goroutines
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 2))
		s := randomSources(r)
		cfg := Config{Ports: mustPorts(t, "3,1,8-20"), InOrder: true}
		plain := s.open(t, cfg)
		want := slices.SortedFunc(plain.From(0), byAddr)

		cfg.InOrder, cfg.Seed = false, seed
		l := s.open(t, cfg)
		got := slices.Collect(l.From(0))
		size, known := l.Size()
		if l.Stats() != plain.Stats() || !known || l.Err() != nil {
			t.Fatalf("seed %d: %+v, want %+v; %v", seed, l.Stats(), plain.Stats(), l.Err())
		}
		if st := l.Stats(); size != st.Read-st.Invalid-st.Duplicate {
			t.Fatalf("seed %d: %d places, and %+v", seed, size, st)
		}
		if _, part, known := l.Progress(); part != 1 || !known {
			t.Fatalf("seed %d: progress %v, %v", seed, part, known)
		}
		for i := range got {
			if i > 0 && got[i].Place <= got[i-1].Place || got[i].Place >= size {
				t.Fatalf("seed %d: place %d", seed, got[i].Place)
			}
		}
		sorted := slices.SortedFunc(slices.Values(got), byAddr)
		for i := range sorted {
			sorted[i].Place, want[i].Place = 0, 0
		}
		if !slices.Equal(sorted, want) {
			t.Fatalf("seed %d, %v:\n     %v\nwant %v", seed, s, sorted, want)
		}

		again := s.shuffled(r).open(t, cfg)
		if same := slices.Collect(again.From(0)); !slices.Equal(same, got) {
			t.Fatalf("seed %d: %v, and in another order %v", seed, got, same)
		}
		from := r.Uint64N(size + 2)
		first, _ := slices.BinarySearchFunc(got, from, func(t target.Target, p uint64) int { return int(t.Place) - int(p) })
		if rest := slices.Collect(s.open(t, cfg).From(from)); !slices.Equal(rest, got[first:]) {
			t.Fatalf("seed %d: from %d: %v, want %v", seed, from, rest, got[first:])
		}
		cfg.InOrder = true
		all, rest := slices.Collect(s.open(t, cfg).From(0)), s.open(t, cfg)
		first, _ = slices.BinarySearchFunc(all, from, func(t target.Target, p uint64) int { return int(t.Place) - int(p) })
		if got := slices.Collect(rest.From(from)); !slices.Equal(got, all[first:]) {
			t.Fatalf("seed %d: input order from %d: %v, want %v", seed, from, got, all[first:])
		}
		if a, b := rest.Stats(), plain.Stats(); a.Invalid != b.Invalid || a.Duplicate != b.Duplicate {
			t.Fatalf("seed %d: from %d: %+v, want the invalid lines and duplicates of %+v", seed, from, a, b)
		}
	}
}

// TestCutNetworks checks that the random order does not depend on how networks are
// divided into smaller networks and port lists. Each smaller network has more than
// smallBlock targets.
func TestCutNetworks(t *testing.T) {
	order := func(args ...string) string {
		l := mustOpen(t, Config{Args: args, Ports: mustPorts(t, "1,2"), Seed: 4})
		return fmt.Sprint(texts(l.From(0)))
	}
	whole := order("1.0.0.0/22", "2.0.0.0/24:7-9")
	for _, args := range [][]string{
		{"1.0.2.0/23", "2.0.0.0/24:7-9", "1.0.0.0/23"},
		{"1.0.0.0/24", "1.0.0.128-1.0.3.255", "2.0.0.0/24:9,7", "2.0.0.0/24:8"},
		{"1.0.0.0/22:1", "1.0.0.0/23:2", "1.0.2.0/23:2", "2.0.0.0/25:7-9", "2.0.0.64/26:8-9", "2.0.0.128/25:7-9"},
	} {
		if got := order(args...); got != whole {
			t.Errorf("%q has another order", args)
		}
	}
}

// TestPlaces checks that a target's Place does not depend on exclusions, the shard
// or the limit, which may change between two parts of a scan.
func TestPlaces(t *testing.T) {
	places := func(cfg Config) map[netip.AddrPort]uint64 {
		cfg.Args, cfg.Ports = []string{"10.0.0.0/24", "8.8.8.0/27", "10.0.0.1:9"}, mustPorts(t, "1-3")
		all := map[netip.AddrPort]uint64{}
		for tg := range mustOpen(t, cfg).From(0) {
			all[tg.Addr] = tg.Place
		}
		return all
	}
	for _, inOrder := range []bool{false, true} {
		allow := mustExclude(t, exclusionConfig{AllowReserved: true})
		whole := places(Config{InOrder: inOrder, Exclusions: allow})
		if len(whole) != 256*3+32*3+1 {
			t.Fatalf("%v: %d targets", inOrder, len(whole))
		}
		for name, part := range map[string]map[netip.AddrPort]uint64{
			"exclusions": places(Config{InOrder: inOrder}),
			"a shard":    places(Config{InOrder: inOrder, Exclusions: allow, Shard: Shard{1, 3}}),
			"a limit":    places(Config{InOrder: inOrder, Exclusions: allow, Max: 50}),
		} {
			if len(part) == 0 || len(part) == len(whole) {
				t.Errorf("%v, %s: %d targets", inOrder, name, len(part))
			}
			for at, place := range part {
				if whole[at] != place {
					t.Errorf("%v, %s: %v is at place %d instead of %d", inOrder, name, at, place, whole[at])
				}
			}
		}
	}
}

// TestPortsApart checks that the targets of one address are far apart in the random
// order, both in a list and in a network.
func TestPortsApart(t *testing.T) {
	const addrs, ports = 2000, 8
	var list bytes.Buffer
	for i := range addrs {
		for port := range ports {
			fmt.Fprintf(&list, "1.0.%d.%d:%d\n", i/250, i%250, 27015+port)
		}
	}
	tests := []struct {
		name  string
		cfg   Config
		least uint64 // minimum distance of an address's targets, in places
	}{
		// goldenStep puts more than 1/(3*8) of the list between any two of the 8
		// ports of an address. The limit is about a fifth lower, because random
		// addresses do not fill a list evenly.
		{"list", Config{Stdin: &list}, addrs * ports * 3 / 80 * 9 / 10},
		{"network", Config{Args: []string{"1.0.0.0/21"}, Ports: mustPorts(t, "27015-27022")}, 1 << 11},
		{"networks", Config{Args: []string{"1.0.0.0/21", "2.0.0.0/21"}, Ports: mustPorts(t, "27015-27022")}, 1 << 12},
	}
	for _, test := range tests {
		test.cfg.Seed = 5
		last := map[netip.Addr]uint64{}
		least := ^uint64(0)
		for tg := range mustOpen(t, test.cfg).From(0) {
			if before, ok := last[tg.Addr.Addr()]; ok {
				least = min(least, tg.Place-before)
			}
			last[tg.Addr.Addr()] = tg.Place
		}
		if least < test.least {
			t.Errorf("%s: %d places apart, want %d", test.name, least, test.least)
		}
	}
}

// TestFirstMention checks that a target gets the tag of its first mention, in both
// orders.
func TestFirstMention(t *testing.T) {
	tests := []struct{ lines, want string }{
		{"1.0.0.1:1 a\n1.0.0.1:1 b\n", "a"},
		{"1.0.0.1:1\n1.0.0.1:1 b\n", ""},
		{"1.0.0.1:1 a\n1.0.0.1:1\n1.0.0.1:1 a\n", "a"},
		{"1.0.0.1:1 a\n1.0.0.0/24 net\n", "a"},
		{"1.0.0.0/24 net\n1.0.0.1:1 a\n", "net"},
		{"1.0.0.0/24\n1.0.0.1:1 a\n", ""},
		{"1.0.0.0/24 net\n1.0.0.0/16 wide\n", "net"},
		{"1.0.0.0/16 wide\n1.0.0.0/24 net\n", "wide"},
		{"1.0.0.0/16\n1.0.0.0/24 net\n", ""},
		{"1.0.0.0/25 a\n1.0.0.128/25 b\n", "a"},
		{"1.0.0.0/24:1-2 a\n1.0.0.0/24:1-3 b\n", "a"},
		{"1.0.0.0/24:1-3 b\n1.0.0.0/24:1-2 a\n", "b"},
		{"1.0.0.0/24:2-3 b\n1.0.0.0/24:1-2 a\n", "a"},
	}
	for _, test := range tests {
		for _, inOrder := range []bool{false, true} {
			l := mustOpen(t, Config{InOrder: inOrder, Stdin: strings.NewReader(test.lines), Ports: mustPorts(t, "1")})
			got := "is missing"
			for tg := range l.From(0) {
				if tg.Addr == netip.MustParseAddrPort("1.0.0.1:1") {
					got = tg.Tag
				}
			}
			if got != test.want {
				t.Errorf("%q, %v: %q, want %q", test.lines, inOrder, got, test.want)
			}
		}
	}
}

// TestNetworkMemory checks that a list of all addresses at all ports takes at most
// 4 MiB, and that From can begin near its end.
func TestNetworkMemory(t *testing.T) {
	before := heap()
	l := mustOpen(t, Config{Args: []string{"0.0.0.0/0"}, Ports: mustPorts(t, "1-65535"), Seed: 3})
	check(t, l.Load(t.Context()))
	if n, _ := l.Size(); n != 65535<<32 {
		t.Errorf("%d targets", n)
	}
	if now := heap(); now > before+4<<20 {
		t.Errorf("%d bytes", now-before)
	}
	seen := 0
	for tg := range l.From(65535<<32 - 1000) {
		seen++
		_ = tg
	}
	if seen < 500 {
		t.Errorf("%d of the last 1000 targets", seen)
	}
}

// TestPassed checks that From passes to Config.Passed the addresses of the targets
// before its place that it would otherwise have yielded, and does not count them as
// Given.
func TestPassed(t *testing.T) {
	x := mustExclude(t, exclusionConfig{AllowReserved: true, Networks: []string{"10.0.0.64/26"}})
	for _, inOrder := range []bool{false, true} {
		cfg := Config{
			InOrder: inOrder, Args: []string{"10.0.0.0/24:1-2", "10.0.0.3:7", "10.0.1.0/25:1-2"},
			Exclusions: x, Shard: Shard{1, 2},
		}
		all := slices.Collect(mustOpen(t, cfg).From(0))
		for _, place := range []uint64{0, 1, 300, 500, 769, 1 << 40} {
			var passed, want []netip.Addr
			cfg.Passed = func(a netip.Addr) { passed = append(passed, a) }
			l := mustOpen(t, cfg)
			rest := slices.Collect(l.From(place))
			for _, target := range all[:len(all)-len(rest)] {
				want = append(want, target.Addr.Addr())
			}
			if !slices.Equal(passed, want) || l.Stats().Given != uint64(len(rest)) {
				t.Errorf("%v, from %d: %d passed and %+v, want %d", inOrder, place, len(passed), l.Stats(), len(want))
			}
			if n := len(all) - len(rest); n > 0 && all[n-1].Place >= place || len(rest) > 0 && rest[0].Place < place {
				t.Errorf("%v: the rest from %d is another", inOrder, place)
			}
		}
	}
}
