package scanner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// TestScanSnapshot checks that a scan can resume from every snapshot: the finished
// targets, the open ones with their labels, and those not yet taken must together be
// all targets, each exactly once. Held-back targets are open, too.
func TestScanSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		rng := rand.New(rand.NewPCG(9, 9))
		n.serve = func(addr uint64, req wire.Request) {
			if rng.IntN(10) > 0 {
				s.answer(n, addr, req)
			}
		}
		ts := tagged(append(addresses(2000), ports(20)...))
		labels := map[uint64]Target{}
		for i := range ts {
			ts[i].Place = 2 * uint64(i)
			labels[udp.Pack(ts[i].Addr)] = ts[i]
		}
		handed := map[uint64]bool{}
		snapshots := 0
		complete := func(sn *Snapshot) {
			snapshots++
			seen := map[uint64]int{}
			for addr := range handed {
				seen[addr]++
			}
			for _, o := range sn.Open {
				addr := udp.Pack(o.Addr)
				seen[addr]++
				if want := labels[addr]; o.Tag != want.Tag || o.Master != want.Master {
					t.Fatalf("%v is open with %q %q, want %q %q", o.Addr, o.Tag, o.Master, want.Tag, want.Master)
				}
			}
			if sn.Position > 0 && sn.Place != ts[sn.Position-1].Place+1 {
				t.Fatalf("position %d is at place %d", sn.Position, sn.Place)
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
		cfg := Config{Rate: 1000, Resume: Resume{Snapshot: complete, SnapshotEvery: 100 * time.Millisecond}, Tuning: Tuning{transport: n}}
		_, err := Scan(context.Background(), cfg, seqOf(ts), func(r *Result) {
			addr := udp.Pack(r.Addr)
			if handed[addr] {
				t.Fatalf("%v handed over twice", r.Addr)
			}
			if want := labels[addr]; r.Tag != want.Tag || r.Master != want.Master {
				t.Fatalf("%v has %q %q, want %q %q", r.Addr, r.Tag, r.Master, want.Tag, want.Master)
			}
			handed[addr] = true
		})
		check(t, err)
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
		got, st := mustRun(t, n, cfg, ts)
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

// TestStatsAddEverything: no counter is missing from the sum.
func TestStatsAddEverything(t *testing.T) {
	var past, s Stats
	each := func(s *Stats, do func(path string, v reflect.Value)) {
		var visit func(path string, v reflect.Value)
		visit = func(path string, v reflect.Value) {
			switch v.Kind() {
			case reflect.Uint64:
				do(path, v)
			case reflect.Array:
				for i := range v.Len() {
					visit(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
				}
			case reflect.Struct:
				for i := range v.NumField() {
					visit(path+"."+v.Type().Field(i).Name, v.Field(i))
				}
			}
		}
		visit("Stats", reflect.ValueOf(s).Elem())
	}
	n := uint64(0)
	each(&past, func(_ string, v reflect.Value) { n++; v.SetUint(n) })
	s.Add(&past)
	n = 0
	each(&s, func(path string, v reflect.Value) {
		if n++; v.Uint() != n {
			t.Errorf("%s is %d, want %d", path, v.Uint(), n)
		}
	})
}

// shy is a network in which some servers answer only from a certain attempt on: target
// i from attempt i%kinds+1. Targets of the last kind never answer.
type shy struct {
	*memNet
	kinds int
	asked map[uint64]int
}

func newShy(kinds int) *shy {
	n := &shy{newMemNet(), kinds, map[uint64]int{}}
	s := newServer()
	n.serve = func(addr uint64, req wire.Request) {
		ask := n.asked[addr]
		if req.Kind == wire.KindInfoRequest && !req.HasChallenge {
			ask++
			n.asked[addr] = ask
		}
		if kind := n.kind(addr); kind < n.kinds-1 && ask > kind {
			s.answer(n.memNet, addr, req)
		}
	}
	return n
}

// kind returns how many attempts a server leaves unanswered.
func (n *shy) kind(addr uint64) int { return int(addr>>16&0xFFFFFF) % n.kinds }

// tagged gives every third target a tag, and every fifth a master's data.
func tagged(ts []Target) []Target {
	for i := range ts {
		if i%3 == 0 {
			ts[i].Tag = fmt.Sprint("tag ", i)
		}
		if i%5 == 0 {
			ts[i].Master = fmt.Sprintf(`{"n":%d}`, i)
		}
	}
	return ts
}

// TestSecondPass checks that silent targets get one more attempt when everything
// else is done. A target has no result until then; its result counts everything
// sent to it.
func TestSecondPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newShy(5)
		ts := tagged(addresses(1000))
		var order []int // the kinds, in the order of the results
		results := map[uint64]*Result{}
		cfg := Config{SecondPass: true, Rate: 2000, Timeout: 200 * time.Millisecond, Tuning: Tuning{transport: n}}
		st, err := Scan(context.Background(), cfg, seqOf(ts), func(r *Result) {
			addr := udp.Pack(r.Addr)
			if results[addr] != nil {
				t.Fatalf("%v twice", r.Addr)
			}
			results[addr] = r.Clone()
			order = append(order, n.kind(addr))
		})
		check(t, err)
		checkLedger(t, st, len(ts))
		for i, tg := range ts {
			r := results[udp.Pack(tg.Addr)]
			kind := n.kind(udp.Pack(tg.Addr))
			switch {
			case r == nil:
				t.Fatalf("%v has no result", tg.Addr)
			case r.Tag != tg.Tag || r.Master != tg.Master:
				t.Errorf("%d: tag %q %q, want %q %q", i, r.Tag, r.Master, tg.Tag, tg.Master)
			case kind < 4 && (r.Status != StatusOK || r.Attempt != uint8(kind+1) || r.Sent != uint32(kind+4)):
				t.Errorf("kind %d: %v after ask %d, %d sent", kind, r.Status, r.Attempt, r.Sent)
			case kind == 4 && (r.Status != StatusNoReply || r.Attempt != 0 || r.Sent != 4 || r.SentBytes != 100):
				t.Errorf("silent: %v, ask %d, %d sent, %d bytes", r.Status, r.Attempt, r.Sent, r.SentBytes)
			}
		}
		firstLook := 600 // kinds 0 to 2
		if late := slices.IndexFunc(order, func(kind int) bool { return kind > 2 }); late != firstLook {
			t.Errorf("the first silent target has its result after %d others, want %d", late, firstLook)
		}
		if st.Silent != 0 || st.Finished[StatusNoReply] != 200 {
			t.Errorf("%+v", st)
		}
	})
}

