package list

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// checkSet adds ks to s, which must be empty, and to a map. It fails the test if
// their answers or contents differ.
func checkSet(t *testing.T, s *addrSet, ks []uint64) {
	t.Helper()
	want := map[uint64]bool{}
	for _, k := range ks {
		if got := s.has(k); got != want[k] {
			t.Fatalf("before adding: has(%#x) = %v", k, got)
		}
		if isNew := s.add(k); isNew == want[k] {
			t.Fatalf("add(%#x) = %v", k, isNew)
		}
		want[k] = true
	}
	if s.n != len(want) {
		t.Fatalf("%d elements, want %d", s.n, len(want))
	}
	for k := range want {
		if !s.has(k) {
			t.Fatalf("%#x is gone", k)
		}
		if s.has(k^1) != want[k^1] {
			t.Fatalf("has(%#x) = %v", k^1, !want[k^1])
		}
	}
}

func TestSet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	shapes := map[string]func(i uint64) uint64{
		"neighbours": func(i uint64) uint64 { return 0x01000000<<16 + i },
		"one port":   func(i uint64) uint64 { return (0x01000000+i)<<16 | 27015 },
		"one farm":   func(i uint64) uint64 { return (0x01000000+i%3)<<16 | i/3&0xffff },
		"random":     func(i uint64) uint64 { return rnd.Uint64() & keyMask },
		"few":        func(i uint64) uint64 { return i % 100 },
		"steps":      func(i uint64) uint64 { return i << 32 & keyMask },
		"the ends":   func(i uint64) uint64 { return (i - 10_000) & keyMask },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			ks := make([]uint64, 20_000)
			for i := range ks {
				ks[i] = shape(uint64(i))
			}
			checkSet(t, &addrSet{}, ks)
		})
	}
}

// TestSetZero adds the element that scatter maps to 0, the number that marks an
// empty slot.
func TestSetZero(t *testing.T) {
	var s addrSet
	s.init()
	// The first step of scatter maps this element to 0. The others map 0 to 0.
	zero := s.key & keyMask
	if s.scatter(zero) != 0 {
		t.Fatalf("scatter = %#x", s.scatter(zero))
	}
	checkSet(t, &s, []uint64{zero, 5, zero, 6})
}

// TestSetMemory checks that each of half a million consecutive addresses takes 5 to
// 8 bytes, as doc.go says, and that none of the tables is much larger than the
// average.
func TestSetMemory(t *testing.T) {
	var s addrSet
	const n = 1 << 19
	longest := 0
	for i := range uint64(n) {
		s.add((0x01000000+i)<<16 | 27015)
	}
	slots := 0
	for _, tab := range s.tables {
		slots += len(tab.slots)
		longest = max(longest, int(tab.used))
	}
	if each := float64(4*slots) / n; each < 5 || each > 8 {
		t.Errorf("%.1f bytes an element", each)
	}
	if longest > 48 { // 8 on average
		t.Errorf("%d elements in one of %d tables", longest, len(s.tables))
	}
}

func FuzzSet(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00abcdefabcdefabcdeg"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var ks []uint64
		for ; len(b) >= 3; b = b[3:] { // few bits, so that many elements come twice
			ks = append(ks, uint64(b[0])<<40|uint64(b[1])<<16|uint64(b[2]))
		}
		checkSet(t, &addrSet{}, ks)
	})
}

func BenchmarkSet(b *testing.B) {
	for _, n := range []uint64{1e4, 1e6} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var s addrSet
				for i := range n {
					s.add((0x01000000+i)<<16 | 27015)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(uint64(b.N)*n), "ns/add")
		})
	}
}
