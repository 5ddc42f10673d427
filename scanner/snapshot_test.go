package scanner

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// TestScanSnapshot checks that a scan can resume from every snapshot: the finished
// targets, the open ones, and those not yet taken must together be all targets, each
// exactly once.
func TestScanSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		rng := rand.New(rand.NewPCG(9, 9))
		n.serve = func(addr uint64, req wire.Request) {
			if rng.IntN(10) > 0 {
				s.answer(n, addr, req)
			}
		}
		ts := append(addresses(6000), ports(60)...)
		handed := map[uint64]bool{}
		snapshots := 0
		check := func(sn *Snapshot) {
			snapshots++
			seen := map[uint64]int{}
			for addr := range handed {
				seen[addr]++
			}
			for _, o := range sn.Open {
				seen[udp.Pack(o.Addr)]++
			}
			for _, later := range ts[sn.Position:] {
				seen[udp.Pack(later.Addr)]++
			}
			if len(seen) != len(ts) {
				t.Fatalf("snapshot %d: %d targets of %d", snapshots, len(seen), len(ts))
			}
			for addr, times := range seen {
				if times != 1 {
					t.Fatalf("snapshot %d: %v %d times", snapshots, udp.Unpack(addr), times)
				}
			}
			if sn.Stats.TargetsFinished() != uint64(len(handed)) {
				t.Fatalf("snapshot %d: %d finished, %d handed over", snapshots, sn.Stats.TargetsFinished(), len(handed))
			}
			if sn.Stats.DatagramsSent() != sn.Stats.Socket.Sent {
				t.Fatalf("snapshot %d: %d datagrams sent, the socket says %d", snapshots,
					sn.Stats.DatagramsSent(), sn.Stats.Socket.Sent)
			}
		}
		cfg := Config{Rate: 3000, Snapshot: check, SnapshotEvery: 100 * time.Millisecond, transport: n}
		_, err := Scan(context.Background(), cfg, seqOf(ts), func(r *Result) {
			addr := udp.Pack(r.Addr)
			if handed[addr] {
				t.Fatalf("%v handed over twice", r.Addr)
			}
			handed[addr] = true
		})
		if err != nil {
			t.Fatal(err)
		}
		if snapshots < 50 || len(handed) != len(ts) {
			t.Errorf("%d snapshots, %d results", snapshots, len(handed))
		}
	})
}

// TestScanExcluded checks that an address that is excluded while it is open is sent
// nothing more, but keeps its answers, and that a target whose address is excluded
// earlier never starts.
func TestScanExcluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		ts := addresses(3)
		barred := map[netip.Addr]bool{ts[0].Addr.Addr(): true}
		n.serve = func(addr uint64, req wire.Request) {
			if addr == udp.Pack(ts[1].Addr) {
				barred[ts[1].Addr.Addr()] = true
			}
			c := *s
			c.challenge = wire.NoChallenge
			c.answer(n, addr, req)
		}
		cfg := Config{Excluded: func(a netip.Addr) bool { return barred[a] }}
		got, st, err := run(n, cfg, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
		if st.Excluded != 1 || n.to(udp.Pack(ts[0].Addr)) != 0 || n.to(udp.Pack(ts[1].Addr)) != 1 {
			t.Errorf("%d excluded, %d and %d datagrams", st.Excluded,
				n.to(udp.Pack(ts[0].Addr)), n.to(udp.Pack(ts[1].Addr)))
		}
		if st.Stopped != 1 || st.Errors[wire.ErrSendFailed] != 0 {
			t.Errorf("%d stopped, %v", st.Stopped, st.Errors)
		}
		r := got[udp.Pack(ts[1].Addr)]
		if r.Status != StatusPartial || !r.HasInfo || r.Err[wire.QuestionPlayers] != wire.ErrExcluded {
			t.Errorf("%+v", r)
		}
		if got[udp.Pack(ts[2].Addr)].Status != StatusOK {
			t.Error("the third server is not complete")
		}
	})
}

// TestStatsAdd checks that Add adds the counters and times of two parts, keeps the
// higher peaks, and leaves the current values as they are in the later part.
func TestStatsAdd(t *testing.T) {
	past := Stats{Elapsed: time.Second, Taken: 1, PeakOpen: 9, PeakBytes: 1, Open: 7, Rate: 5}
	past.Finished[StatusOK], past.Socket.Sent, past.Socket.RecvBuffer = 2, 3, 4
	past.Reasm.Whole, past.Reasm.Bytes = 5, 6
	s := Stats{Elapsed: time.Minute, Taken: 10, PeakOpen: 1, PeakBytes: 9, Open: 1, Rate: 50}
	s.Finished[StatusOK], s.Socket.Sent, s.Socket.RecvBuffer = 20, 30, 40
	s.Reasm.Whole, s.Reasm.Bytes = 50, 60
	s.Add(&past)
	want := Stats{Elapsed: 61 * time.Second, Taken: 11, PeakOpen: 9, PeakBytes: 9, Open: 1, Rate: 50}
	want.Finished[StatusOK], want.Socket.Sent, want.Socket.RecvBuffer = 22, 33, 40
	want.Reasm.Whole, want.Reasm.Bytes = 55, 60
	if s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}
