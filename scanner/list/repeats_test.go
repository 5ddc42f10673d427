package list

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// eager returns a loader that removes duplicates and unused labels without waiting
// until they may take minMerge or minSweep.
func eager(l *List) *loader {
	ld := newLoader(l)
	ld.targets.floor, ld.targets.limit = 1, 1
	ld.notes.texts.floor = 1
	return ld
}

// TestDuplicatesDropped compares the yielded targets and their tags with a plain
// map, both for an eager and for an ordinary loader.
func TestDuplicatesDropped(t *testing.T) {
	skipShort(t)
	for seed := range *seedsFlag {
		r := rand.New(rand.NewPCG(seed, 7))
		want := map[string]string{}
		var lines strings.Builder
		for range 1 + r.IntN(300) {
			at, tag := fmt.Sprintf("1.0.0.%d:%d", r.IntN(12), 1+r.IntN(4)), ""
			if r.IntN(2) == 0 {
				tag = fmt.Sprint("tag ", r.IntN(40))
			}
			if _, known := want[at]; !known {
				want[at] = tag
			}
			lines.WriteString(at + " " + tag + "\n")
		}
		for name, newLoader := range map[string]func(*List) *loader{"eager": eager, "usual": newLoader} {
			l := mustOpen(t, Config{Stdin: strings.NewReader(lines.String()), Seed: seed})
			if err := l.loadInto(t.Context(), newLoader(l)); err != nil {
				t.Fatal(err)
			}
			l.loaded = true
			got := map[string]string{}
			for tg := range l.All() {
				got[tg.Addr.String()] = tg.Tag
			}
			if !maps.Equal(got, want) {
				t.Fatalf("seed %d, %s:\n%s\ngot  %v\nwant %v", seed, name, &lines, got, want)
			}
		}
	}
}

// TestDroppingKeepsOrder checks that the order of the targets does not depend on
// when the loader removes duplicates.
func TestDroppingKeepsOrder(t *testing.T) {
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "1.0.%d.%d:1\n1.0.0.0:1\n2.0.0.0/27:5\n", i>>8, i&255)
	}
	var orders [2][]string
	for i, newLoader := range []func(*List) *loader{eager, newLoader} {
		l := mustOpen(t, Config{Stdin: strings.NewReader(lines.String()), Seed: 5})
		if err := l.loadInto(t.Context(), newLoader(l)); err != nil {
			t.Fatal(err)
		}
		l.loaded = true
		orders[i] = texts(l.All())
	}
	if len(orders[0]) != 5032 || !slices.Equal(orders[0], orders[1]) {
		t.Errorf("%d and %d targets, the same: %v", len(orders[0]), len(orders[1]), slices.Equal(orders[0], orders[1]))
	}
}

// bytes returns the approximate size of the memory that the loader holds, in bytes.
func (ld *loader) bytes() int {
	sum := ld.targets.bytes() + ld.notes.texts.size + ld.blocks.texts.size
	for i := range ld.notes.parts {
		sum += 16 * cap(ld.notes.parts[i])
	}
	for i := range ld.blocks.sets {
		sum += 8<<10 + 8*cap(ld.blocks.sets[i].spans)
	}
	return sum
}

// TestRepeatsMemory checks that the memory of a loader does not grow with the
// number of lines: it is at most 10 bytes per distinct target, plus a fixed amount
// that is larger if there are tags. Each list has two million lines.
func TestRepeatsMemory(t *testing.T) {
	skipShort(t)
	// If a loader kept 4 bytes per line, it would take more than base.
	const lines, base = 2 << 20, 8 << 20
	const withNotes = 26 << 20
	tests := []struct {
		name     string
		distinct int
		base     int
		line     func(i int) (name, labels)
	}{
		{"one target", 1, base, func(int) (name, labels) { return listed(0x01000000), labels{} }},
		{"targets in turn", 200_000, base, func(i int) (name, labels) { return listed(0x01000000 + uint32(i%200_000)), labels{} }},
		{"one target, one tag", 1, withNotes, func(int) (name, labels) { return listed(0x01000000), labels{tag: []byte("mine")} }},
		{"one target, many tags", 1, withNotes, func(i int) (name, labels) {
			return listed(0x01000000), labels{tag: fmt.Appendf(nil, "a tag of some length, %d", i)}
		}},
		{"a small network", 4, base, func(int) (name, labels) { return network(0x01000000, 30), labels{} }},
		{"a network, many tags", 256, base, func(i int) (name, labels) {
			return network(0x01000000, 24), labels{tag: fmt.Appendf(nil, "a tag of some length, %d", i)}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := mustOpen(t, Config{Stdin: strings.NewReader(""), Ports: mustPorts(t, "27015")})
			ld := newLoader(l)
			most := 0
			for i := range lines {
				n, s := test.line(i)
				ld.take(&n, s)
				if i%(1<<17) == 0 {
					most = max(most, ld.bytes())
				}
			}
			most = max(most, ld.bytes())
			if limit := test.base + 10*test.distinct; most > limit {
				t.Errorf("%d bytes for %d distinct targets, want at most %d", most, test.distinct, limit)
			}
			o, err := ld.finish(t.Context())
			if err != nil || o.total != uint64(test.distinct) {
				t.Errorf("%d targets, %v", o.total, err)
			}
			t.Logf("%d bytes", most)
		})
	}
}

func listed(ip uint32) name { return name{form: formAddrPort, ip: ip, port: 27015} }

func network(ip uint32, bits int) name { return name{form: formNetwork, ip: ip, bits: bits} }

// TestRepeatedPortLists checks that a network that is named 10,000 times, with
// changing port lists, takes at most 4 MiB.
func TestRepeatedPortLists(t *testing.T) {
	l := mustOpen(t, Config{Stdin: strings.NewReader("")})
	ld := newLoader(l)
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		n := network(0x01000000, 24)
		ports := mustPorts(t, fmt.Sprintf("%d,%d,%d", 1+r.IntN(20), 1+r.IntN(20), 1+r.IntN(20)))
		n.ports = &ports
		ld.take(&n, labels{})
	}
	if most := ld.bytes(); most > 4<<20 {
		t.Errorf("%d bytes", most)
	}
	o, err := ld.finish(t.Context())
	if err != nil || o.total != 20*256 {
		t.Errorf("%d targets, %v", o.total, err)
	}
}

// skipShort skips a test under -short. The race detector also runs with -short.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED under -short: it takes long, and go test without -short runs it")
	}
}
