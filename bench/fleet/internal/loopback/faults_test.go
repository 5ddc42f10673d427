package loopback

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// flood passes n datagrams through faults, one per millisecond. It returns the
// datagrams that came out, in order, and the times at which they came out.
func flood(f *Faults, n int, delay time.Duration, s *Stats) (got []string, at []time.Duration) {
	var out Outbox
	for i := 0; i < n || f.held.count > 0; i++ {
		now := time.Duration(i) * time.Millisecond
		out.Reset()
		if i < n {
			first := len(out.Data)
			out.Data = fmt.Appendf(out.Data, "%d", i)
			out.Add(1, first)
			for j := range out.List {
				out.List[j].To, out.List[j].Delay = 2, delay
			}
			f.apply(now, &out, 0, s)
		}
		f.held.release(now, &out)
		for j := range out.List {
			got = append(got, string(out.Bytes(&out.List[j])))
			at = append(at, now)
		}
	}
	return got, at
}

// TestFaultShares checks the shares of lost, duplicated and reordered datagrams.
func TestFaultShares(t *testing.T) {
	const n = 20000
	var s Stats
	f := NewFaults(FaultsConfig{Loss: 0.1, Duplicate: 0.05, Reorder: 0.02})
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

// TestWheelIsBounded fills the wheel, and checks that all datagrams come out when
// they are due.
func TestWheelIsBounded(t *testing.T) {
	w := newWheel(time.Second)
	data := make([]byte, 4<<10)
	held := 0
	for w.hold(0, Datagram{Delay: time.Second, To: uint64(held)}, data) {
		held++
	}
	if held != wheelBytes/len(data) {
		t.Errorf("full with %d datagrams", held)
	}
	var out Outbox
	w.release(time.Second-wheelTick, &out)
	if len(out.List) != 0 {
		t.Fatal("released too soon")
	}
	if due, ok := w.next(); !ok || due > time.Second {
		t.Errorf("due at %v, %v; want it no later than the delay", due, ok)
	}
	w.release(time.Second, &out)
	for i := range out.List {
		if out.List[i].To != uint64(i) || !bytes.Equal(out.Bytes(&out.List[i]), data) {
			t.Fatalf("datagram %d has changed", i)
		}
	}
	if len(out.List) != held || w.count != 0 || w.bytes != 0 {
		t.Errorf("%d of %d came back, %d datagrams and %d bytes are left", len(out.List), held, w.count, w.bytes)
	}
	if _, ok := w.next(); ok {
		t.Error("a datagram is due although none is held")
	}
}

// TestWheelAfterAPause checks that, after a jump of the clock, the wheel releases a
// datagram neither early nor late.
func TestWheelAfterAPause(t *testing.T) {
	w := newWheel(10 * time.Millisecond)
	var out Outbox
	for now := time.Duration(0); now < 3*time.Hour; now += time.Hour {
		out.Reset()
		w.hold(now, Datagram{Delay: 5 * time.Millisecond}, nil)
		if w.release(now+4*time.Millisecond, &out); len(out.List) != 0 {
			t.Error("released before its delay")
		}
		if w.release(now+5*time.Millisecond, &out); len(out.List) != 1 {
			t.Error("not released after its delay")
		}
	}
}
