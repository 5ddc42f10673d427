package scanner

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// narrow models a machine. It sends as fast as the pace and its processor allow,
// gets a reply of a hundred bytes for each datagram, and receives a limited number
// of replies per second.
type narrow struct {
	sends, receives float64 // per second
	room            float64 // size of the receive buffer in bytes

	queued        float64
	sent, dropped float64
}

// run makes a governor sample the machine for the time long, and returns the rate at
// each sample.
func (m *narrow) run(g *rateFinder, now *time.Duration, long time.Duration) (rates []float64) {
	for end := *now + long; *now < end; {
		*now += sampleEvery
		rate := min(paceOf(g), m.sends)
		rates = append(rates, rate)
		n := rate * sampleEvery.Seconds()
		m.sent += n
		m.queued += 100 * (n - m.receives*sampleEvery.Seconds())
		if over := m.queued - m.room; over > 0 {
			m.dropped += over / 100
		}
		m.queued = min(max(m.queued, 0), m.room)
		g.sample(*now, signs{
			sent: uint64(m.sent), drops: uint64(m.dropped), queued: int(m.queued), room: int(m.room),
		}, true)
	}
	return rates
}

// paceOf returns the rate that a governor has set, or infinity if it has set none.
func paceOf(g *rateFinder) float64 {
	if g.pace.rate == Off {
		return math.Inf(1)
	}
	return g.pace.rate
}

func extent(rates []float64) (least, mean, most float64) {
	least = math.Inf(1)
	for _, r := range rates {
		least, most = min(least, r), max(most, r)
		mean += r / float64(len(rates))
	}
	return least, mean, most
}

// TestGovernorSettles simulates machines that receive less than they could send. The
// rate must settle near what the machine receives. Hardly anything may be lost until
// then and nothing afterwards, and the rate must not oscillate. It must follow when
// the machine gets faster or slower.
func TestGovernorSettles(t *testing.T) {
	for _, receives := range []float64{3000, 20_000, 150_000, 400_000} {
		m := narrow{sends: 1e6, receives: receives, room: 4 << 20}
		g, now := newRateFinder(newPace(Off, time.Now()), Off), time.Duration(0)
		m.run(g, &now, 5*time.Second)
		if lost := m.dropped / m.sent; lost > 0.01 {
			t.Errorf("%v/s: %.4f of the first datagrams are lost", receives, lost)
		}
		dropped := m.dropped
		least, mean, most := extent(m.run(g, &now, 30*time.Second))
		if least < 0.5*receives || most > 1.25*receives || mean < 0.8*receives || m.dropped > dropped {
			t.Errorf("%v/s: between %.0f and %.0f, mean %.0f, %.0f dropped", receives, least, most, mean, m.dropped-dropped)
		}
		if g.settled < 0.75*receives || g.settled > 1.1*receives {
			t.Errorf("%v/s: settled at %.0f", receives, g.settled)
		}

		m.receives *= 1.5
		m.run(g, &now, 30*time.Second)
		_, mean, _ = extent(m.run(g, &now, 10*time.Second))
		if mean < 0.75*m.receives || m.dropped > dropped {
			t.Errorf("%v/s, which is more than before: %.0f, %.0f dropped", m.receives, mean, m.dropped-dropped)
		}
		m.receives /= 3
		m.run(g, &now, 10*time.Second)
		_, mean, most = extent(m.run(g, &now, 10*time.Second))
		if mean < 0.5*m.receives || most > 1.3*m.receives {
			t.Errorf("%v/s, which is less than before: %.0f, at most %.0f", m.receives, mean, most)
		}
	}
}

// TestGovernorLetsGo checks that the governor soon removes the limit if there is no
// sign of overload.
func TestGovernorLetsGo(t *testing.T) {
	m := narrow{sends: 3e6, receives: 1e9, room: 4 << 20}
	g, now := newRateFinder(newPace(Off, time.Now()), Off), time.Duration(0)
	rates := m.run(g, &now, 300*time.Millisecond)
	if last := rates[len(rates)-1]; last != m.sends || g.pace.limiter != nil {
		t.Errorf("%.0f after %v", last, now)
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
			Rate: Off, AddressRate: Off, Questions: AskInfo, Attempts: 1, Cooldown: Off,
			Timeout: 2 * time.Second, transport: n,
		}
		const targets = 600_000
		st, err := Scan(context.Background(), cfg, firstTargets(targets), func(*Result) {})
		if err != nil {
			t.Fatal(err)
		}
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
