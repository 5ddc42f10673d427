package list

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// eager returns a loader that removes duplicates after every line.
func eager(l *List) *loader {
	ld := newLoader(l)
	ld.targets.floor, ld.targets.limit = 1, 1
	ld.notes.texts.floor = 1
	return ld
}

// TestDuplicatesDropped compares the yielded targets with a plain map, both if
// duplicates are removed all the time and if they are not.
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

// TestDroppingKeepsOrder checks that a target's place does not depend on when
// duplicates were removed.
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

// bytes returns approximately how much memory the loader's collections hold.
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

// TestRepeatsMemory checks that memory grows with the number of distinct targets, by at
// most 10 bytes each without tags, and not with the number of lines. Each list repeats
// its targets over millions of lines.
func TestRepeatsMemory(t *testing.T) {
	skipShort(t)
	const lines, base = 2 << 20, 8 << 20 // a number per line would take more than the base
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

// TestRepeatedPortLists checks that naming a network again with many port lists
// takes no memory for targets that are already known.
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

// skipShort skips a test under -short. The race detector is run with -short.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED under -short: it takes long, and go test without -short runs it")
	}
}