// TestSecondPassDrain checks that silent targets have no result if the scan ends
// before the second pass.
func TestSecondPassDrain(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := newShy(2)
			drain := make(chan struct{})
			ctx, stop := context.WithCancel(context.Background())
			ts := addresses(5000)
			results := 0
			cfg := Config{SecondPass: true, Rate: 1000, Timeout: 100 * time.Millisecond, Tuning: Tuning{transport: n}, Control: Control{Drain: drain}}
			st, _ := Scan(ctx, cfg, seqOf(ts), func(r *Result) {
				if results++; results == 1000 && cancel {
					stop()
				} else if results == 1000 {
					close(drain)
				}
				if r.Status == StatusNoReply {
					t.Errorf("%v: %v before the second pass", r.Addr, r.Status)
				}
			})
			stop()
			checkLedger(t, st, int(st.Taken))
			if st.Silent < 500 || st.Unfinished < uint64(st.Silent) || st.Finished[StatusOK] != uint64(results) {
				t.Errorf("%d results, %+v", results, st)
			}
		})
	}
}

// TestSecondPassSnapshot resumes from every snapshot of a scan. Every target must
// have one result, either before the snapshot or after it.
func TestSecondPassSnapshot(t *testing.T) {
	ts := tagged(addresses(600))
	scan := func(t *testing.T, cfg Config, ts []Target, handle func(*Result)) Stats {
		cfg.SecondPass, cfg.Rate, cfg.Timeout = true, 2000, 50*time.Millisecond
		cfg.Tuning.transport = newShy(5)
		st, err := Scan(context.Background(), cfg, seqOf(ts), handle)
		check(t, err)
		return st
	}
	synctest.Test(t, func(t *testing.T) {
		handed := map[netip.AddrPort]bool{}
		type part struct {
			sn     *Snapshot
			handed map[netip.AddrPort]bool
			text   string
		}
		var parts []part
		looked := 0
		cfg := Config{Resume: Resume{SnapshotEvery: 40 * time.Millisecond, Snapshot: func(sn *Snapshot) {
			p := part{sn: sn, handed: map[netip.AddrPort]bool{}, text: fmt.Sprint(sn.Silent, sn.SilentLabels)}
			for a := range handed {
				p.handed[a] = true
			}
			if sn.SecondPassed > 0 && sn.SecondPassed < len(sn.Silent) {
				looked++
			}
			parts = append(parts, p)
		}}}
		scan(t, cfg, ts, func(r *Result) { handed[r.Addr] = true })
		if len(parts) < 10 || looked == 0 {
			t.Fatalf("%d snapshots, %d in the second pass", len(parts), looked)
		}
		for i, p := range parts {
			if p.text != fmt.Sprint(p.sn.Silent, p.sn.SilentLabels) {
				t.Fatalf("snapshot %d: its silent targets have changed", i)
			}
			rest := append(slices.Clone(p.sn.Open), ts[p.sn.Position:]...)
			silent := slices.Collect(p.sn.SilentTargets())
			if len(silent) != len(p.sn.Silent)-p.sn.SecondPassed || p.sn.Stats.TargetsFinished() != uint64(len(p.handed)) {
				t.Fatalf("snapshot %d: %d silent of %d, %d in their second pass; %d finished, %d handed over",
					i, len(silent), len(p.sn.Silent), p.sn.SecondPassed, p.sn.Stats.TargetsFinished(), len(p.handed))
			}
			st := scan(t, Config{Resume: Resume{Silent: slices.Values(silent)}}, rest, func(r *Result) {
				if p.handed[r.Addr] {
					t.Fatalf("snapshot %d: %v twice", i, r.Addr)
				}
				p.handed[r.Addr] = true
				at := int(r.Addr.Addr().As4()[2])<<8 | int(r.Addr.Addr().As4()[3])
				if r.Tag != ts[at].Tag || r.Master != ts[at].Master {
					t.Fatalf("snapshot %d: %v has tag %q", i, r.Addr, r.Tag)
				}
			})
			if len(p.handed) != len(ts) || st.Unfinished != 0 {
				t.Fatalf("snapshot %d: %d results in all, want %d", i, len(p.handed), len(ts))
			}
		}
	})
}

