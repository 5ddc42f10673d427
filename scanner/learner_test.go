package scanner

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/internal/trips"
	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// about reports whether a and b are equal within the width of a bucket.
func about(a, b time.Duration) bool { return a >= b && float64(a) <= 1.13*float64(b) }

const somewhere = uint64(0xCB007107)<<16 | 27015

// learnt returns a learner that knows n round trips of one length.
func learnt(n int, trip time.Duration) *learner {
	l := newLearner(time.Second)
	l.sent(0)
	for range n {
		l.first(somewhere, trip, true)
	}
	return l
}

// TestLearnerTimeout checks the timeouts that follow from different round trips.
func TestLearnerTimeout(t *testing.T) {
	for _, test := range []struct {
		name string
		n    int
		trip time.Duration
		now  time.Duration
		want time.Duration // the timeout is 1.25 times this, plus 10 ms; 0: a second
	}{
		{"too early", 1000, 100 * ms, 900 * ms, 0},
		{"too few", timing.LearnTrips - 1, 100 * ms, 2 * time.Second, 0},
		{"enough", timing.LearnTrips, 200 * ms, 2 * time.Second, 200 * ms},
		{"near by", 1000, 5 * ms, 2 * time.Second, 112 * ms}, // 150 ms
		{"far away", 1000, 5 * time.Second, 2 * time.Second, 0},
	} {
		l := learnt(test.n, test.trip)
		l.update(test.now)
		got, want := l.timeout(somewhere), time.Second
		if test.want > 0 {
			got, want = (got-10*ms)*4/5, test.want
		}
		if !about(got, want) {
			t.Errorf("%s: %v, want %v", test.name, got, want)
		}
	}
}

// TestLearnerUnsure adds answers that may belong to any of several requests. They count
// as round trips once they turn out to be late answers to the first. If many remain
// unsure, the learner falls back to the fixed timeouts.
func TestLearnerUnsure(t *testing.T) {
	l := learnt(900, 100*ms)
	for range 100 {
		l.first(somewhere, 0, false)
	}
	l.update(2 * time.Second)
	if got := l.timeout(somewhere); got > 200*ms {
		t.Errorf("a tenth is unsure: %v", got)
	}
	for range 100 {
		l.late(somewhere, 400*ms)
	}
	l.update(3 * time.Second)
	if got := l.timeout(somewhere); got < 500*ms || l.all.Unknown() != 0 {
		t.Errorf("a tenth takes 400 ms: %v, %d unsure", got, l.all.Unknown())
	}
	for range 300 {
		l.first(somewhere, 0, false)
	}
	l.update(4 * time.Second)
	if got := l.timeout(somewhere); got != time.Second || l.last() != (session.LastWaits{}) {
		t.Errorf("a quarter is unsure: %v, %+v", got, l.last())
	}
}

// TestLearnerBlocks checks that a /8 has its own timeout as long as that differs from
// the common one.
func TestLearnerBlocks(t *testing.T) {
	const elsewhere = uint64(0x0A000001)<<16 | 27015
	l := learnt(2000, 100*ms)
	for range enoughBlock - 1 {
		l.first(elsewhere, 10*ms, true)
	}
	l.update(2 * time.Second)
	if a, b := l.timeout(somewhere), l.timeout(elsewhere); a != b {
		t.Errorf("too little is known: %v and %v", a, b)
	}
	l.first(elsewhere, 10*ms, true)
	l.update(3 * time.Second)
	if got := l.timeout(elsewhere); got != timing.LeastTimeout || l.seen.Blocks != 1 || l.seen.Least != timing.LeastTimeout {
		t.Errorf("a /8 near by: %v, %+v", got, l.seen)
	}
	for range 2 * trips.Generation {
		l.first(elsewhere, 90*ms, true)
	}
	l.update(4 * time.Second)
	if a, b := l.timeout(somewhere), l.timeout(elsewhere); a != b || l.seen.Blocks != 0 {
		t.Errorf("they differ no more: %v and %v, %+v", a, b, l.seen)
	}
}

