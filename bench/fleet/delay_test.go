package fleet

import (
	"testing"
	"time"
)

// TestDelayOfAServerIsItsOwn checks that delays are in the configured range and
// differ between servers.
func TestDelayOfAServerIsItsOwn(t *testing.T) {
	c := testConfig()
	c.DelayMin, c.DelayMax = 10*time.Millisecond, 90*time.Millisecond
	seen := make(map[time.Duration]bool)
	for addr := range c.All() {
		n, _ := c.Nature(addr)
		if n.Delay < c.DelayMin || n.Delay > c.DelayMax {
			t.Fatalf("%v takes %v", addr, n.Delay)
		}
		seen[n.Delay] = true
	}
	if len(seen) < 200 {
		t.Errorf("%d different delays of 256", len(seen))
	}
}

// TestQueryLimit queries two servers a thousand times each, within a second.
func TestQueryLimit(t *testing.T) {
	limits := newResponder(&model{Config: Config{QueryLimit: 5}}, 1)
	const a, b = 127<<40 | 1<<16 | 27015, 127<<40 | 2<<16 | 27015
	allowed := map[uint64]int{}
	for ms := range 1000 {
		for _, server := range []uint64{a, b} {
			if !limits.limited(time.Duration(ms)*time.Millisecond, server) {
				allowed[server]++
			}
		}
	}
	if allowed[a] != 5 || allowed[b] != 5 {
		t.Errorf("%v answered in a second, want 5 each", allowed)
	}
	none := newResponder(&model{}, 1)
	for range 3 {
		if none.limited(0, a) {
			t.Error("a limit although none is configured")
		}
	}
}
