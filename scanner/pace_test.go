package scanner

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// pacedNet notes when datagrams go out, and is in no hurry: waiting takes a
// while longer than asked for, and once it doesn't return for long.
type pacedNet struct {
	*memNet
	start time.Time
	late  time.Duration
	stall time.Duration // once, in the middle
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

const pacedTime = 5 * time.Second

// pacedScan sends to silent servers for five seconds.
func pacedScan(t *testing.T, rate float64, late, stall time.Duration) (at []time.Duration, st Stats) {
	t.Helper()
	n := &pacedNet{memNet: newMemNet(), start: time.Now(), late: late, stall: stall}
	ctx, cancel := context.WithTimeout(t.Context(), pacedTime)
	defer cancel()
	cfg := Config{
		Rate: rate, AddressRate: Off, Questions: AskInfo, Retries: Off,
		Timeout: 100 * time.Millisecond, Cooldown: Off, InFlight: 1 << 18, transport: n,
	}
	st, err := Scan(ctx, cfg, firstTargets(1<<24), func(*Result) {})
	if err != context.DeadlineExceeded {
		t.Fatal(err)
	}
	return n.at, st
}

// surge is by how many datagrams any stretch of time had more than its rate.
func surge(at []time.Duration, rate float64) (most float64) {
	low := math.Inf(1)
	for i, d := range at {
		ahead := float64(i) - rate*d.Seconds()
		low = min(low, ahead)
		most = max(most, ahead-low+1)
	}
	return most
}

// The rate is kept to half a percent, or one datagram, over five seconds; no
// more goes out at once than 5 ms of it, in whatever stretch one looks; what
// was missed in a pause is not made up for. The time is not real, and so are
// its numbers the same every time.
func TestPace(t *testing.T) {
	for _, rate := range []float64{10, 100, 150, 300, 399, 401, 1000, 5000, 10_000, 100_000, 200_000} {
		for _, late := range []time.Duration{0, 60 * time.Microsecond, 1100 * time.Microsecond} {
			for _, stall := range []time.Duration{0, 700 * time.Millisecond} {
				t.Run(fmt.Sprint(rate, late, stall), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { testPace(t, rate, late, stall) })
				})
			}
		}
	}
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
	if burst < 2 { // the part of a datagram that lateness takes
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
		t.Errorf("%v of the rate's time are said to be lost, want %v", lost, stall)
	}
}

// Low rates are evenly spaced.
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
