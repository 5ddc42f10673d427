package scanner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
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
		Rate: rate, AddressRate: Off, Questions: AskInfo, Attempts: 1,
		Timeout: 100 * time.Millisecond, Cooldown: Off, InFlight: 1 << 18, transport: n,
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
	t.Parallel()
	for _, rate := range paces(10, 100, 150, 300, 399, 401, 1000, 5000, 10_000, 100_000, 200_000) {
		for _, late := range []time.Duration{0, 60 * time.Microsecond, 1100 * time.Microsecond} {
			if rate > 10_000 && late != 60*time.Microsecond {
				continue // millions of datagrams, whose number does not depend on lateness
			}
			for _, stall := range []time.Duration{0, 700 * time.Millisecond} {
				t.Run(fmt.Sprint(rate, late, stall), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { testPace(t, rate, late, stall) })
				})
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

// TestPaceIsEven checks that datagrams are evenly spaced at low rates.
func TestPaceIsEven(t *testing.T) {
	for _, rate := range []float64{10, 50, 100, 190} {
		synctest.Test(t, func(t *testing.T) {
			at, _ := pacedScan(t, rate, 60*time.Microsecond, 0)
			gap := 1 / rate
			for i := 1; i < len(at); i++ {
				if d := (at[i] - at[i-1]).Seconds(); math.Abs(d-gap) > 0.002 {
					t.Fatalf("rate %v: %.4f s between two, want %.4f", rate, d, gap)
				}
			}
		})
	}
}

// TestPaceChanged checks that a scan keeps a rate that changes while it runs as
// exactly as a constant one, and never catches up. A value that is not a valid rate
// changes nothing.
func TestPaceChanged(t *testing.T) {
	for _, first := range paces(20, 150, 5000, 100_000) {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testPaceChanged(t, first) })
		})
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
		Rate: first, Rates: rates, AddressRate: Off, Questions: AskInfo, Attempts: 1,
		Timeout: 100 * time.Millisecond, Cooldown: Off, transport: n,
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
		cfg, err := Config{Rate: 5000, InFlight: test.inFlight}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Rate = 10_000
		if got := cfg.defaultInFlight(); cfg.freeInFlight != (got == test.want) {
			t.Errorf("%d in flight, want %d", got, test.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		rates := make(chan float64, 1)
		rates <- 1
		n := newMemNet()
		st, err := Scan(t.Context(), Config{Rate: Off, Rates: rates, Attempts: 1, Cooldown: Off, transport: n},
			seqOf(addresses(100)), func(*Result) {})
		if err != nil || st.Rate != Off || st.Elapsed > 10*time.Second || len(rates) > 0 {
			t.Errorf("%v, rate %v, %v", err, st.Rate, st.Elapsed)
		}
	})
}
