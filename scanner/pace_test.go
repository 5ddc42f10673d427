package scanner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// pacedNet records when datagrams go out. Its waits take longer than requested, by
// late, and one send stalls.
type pacedNet struct {
	*memNet
	start time.Time
	late  time.Duration
	stall time.Duration // of one send, in the middle of the scan
	at    []time.Duration
}

func (n *pacedNet) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	got, err := n.memNet.Recv(ps, wait)
	if wait > 0 {
		time.Sleep(n.late)
	}
	return got, err
}

func (n *pacedNet) Send(ps []udp.Packet) (int, error) {
	now := time.Since(n.start)
	for range ps {
		n.at = append(n.at, now)
	}
	if n.stall > 0 && now > pacedTime/2 {
		time.Sleep(n.stall)
		n.stall = 0
	}
	return len(ps), nil
}

func (n *pacedNet) Stats() udp.Stats { return udp.Stats{Sent: uint64(len(n.at))} }

const pacedTime = 2 * time.Second

// pacedScan sends to silent servers for two seconds and returns the time of each
// datagram.
func pacedScan(t *testing.T, rate float64, late, stall time.Duration) (at []time.Duration, st Stats) {
	t.Helper()
	n := &pacedNet{memNet: newMemNet(), start: time.Now(), late: late, stall: stall}
	ctx, cancel := context.WithTimeout(t.Context(), pacedTime)
	defer cancel()
	cfg := Config{
		Rate: rate, AddressRate: Off, Questions: wire.AskInfo, Attempts: 1,
		Timeout: 100 * time.Millisecond, Cooldown: Off, Tuning: Tuning{InFlight: 1 << 18, transport: n},
	}
	st, err := Scan(ctx, cfg, firstTargets(1<<24), func(*Result) {})
	if err != context.DeadlineExceeded {
		t.Fatal(err)
	}
	return n.at, st
}

// surge returns by how many datagrams the scan exceeded its rate, at most, in any
// span of time.
func surge(at []time.Duration, rate float64) (most float64) {
	low := math.Inf(1)
	for i, d := range at {
		ahead := float64(i) - rate*d.Seconds()
		low = min(low, ahead)
		most = max(most, ahead-low+1)
	}
	return most
}

// TestPace checks that the scan keeps its rate to half a percent, or one datagram,
// over two seconds. In no span of time may it exceed the rate by more than the
// datagrams of 5 ms, and it must not catch up after a pause. The clock is fake, so the
// numbers are the same every time.
func TestPace(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: TestScanFindsItsRate runs the same goroutines, and go test without -short runs it")
	}
	t.Parallel()
	for _, rate := range paces(10, 100, 150, 399, 401, 5000, 100_000) {
		for _, late := range []time.Duration{0, 60 * time.Microsecond, 1100 * time.Microsecond} {
			if rate > 10_000 && late != 60*time.Microsecond {
				continue // millions of datagrams, whose number does not depend on lateness
			}
			for _, stall := range []time.Duration{0, 700 * time.Millisecond} {
				inBubble(t, fmt.Sprint(rate, late, stall), func(t *testing.T) { testPace(t, rate, late, stall) })
			}
		}
	}
}

// paces drops the high rates under the race detector, which takes minutes for their
// millions of datagrams. The numbers do not depend on the race detector, and
// TestScanFindsItsRate runs a fast scan under it.
func paces(rates ...float64) []float64 {
	return slices.DeleteFunc(rates, func(r float64) bool { return raceEnabled && r > 10_000 })
}

func testPace(t *testing.T, rate float64, late, stall time.Duration) {
	at, st := pacedScan(t, rate, late, stall)
	burst := max(1, rate*burstTime.Seconds())
	want := rate * (pacedTime - stall).Seconds()
	off := max(1, 0.005*want)
	if stall > 0 {
		off += burst
	}
	if d := float64(len(at)) - want; math.Abs(d) > off {
		t.Errorf("%d datagrams, want %.0f", len(at), want)
	}
	allowed := burst + 1e-3
	if burst < 2 { // the bucket holds a part of a second datagram
		allowed = 1.5 + 1e-3
	}
	if got := surge(at, rate); got > allowed {
		t.Errorf("%.2f datagrams more than the rate has in some stretch, want at most %.2f", got, allowed)
	}
	once, longest := 1, 1
	for i := 1; i < len(at); i++ {
		if once++; at[i] != at[i-1] {
			once = 1
		}
		longest = max(longest, once)
	}
	if float64(longest) > burst {
		t.Errorf("%d datagrams at once, want at most %.0f", longest, burst)
	}
	lost := time.Duration(st.Waited[WaitSending]) * time.Microsecond
	if d := lost - stall; d > late+2*burstTime || d < -2*burstTime-time.Duration(2e9/rate) {
		t.Errorf("%v of the rate's time count as lost, want %v", lost, stall)
	}
}