// TestSecondPassExcluded checks that a silent target that is excluded before its
// second pass is sent nothing more, and still has the result of a silent target.
func TestSecondPassExcluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newShy(4)
		n.kinds = 1 // no server answers
		ts := addresses(300)
		begun := time.Now()
		cfg := Config{SecondPass: true, Rate: Off, Attempts: 2, AddressRate: 1, Excluded: func(a netip.Addr) bool {
			return time.Since(begun) > 2200*time.Millisecond && a.As4()[3]%2 == 0
		}}
		got, st, err := run(n.memNet, cfg, ts)
		check(t, err)
		checkLedger(t, st, len(ts))
		for addr, r := range got {
			want := uint32(3)
			if addr>>16%2 == 0 {
				want = 2
			}
			if r.Sent != want || n.to(addr) != int(want) || r.Status != StatusNoReply {
				t.Errorf("%v: %v, %d sent, %d came, want %d", r.Addr, r.Status, r.Sent, n.to(addr), want)
			}
		}
		if len(got) != len(ts) || st.Excluded != 0 || st.Stopped != 150 {
			t.Errorf("%d results, %+v", len(got), st)
		}
	})
}

// TestExcludedAfterOutage: the result of a target that is excluded after an outage, before
// its second pass, has the time at which the scan gave the target up.
func TestExcludedAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, n := time.Now(), awayNet(50*time.Millisecond, time.Hour)
		var asked atomic.Int64
		n.serve = func(uint64, wire.Request) { asked.Add(1) } // no server answers
		cfg := Config{SecondPass: true, Rate: 1000, Attempts: 1, Timeout: 100 * time.Millisecond, AddressRate: Off}
		cfg.Excluded = func(netip.Addr) bool { return asked.Load() >= 100 }
		got, st, err := run(n, cfg, addresses(100))
		check(t, err)
		if len(got) == 0 || st.Stopped == 0 {
			t.Errorf("%d results, %+v", len(got), st)
		}
		for _, r := range got {
			if after := r.Time.Sub(begun); after < time.Hour {
				t.Errorf("%v: %v after the start", r.Addr, after)
			}
		}
	})
}

// TestLateSocket: the wait for a socket is an outage at the start of the scan. The clock and
// the results do not count it, but the Stats do.
func TestLateSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour) // the wait
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		set, err := Config{Rate: Off, AddressRate: Off, Questions: wire.AskInfo}.complete()
		check(t, err)
		set.waited = time.Hour
		begun, got := time.Now(), time.Time{}
		st, err := newEngine(set, n, func(r *Result) { got = r.Time }).scan(t.Context(), seqOf(addresses(1)))
		check(t, err)
		if took := time.Since(begun); got.Before(begun) || got.Sub(begun) > took || st.Active() != took || st.Elapsed != took+time.Hour || st.Outages != 1 {
			t.Errorf("result after %v of %v, active %v, %v in all, %d outages", got.Sub(begun), took, st.Active(), st.Elapsed, st.Outages)
		}
	})
}

// TestSendFaults checks that Stats counts the errors of sending by cause.
func TestSendFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemNet()
		errs := []error{errNetwork, errHost, errForbidden, errOther, udp.ErrAgain}
		n.refuse = func(addr uint64) error { return errs[int(addr>>16)%len(errs)] }
		_, st := mustRun(t, n, Config{Questions: wire.AskInfo}, addresses(10))
		want := [numSendFaults]uint64{sendOther: 6, sendPutOff: 6, sendNetwork: 6, sendHost: 6, sendForbidden: 6}
		if st.SendFaults != want || st.SendErrors != 30 { // of three attempts each
			t.Errorf("%v of %d", st.SendFaults, st.SendErrors)
		}
	})
}

var (
	errNetwork   = fmt.Errorf("send: %w", syscall.ENETUNREACH)
	errHost      = fmt.Errorf("send: %w", syscall.EHOSTUNREACH)
	errForbidden = fmt.Errorf("send: %w", syscall.EACCES)
	errOther     = errors.New("another")
)