// TestLearnerLast checks the last waits and the cooldown.
func TestLearnerLast(t *testing.T) {
	l := learnt(timing.LastTrips-1, 100*ms)
	if got := l.cooldown(2 * time.Second); got != 2*time.Second {
		t.Errorf("nothing is learned: a cooldown of %v", got)
	}
	l.update(2 * time.Second)
	if l.last() != (session.LastWaits{}) {
		t.Errorf("too little is known: %+v", l.last())
	}
	l.first(somewhere, 400*ms, true)
	for range timing.LastTrips {
		l.asked.Add(50*ms, true)
	}
	if got := l.last(); !about(got.Silent, 800*ms) || got.Heard != l.most {
		t.Errorf("%+v", got)
	}
	l.asked.Add(700*ms, true)
	if got := l.last(); !about(got.Heard, 1400*ms) {
		t.Errorf("%+v", got)
	}
	if got := l.cooldown(2 * time.Second); !about(got, 200*ms) {
		t.Errorf("a cooldown of %v", got)
	}
	if got := l.cooldown(150 * ms); got != 150*ms {
		t.Errorf("a cooldown of %v, at most 150 ms", got)
	}
	near := learnt(timing.LastTrips, ms)
	near.update(2 * time.Second)
	if got := near.cooldown(2 * time.Second); got != timing.LeastTimeout/3 {
		t.Errorf("servers that are near: a cooldown of %v", got)
	}
}