// TestPaceChanged checks that a scan keeps a rate that changes while it runs as
// exactly as a constant one, and never catches up. A value that is not a valid rate
// changes nothing.
func TestPaceChanged(t *testing.T) {
	for _, first := range paces(20, 150, 5000, 100_000) {
		inBubble(t, fmt.Sprint(first), func(t *testing.T) { testPaceChanged(t, first) })
	}
}

func testPaceChanged(t *testing.T, first float64) {
	steps := []float64{first, 1.1 * first, 0.3 * first, 2 * first, first}
	n := &pacedNet{memNet: newMemNet(), start: time.Now(), late: 60 * time.Microsecond}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(len(steps))*time.Second)
	defer cancel()
	rates := make(chan float64, 1)
	go func() {
		for _, r := range steps[1:] {
			time.Sleep(time.Second)
			rates <- r
		}
	}()
	go func() {
		for _, r := range []float64{math.NaN(), Off, 0, math.Inf(1), 2 * maxRate} {
			time.Sleep(300 * time.Millisecond)
			rates <- r
		}
	}()
	st, err := Scan(ctx, Config{
		Rate: first, Control: Control{Rates: rates}, AddressRate: Off, Questions: wire.AskInfo, Attempts: 1,
		Timeout: 100 * time.Millisecond, Cooldown: Off, Tuning: Tuning{transport: n},
	}, firstTargets(1<<24), func(*Result) {})
	if err != context.DeadlineExceeded {
		t.Fatal(err)
	}
	for i, rate := range steps {
		var in []time.Duration
		for _, at := range n.at {
			if at -= time.Duration(i) * time.Second; at >= 0 && at < time.Second {
				in = append(in, at)
			}
		}
		// The scan notices the change within idleWait.
		seen := idleWait.Seconds() * math.Abs(rate-steps[max(i-1, 0)])
		if d := math.Abs(float64(len(in)) - rate); d > max(1.5, 0.005*rate)+seen {
			t.Errorf("second %d: %d datagrams, want %.0f", i+1, len(in), rate)
		}
		if got, want := surge(in, max(rate, steps[max(i-1, 0)])), max(1.5, 2*first*burstTime.Seconds())+1e-3; got > want {
			t.Errorf("second %d: %.2f datagrams more than the rate has, want at most %.2f", i+1, got, want)
		}
	}
	if d := math.Abs(float64(st.Allowed)/float64(len(n.at)) - 1); d > max(0.005, 2/float64(len(n.at))) {
		t.Errorf("%d datagrams, and %d were allowed", len(n.at), st.Allowed)
	}
	if st.Rate != first {
		t.Errorf("the rate is %v at the end, want %v", st.Rate, first)
	}
}

// TestRatesInFlight checks that a higher rate may have more targets open, unless
// InFlight is set, and that a scan whose governor sets the rate ignores new rates.
func TestRatesInFlight(t *testing.T) {
	for _, test := range []struct{ inFlight, want int }{{0, 25_000}, {700, 700}} {
		cfg, err := Config{Rate: 5000, Tuning: Tuning{InFlight: test.inFlight}}.complete()
		check(t, err)
		cfg.Rate = 10_000
		if got := cfg.defaultInFlight(); cfg.freeInFlight != (got == test.want) {
			t.Errorf("%d in flight, want %d", got, test.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		rates := make(chan float64, 1)
		rates <- 1
		n := newMemNet()
		st, err := Scan(t.Context(), Config{Rate: Off, Control: Control{Rates: rates}, Attempts: 1, Cooldown: Off, Tuning: Tuning{transport: n}},
			seqOf(addresses(100)), func(*Result) {})
		if err != nil || st.Rate != Off || st.Elapsed > 10*time.Second || len(rates) > 0 {
			t.Errorf("%v, rate %v, %v", err, st.Rate, st.Elapsed)
		}
	})
}

// slowNet is a memNet whose Send takes the time each per datagram.
type slowNet struct {
	*memNet
	each time.Duration
}

func (n slowNet) Send(ps []udp.Packet) (int, error) {
	time.Sleep(time.Duration(len(ps)) * n.each)
	return n.memNet.Send(ps)
}

// trickle yields targets one at a time, with a pause before each.
func trickle(ts []Target, pause time.Duration) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for _, t := range ts {
			time.Sleep(pause)
			if !yield(t) {
				return
			}
		}
	}
}

