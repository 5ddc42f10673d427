package fleet

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// flood passes n datagrams through faults, one a millisecond, and returns what
// came out in order, and when.
func flood(f *faults, n int, delay time.Duration, s *Stats) (got []string, at []time.Duration) {
	var out outbox
	for i := 0; i < n || f.held.count > 0; i++ {
		now := time.Duration(i) * time.Millisecond
		out.reset()
		if i < n {
			first := len(out.data)
			out.data = fmt.Appendf(out.data, "%d", i)
			out.add(1, first)
			address(out.list, 2, delay)
			f.apply(now, &out, 0, s)
		}
		f.held.release(now, &out)
		for j := range out.list {
			got = append(got, string(out.bytes(&out.list[j])))
			at = append(at, now)
		}
	}
	return got, at
}

func faultsOf(t *testing.T, spoil func(*Config)) *faults {
	t.Helper()
	c := testConfig()
	spoil(&c)
	m, err := newModel(c)
	if err != nil {
		t.Fatal(err)
	}
	return newFaults(m, 27015)
}

// TestFaultShares counts what is lost, doubled and put out of order.
func TestFaultShares(t *testing.T) {
	const n = 20000
	var s Stats
	f := faultsOf(t, func(c *Config) { c.Loss, c.Duplicate, c.Reorder = 0.1, 0.05, 0.02 })
	got, _ := flood(f, n, 0, &s)
	near := func(name string, got uint64, want float64) {
		if d := float64(got) - want*n; d < -0.15*want*n || d > 0.15*want*n {
			t.Errorf("%s: %d of %d, want %v of them", name, got, n, want)
		}
	}
	near("lost", s.LostReplies, 0.1)
	near("doubled", s.Duplicated, 0.9*0.05)
	near("reordered", s.Reordered, 0.9*1.05*0.02)
	if want := n - int(s.LostReplies) + int(s.Duplicated); len(got) != want {
		t.Errorf("%d came out, want %d", len(got), want)
	}
	late := 0
	var most int
	for _, d := range got {
		var i int
		fmt.Sscan(d, &i)
		if i < most {
			late++
		}
		most = max(most, i)
	}
	near("late", uint64(late), 0.9*1.05*0.02)
	lost := 0
	for range n {
		if f.losesQuery() {
			lost++
		}
	}
	near("queries lost", uint64(lost), 0.1)
}

// TestFaultsAreThoseOfTheSeed wants the same faults from the same seed, and
// others from another.
func TestFaultsAreThoseOfTheSeed(t *testing.T) {
	run := func(seed uint64) string {
		var s Stats
		f := faultsOf(t, func(c *Config) { c.Seed, c.Loss, c.Duplicate, c.Reorder = seed, 0.2, 0.2, 0.2 })
		got, at := flood(f, 200, 0, &s)
		return fmt.Sprint(got, at)
	}
	first := run(1)
	if again := run(1); again != first {
		t.Error("two runs of one seed differ")
	}
	if run(2) == first {
		t.Error("another seed, the same faults")
	}
}

// TestDelay wants each datagram when its delay has passed, not before and not
// two ticks after.
func TestDelay(t *testing.T) {
	for _, delay := range []time.Duration{1, 3 * time.Millisecond, 250 * time.Millisecond, 999 * time.Millisecond} {
		var s Stats
		f := faultsOf(t, func(c *Config) { c.DelayMax = time.Second })
		got, at := flood(f, 300, delay, &s)
		if len(got) != 300 || s.Delayed != 300 {
			t.Fatalf("%d datagrams, %d delayed, want 300", len(got), s.Delayed)
		}
		for i, d := range got {
			if d != fmt.Sprint(i) {
				t.Fatalf("datagram %s as number %d", d, i)
			}
			if took := at[i] - time.Duration(i)*time.Millisecond; took < delay || took > delay+2*wheelTick {
				t.Fatalf("took %v, want %v", took, delay)
			}
		}
	}
}

// TestDelayOfAServerIsItsOwn wants delays in the range, different ones, and
// the same one for all replies of a server.
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

// TestWheelIsBounded fills it, and wants everything back.
func TestWheelIsBounded(t *testing.T) {
	w := newWheel(time.Second)
	data := make([]byte, 4<<10)
	held := 0
	for w.hold(0, outgoing{delay: time.Second, to: uint64(held)}, data) {
		held++
	}
	if held != wheelMost && held != wheelBytes/len(data) {
		t.Errorf("full with %d datagrams", held)
	}
	var out outbox
	w.release(time.Second-wheelTick, &out)
	if len(out.list) != 0 {
		t.Fatal("released too soon")
	}
	if due, ok := w.next(); !ok || due > time.Second {
		t.Errorf("due at %v, %v; want it no later than the delay", due, ok)
	}
	w.release(time.Second, &out)
	for i := range out.list {
		if out.list[i].to != uint64(i) || !bytes.Equal(out.bytes(&out.list[i]), data) {
			t.Fatalf("datagram %d is not what was held", i)
		}
	}
	if len(out.list) != held || w.count != 0 || w.bytes != 0 {
		t.Errorf("%d of %d came back, %d datagrams and %d bytes are left", len(out.list), held, w.count, w.bytes)
	}
	if _, ok := w.next(); ok {
		t.Error("something is due and nothing is held")
	}
}

// TestWheelAfterAPause: what is held when the clock has jumped is neither lost
// nor a turn of the wheel late.
func TestWheelAfterAPause(t *testing.T) {
	w := newWheel(10 * time.Millisecond)
	var out outbox
	for now := time.Duration(0); now < 3*time.Hour; now += time.Hour {
		out.reset()
		w.hold(now, outgoing{delay: 5 * time.Millisecond}, nil)
		if w.release(now+4*time.Millisecond, &out); len(out.list) != 0 {
			t.Error("released before its delay")
		}
		if w.release(now+5*time.Millisecond, &out); len(out.list) != 1 {
			t.Error("not released after its delay")
		}
	}
}

// TestQueryLimit asks two servers a thousand times in a second each.
func TestQueryLimit(t *testing.T) {
	limits := newLimitTable(5)
	const a, b = 127<<40 | 1<<16 | 27015, 127<<40 | 2<<16 | 27015
	allowed := map[uint64]int{}
	for ms := range 1000 {
		for _, server := range []uint64{a, b} {
			if limits.allow(time.Duration(ms)*time.Millisecond, server) {
				allowed[server]++
			}
		}
	}
	if allowed[a] != 5 || allowed[b] != 5 {
		t.Errorf("%v answered in a second, want 5 each", allowed)
	}
	none := newLimitTable(0)
	for range 3 {
		if !none.allow(0, a) {
			t.Error("a limit where there is none")
		}
	}
}

// TestFaultsDoNotAllocate once the wheel has grown.
func TestFaultsDoNotAllocate(t *testing.T) {
	f := faultsOf(t, func(c *Config) { c.Loss, c.Duplicate, c.Reorder, c.DelayMax = 0.1, 0.1, 0.1, 20*time.Millisecond })
	var out outbox
	var s Stats
	now := time.Duration(0)
	step := func() {
		out.reset()
		for range 64 {
			at := len(out.data)
			out.data = append(out.data, "some reply of a server"...)
			out.add(1, at)
		}
		address(out.list, 2, 7*time.Millisecond)
		f.apply(now, &out, 0, &s)
		f.held.release(now, &out)
		now += time.Millisecond
	}
	for range 500 {
		step()
	}
	if n := testing.AllocsPerRun(500, step); n != 0 {
		t.Errorf("%v allocations for a batch", n)
	}
}
