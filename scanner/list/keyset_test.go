package list

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// heap returns the size of what is reachable, in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemory checks that the memory of a loader depends on the number of different
// targets: 10 bytes each while a list is read and afterwards, and a fixed amount for
// rounds, which is larger if there are tags. Tags that are dropped take none. Besides, a
// merge takes as much as the keys that it merges.
func TestMemory(t *testing.T) {
	skipShort(t)
	const lines = 3 << 19
	tests := []struct {
		name  string
		base  uint64
		each  uint64 // bytes per different target
		count int
		tag   func(i int) string
	}{
		{"different", 2 << 20, 10, lines, nil},
		{"in turn", 6 << 20, 10, 1000, nil},
		{"one target", 6 << 20, 10, 1, nil},
		{"one tag", 10 << 20, 10, 1000, func(int) string { return "mine" }},
		{"many tags", 16 << 20, 10, 1000, func(i int) string { return fmt.Sprint("a tag of some length, ", i) }},
	}
	for _, test := range tests {
		l := mustOpen(t, Config{Stdin: strings.NewReader("")})
		before := heap()
		ld, most := newLoader(l), uint64(0)
		for i := range lines {
			var s labels
			if test.tag != nil {
				s.tag = test.tag(i)
			}
			ip := 0x01000000 + uint32(i%test.count)*7
			ld.take(name{kind: kindAddrPort, span: span{ip, ip}, port: 27015}, s)
			if i%(lines/8) == lines/8-1 {
				most = max(most, heap()-before)
			}
		}
		o := ld.finish()
		most = max(most, heap()-before)
		if limit := test.base + test.each*uint64(test.count); most > limit {
			t.Errorf("%s: %d bytes, want at most %d", test.name, most, limit)
		}
		if o.total != uint64(test.count) {
			t.Errorf("%s: %d targets", test.name, o.total)
		}
		t.Logf("%s: %d bytes", test.name, most)
		runtime.KeepAlive(ld)
	}
}

// TestInputOrderMemory checks that a listed target takes at most 48 bytes in input
// order.
func TestInputOrderMemory(t *testing.T) {
	skipShort(t)
	_, w := lineReader(t, "")
	before := heap()
	for i := range uint32(1 << 20) {
		w.target(0x01000000+i*3, 27015, labels{})
		if n := uint64(i) + 1; n%(1<<17) == 0 {
			if each := (heap() - before) / n; each > 48 {
				t.Errorf("%d bytes per target of %d", each, n)
			}
		}
	}
	runtime.KeepAlive(w)
}

// skipShort skips a test under -short. The race detector also runs with -short.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED under -short: it takes long, and go test without -short runs it")
	}
}