// TestScanLimitedBy checks that a scan that stays below its rate reports the reason,
// and that a scan that keeps its rate reports none.
func TestScanLimitedBy(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	t.Parallel()
	type setting struct {
		cfg     Config
		net     *memNet
		each    time.Duration // how long sending a datagram takes
		targets iter.Seq[Target]
		handle  func(*Result)
	}
	full := errors.Join(udp.ErrAgain)
	tests := []struct {
		want Wait
		set  func(s *setting)
	}{
		{WaitNothing, func(s *setting) {}},
		{WaitNothing, func(s *setting) { // a low rate with little to send at the end
			s.cfg.Rate, s.cfg.Attempts, s.cfg.Timeout = 100, 51, 100*time.Millisecond
			s.net.serve, s.targets = nil, seqOf(addresses(1))
		}},
		{WaitTargets, func(s *setting) { s.targets = trickle(addresses(600), 5*time.Millisecond) }},
		{waitInFlight, func(s *setting) { s.cfg.Tuning.InFlight, s.net.serve = 100, nil }},
		{WaitAddress, func(s *setting) { s.targets = seqOf(ports(100)) }},
		{waitBudget, func(s *setting) {
			s.cfg.Tuning.ByteBudget, s.cfg.Rate = 4<<20, 50_000
			s.targets = seqOf(addresses(600)) // fifty datagrams each
			big := newServer()
			big.rules = wire.AppendRules(nil, 30, make([]wire.Rule, 30_000))
			s.net.serve = func(addr uint64, req wire.Request) { big.answer(s.net, addr, req) }
			s.handle = func(*Result) { time.Sleep(time.Millisecond) }
		}},
		{waitOutput, func(s *setting) {
			s.cfg.Tuning.unhandled = 2 * blockLen
			s.handle = func(*Result) { time.Sleep(5 * time.Millisecond) }
		}},
		{waitKernel, func(s *setting) {
			tries := 0
			s.targets = seqOf(addresses(600)) // eighty attempts each
			s.net.refuse = func(uint64) error {
				if tries++; tries%20 > 0 {
					return full
				}
				return nil
			}
		}},
		{WaitSending, func(s *setting) { s.each = time.Millisecond }},
	}
	for _, test := range tests {
		inBubble(t, test.want.Word(), func(t *testing.T) {
			srv := newServer()
			s := setting{
				cfg: Config{Rate: 2000}, net: newMemNet(),
				targets: seqOf(addresses(3000)), handle: func(*Result) {},
			}
			s.net.serve = func(addr uint64, req wire.Request) { srv.answer(s.net, addr, req) }
			test.set(&s)
			s.cfg.Tuning.transport = slowNet{s.net, s.each}
			st, err := Scan(context.Background(), s.cfg, s.targets, s.handle)
			check(t, err)
			why, part := st.LimitedBy()
			if why != test.want || (part > 0.3) != (why != WaitNothing) {
				t.Errorf("limited by %q for %.2f of the time, want %q: %v", why.Word(), part, test.want.Word(), st.Waited)
			}
		})
	}
}

// narrowNet is a network in memory that a scan can overload: sending takes time,
// and replies wait in a buffer that the scan reads slowly.
type narrowNet struct {
	*memNet
	room     int
	receives float64
	from     time.Time
	taken    int
	dropped  uint64
	count    uint64
}

func (n *narrowNet) Send(ps []udp.Packet) (int, error) {
	time.Sleep(time.Duration(len(ps)) * 2 * time.Microsecond)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count += uint64(len(ps))
	for _, p := range ps {
		if len(n.inbox) >= n.room {
			n.dropped++
			continue
		}
		n.inbox = append(n.inbox, udp.Packet{Addr: p.Addr, Data: n.answerTo(p.Data)})
	}
	return len(ps), nil
}

func (n *narrowNet) answerTo([]byte) []byte { return plainInfo }

var plainInfo = newServer().info

func (n *narrowNet) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	if wait > 0 {
		time.Sleep(min(wait, time.Millisecond))
	}
	may := int(time.Since(n.from).Seconds()*n.receives) - n.taken
	got := n.take(ps[:max(0, min(len(ps), may))])
	n.taken += got
	if len(n.inbox) == 0 { // unused capacity can't be saved for later
		n.taken = int(time.Since(n.from).Seconds() * n.receives)
	}
	return got, nil
}

func (n *narrowNet) Stats() udp.Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return udp.Stats{Sent: n.count, KernelDrops: n.dropped, RecvQueued: len(n.inbox), RecvBuffer: n.room}
}

// TestScanFindsItsRate checks that a scan without a rate finds the rate at which
// nothing is lost, and reports it.
func TestScanFindsItsRate(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it simulates in one goroutine, and go test without -short runs it")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &narrowNet{memNet: newMemNet(), room: 10_000, receives: 40_000, from: time.Now()}
		cfg := Config{
			Rate: Off, AddressRate: Off, Questions: wire.AskInfo, Attempts: 1, Cooldown: Off,
			Timeout: 2 * time.Second, Tuning: Tuning{transport: n},
		}
		const targets = 600_000
		st, err := Scan(context.Background(), cfg, firstTargets(targets), func(*Result) {})
		check(t, err)
		checkLedger(t, st, targets)
		if lost := float64(n.dropped) / targets; lost > 0.02 || st.Slowed == 0 {
			t.Errorf("%.4f lost, slowed down %d times", lost, st.Slowed)
		}
		if st.Settled < 0.7*n.receives || st.Settled > 1.1*n.receives {
			t.Errorf("settled at %.0f", st.Settled)
		}
		if why, part := st.LimitedBy(); why != waitLosses || part < 0.5 {
			t.Errorf("limited by %q for %.2f of the time, %v", why.Word(), part, st.Waited)
		}
		if got := st.Finished[StatusOK]; got != targets-n.dropped {
			t.Errorf("%d answered", got)
		}
	})
}
