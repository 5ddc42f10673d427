package scanner

import (
	"context"
	"iter"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// slowly yields ts, the last late of them one every 20 ms, which keeps the scan from
// ending.
func slowly(ts []Target, late int) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for i, x := range ts {
			if i >= len(ts)-late {
				time.Sleep(20 * ms)
			}
			if !yield(x) {
				return
			}
		}
	}
}

// listenScan is a scan of nearby servers. It has learned its timeouts by the time that
// its list becomes slow.
type listenScan struct {
	cfg    Config
	late   map[uint64]time.Duration // servers that answer late, and their delay; 0: they never answer
	extra  []Target                 // the end of the list
	ctx    context.Context
	start  time.Time
	got    map[uint64]*Result
	stats  Stats
	fasten func(*memNet)
}

const listenTargets = 1000

func (x *listenScan) run(t *testing.T) {
	t.Helper()
	n, s := newMemNet(), newServer()
	n.serve = func(addr uint64, req wire.Request) {
		server := *s
		if late, ok := x.late[addr]; ok && late == 0 {
			return
		} else if ok {
			server.delay = late
		}
		server.answer(n, addr, req)
	}
	if x.fasten != nil {
		x.fasten(n)
	}
	if x.ctx == nil {
		x.ctx = t.Context()
	}
	x.start, x.got = time.Now(), map[uint64]*Result{}
	x.cfg.transport, x.cfg.Rate, x.cfg.AddressRate = n, 10_000, Off
	x.stats, _ = Scan(x.ctx, x.cfg, slowly(append(addresses(listenTargets), x.extra...), 400), func(r *Result) {
		x.got[udp.Pack(r.Addr)] = r.Clone()
	})
}

// after is the index of a target that starts when the timeouts have been learned.
const after = listenTargets - 300

func addressAt(i int) uint64 { return udp.Pack(addresses(i + 1)[i].Addr) }

// TestListenReopens checks that servers that answer after the scan gave them up early
// become complete, as with fixed timeouts.
func TestListenReopens(t *testing.T) {
	for _, attempts := range []int{3, 1} {
		synctest.Test(t, func(t *testing.T) {
			lateBy := 3 * time.Second
			if attempts == 1 {
				lateBy = 900 * ms
			}
			late := map[uint64]time.Duration{addressAt(after): lateBy, addressAt(after + 7): lateBy / 2}
			x := listenScan{late: late, cfg: Config{Attempts: attempts}}
			x.run(t)
			if a := x.stats.Timeouts; a.Reopened != 2 || a.Now != session.LeastTimeout {
				t.Errorf("%+v", a)
			}
			for addr := range late {
				r := x.got[addr]
				if r == nil || r.Status != StatusOK || r.Ask != 1 || r.Received < 4 {
					t.Errorf("attempts %d: %+v", attempts, r)
				}
			}
			if len(x.got) != listenTargets || x.stats.Finished[StatusOK] != listenTargets {
				t.Errorf("%d results, %d complete", len(x.got), x.stats.Finished[StatusOK])
			}
		})
	}
}

// TestListenSilent checks that the result of a target that never answers comes at about
// the same time as with fixed timeouts, and has the same content.
func TestListenSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := addressAt(after)
		x := listenScan{late: map[uint64]time.Duration{silent: 0}}
		var sentAt []time.Time
		x.fasten = func(n *memNet) {
			serve := n.serve
			n.serve = func(addr uint64, req wire.Request) {
				if addr == silent {
					sentAt = append(sentAt, time.Now())
				}
				serve(addr, req)
			}
		}
		x.run(t)
		r := x.got[silent]
		if r == nil || r.Status != StatusNoReply || r.Sent != 3 || r.SentBytes != 75 || len(sentAt) != 3 {
			t.Fatalf("%+v, sent at %v", r, sentAt)
		}
		if d := sentAt[1].Sub(sentAt[0]); d < session.LeastTimeout || d > session.LeastTimeout+10*ms {
			t.Errorf("repeated after %v", d)
		}
		if d := sentAt[2].Sub(sentAt[0]); d < 1200*ms || d > 1210*ms || (r.Took-d).Abs() > 2*ms {
			t.Errorf("last repeated after %v; took %v", d, r.Took)
		}
		if d := r.Time.Sub(sentAt[0]); d < 4500*ms || d > 4700*ms {
			t.Errorf("given up after %v", d)
		}
		for q, code := range r.Err {
			if code != wire.ErrTimeout {
				t.Errorf("question %d: %v", q, code)
			}
		}
	})
}

// TestListenKnown lists a target again while the scan still listens for it: it must
// count as a duplicate.
func TestListenKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := addressAt(listenTargets - 1)
		again := append(addresses(200), addresses(listenTargets)[listenTargets-1]) // extra: 100 finished targets, which are forgotten without a cooldown, and the silent one
		x := listenScan{late: map[uint64]time.Duration{silent: 0}, extra: again[100:], cfg: Config{Cooldown: Off}}
		x.run(t)
		if x.stats.Duplicate != 1 || x.stats.Taken != listenTargets+101 {
			t.Errorf("%d duplicates of %d", x.stats.Duplicate, x.stats.Taken)
		}
	})
}

// TestListenAccounted cancels a scan while it listens: the targets that it listens for
// must be unfinished, and open in the last snapshot.
func TestListenAccounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		late := map[uint64]time.Duration{}
		for i := range 20 {
			late[addressAt(after+i)] = 0
		}
		var last *Snapshot
		x := listenScan{late: late, ctx: ctx, cfg: Config{SnapshotEvery: 50 * ms}}
		x.cfg.Snapshot = func(s *Snapshot) {
			last = s
			if s.Stats.Timeouts.Listening == 20 {
				cancel()
			}
		}
		x.run(t)
		st := &x.stats
		if st.Timeouts.Listening != 20 || st.Unfinished < 20 || st.Taken != st.TargetsFinished()+st.Unfinished {
			t.Errorf("%d taken, %d finished, %d unfinished, %d listened for",
				st.Taken, st.TargetsFinished(), st.Unfinished, st.Timeouts.Listening)
		}
		open := maps.Clone(late)
		for _, x := range last.Open {
			delete(open, udp.Pack(x.Addr))
		}
		if len(open) > 0 || last.Position != st.TargetsFinished()+uint64(len(last.Open)) {
			t.Errorf("%d not among the open ones; position %d, %d finished, %d open",
				len(open), last.Position, st.TargetsFinished(), len(last.Open))
		}
	})
}
