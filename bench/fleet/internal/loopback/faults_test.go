package loopback

import (
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
	f := (&Faults{Loss: 0.1, Duplicate: 0.05, Reorder: 0.02}).start()
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
		if f.random.Chance(f.Loss) {
			lost++
		}
	}
	near("queries lost", uint64(lost), 0.1)
}