// TestNoRoomToUnpack checks that a server gets the fixed timeouts if the decompressor
// had no room for its compressed answer: it may have none for the next answer either.
func TestNoRoomToUnpack(t *testing.T) {
	h, err := NewHarness()
	check(t, err)
	e := h.e
	e.open.learner = learnt(timing.LearnTrips, 20*ms)
	e.open.learner.update(2 * time.Second)
	h.Begin(1<<16 | 27015)
	h.Send()
	slot := e.open.slots.find(1<<16 | 27015)
	reply := []byte(inBzip2(string(newServer().rules))[0])
	learned := e.open.planOf(e.open.slots.at(slot)).Schedule.First()
	h.Close() // the decompressor takes nothing any more
	e.take(h.now, h.now, &udp.Packet{Addr: 1<<16 | 27015, Data: reply})
	if got := e.open.planOf(e.open.slots.at(slot)).Schedule.First(); learned != timing.LeastTimeout || got != DefaultTimeout {
		t.Errorf("%v, and %v after it", learned, got)
	}
}

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
	x.cfg.Tuning.transport, x.cfg.Rate, x.cfg.AddressRate = n, 10_000, Off
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
			if a := x.stats.Timeouts; a.Reopened != 2 || a.Now != timing.LeastTimeout {
				t.Errorf("%+v", a)
			}
			for addr := range late {
				r := x.got[addr]
				if r == nil || r.Status != StatusOK || r.Attempt != 1 || r.Received < 4 {
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
		if d := sentAt[1].Sub(sentAt[0]); d < timing.LeastTimeout || d > timing.LeastTimeout+10*ms {
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
		x := listenScan{late: late, ctx: ctx, cfg: Config{Resume: Resume{SnapshotEvery: 50 * ms}}}
		x.cfg.Resume.Snapshot = func(s *Snapshot) {
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

var simulated = flag.Int("simulated", 2048, "how many targets TestTimeouts scans in memory")

// distant is a network in memory of servers that are far away. One address in five has
// no server, and replies get lost.
type distant struct {
	name  string
	loss  float64
	delay delay // of all replies
	rules delay // of replies to RULES; nil: the same as delay
}

// delay returns how long a reply takes that is sent at the time now. own holds the
// server's own random numbers.
type delay func(now time.Duration, own *rand.Rand) time.Duration

const ms = time.Millisecond

// usual is the delay of a server 20 to 200 ms away.
func usual(_ time.Duration, own *rand.Rand) time.Duration {
	return 20*ms + time.Duration(own.Int64N(int64(180*ms)))
}

// tailed is like usual, except that one server in a hundred is 0.8 to 1.5 s away, and one
// in a thousand is 3 s away.
func tailed(now time.Duration, own *rand.Rand) time.Duration {
	switch x := own.Float64(); {
	case x < 0.001:
		return 3 * time.Second
	case x < 0.011:
		return 800*ms + time.Duration(own.Int64N(int64(700*ms)))
	}
	return usual(now, own)
}

// doubled is like usual at first. After 1.2 s every delay is twice as long.
func doubled(now time.Duration, own *rand.Rand) time.Duration {
	d := usual(now, own)
	if now > 1200*ms {
		d *= 2
	}
	return d
}

// jumping is like usual at first. After 1.2 s every delay is 400 ms longer.
func jumping(now time.Duration, own *rand.Rand) time.Duration {
	d := usual(now, own)
	if now > 1200*ms {
		d += 400 * ms
	}
	return d
}

func ownOf(addr uint64) *rand.Rand { return rand.New(rand.NewPCG(addr, 3)) }

// serve makes n answer as the servers of d do.
func (d *distant) serve(n *memNet) {
	s, lost, start := newServer(), rand.New(rand.NewPCG(1, 2)), time.Now()
	n.serve = func(addr uint64, req wire.Request) {
		own := ownOf(addr)
		if own.Float64() < 0.2 || lost.Float64() < d.loss {
			return
		}
		server, now := *s, time.Since(start)
		server.delay = d.delay(now, own)
		if d.rules != nil && req.Kind == wire.KindRulesRequest && req.Challenge == s.challenge {
			server.delay = d.rules(now, own)
		}
		server.answer(n, addr, req)
	}
}

// distantScan is the outcome of a scan of a distant network.
type distantScan struct {
	live, complete int
	stats          Stats
}

func (r *distantScan) String() string {
	x := &r.stats.Timeouts
	return fmt.Sprintf("%.2f s, %d of %d complete, %.2f datagrams for each, timeouts %v to %v, now %v, %d reopened",
		r.stats.Elapsed.Seconds(), r.complete, r.live, r.perServer(), x.Least, x.Most, x.Now, x.Reopened)
}

// perServer returns the number of datagrams sent per server that answers.
func (r *distantScan) perServer() float64 { return float64(r.stats.DatagramsSent()) / float64(r.live) }

// scan scans the network with the given Config.Timeout; 0: learned timeouts.
func (d *distant) scan(t *testing.T, timeout time.Duration) (r distantScan) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := newMemNet()
		d.serve(n)
		list := addresses(*simulated)
		for _, x := range list {
			if ownOf(udp.Pack(x.Addr)).Float64() >= 0.2 {
				r.live++
			}
		}
		var err error
		cfg := Config{Timeout: timeout, Rate: 5000, AddressRate: Off, Tuning: Tuning{transport: n}}
		r.stats, err = Scan(t.Context(), cfg, seqOf(list), func(x *Result) {
			if x.Status == StatusOK {
				r.complete++
			}
		})
		check(t, err)
	})
	return r
}

// TestTimeouts scans networks with learned timeouts and with fixed ones. Learned
// timeouts must miss hardly any servers and save a given time; in one of the networks
// they may cost time.
func TestTimeouts(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: TestFindRate runs the same goroutines, and go test without -short runs it")
	}
	t.Parallel()
	for _, test := range []struct {
		distant
		saves time.Duration // minimum time saved; negative: maximum time lost
	}{
		{distant{"usual", 0, usual, nil}, 4 * time.Second},
		{distant{"loss", 0.02, usual, nil}, time.Second}, // usually 4 s, but a reply that is lost at the end costs 2 s or 3
		{distant{"tail", 0, tailed, nil}, 0},
		{distant{"tail and loss", 0.02, tailed, nil}, -12 * time.Second}, // a server 3 s away loses replies, and each costs two round trips

		{distant{"late rules", 0, usual, tailed}, time.Second},
		{distant{"delay doubles", 0, doubled, nil}, 2 * time.Second},
		{distant{"delay jumps", 0, jumping, nil}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			learned, fixed := test.scan(t, 0), test.scan(t, time.Second)
			t.Log("learned:", &learned)
			t.Log("fixed:  ", &fixed)
			most := 0 // servers that may be missed by chance
			if test.loss > 0 {
				most = 2
			}
			if learned.complete < fixed.complete-most {
				t.Errorf("%d servers are complete; with fixed timeouts %d", learned.complete, fixed.complete)
			}
			if saved := fixed.stats.Elapsed - learned.stats.Elapsed; saved < test.saves {
				t.Errorf("%v saved, at least %v expected", saved, test.saves)
			}
			if x := learned.perServer(); x > fixed.perServer()+0.3 {
				t.Errorf("%.2f datagrams for each server; with fixed timeouts %.2f", x, fixed.perServer())
			}
			if x := &learned.stats.Timeouts; !x.Learned || x.Listening > 0 {
				t.Errorf("%+v at the end", x)
			}
		})
	}
}
