package congestion

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

// narrow models a machine. It sends as fast as the pace and its processor allow,
// gets a reply of a hundred bytes for each datagram, and receives a limited number
// of replies per second.
type narrow struct {
	sends, receives float64 // per second
	room            float64 // size of the receive buffer in bytes

	queued        float64
	sent, dropped float64
}

// run makes a Control sample the machine for the time long, and returns the rate at
// each sample.
func (m *narrow) run(g *Control, now *time.Duration, long time.Duration) (rates []float64) {
	for end := *now + long; *now < end; {
		*now += sampleEvery
		rate := m.sends
		if g.Rate > 0 {
			rate = min(rate, g.Rate)
		}
		rates = append(rates, rate)
		n := rate * sampleEvery.Seconds()
		m.sent += n
		m.queued += 100 * (n - m.receives*sampleEvery.Seconds())
		if over := m.queued - m.room; over > 0 {
			m.dropped += over / 100
		}
		m.queued = min(max(m.queued, 0), m.room)
		g.Sample(*now, Signs{
			Sent: uint64(m.sent), Drops: uint64(m.dropped), Queued: int(m.queued), Room: int(m.room),
		}, true)
	}
	return rates
}

func extent(rates []float64) (least, mean, most float64) {
	least = math.Inf(1)
	for _, r := range rates {
		least, most = min(least, r), max(most, r)
		mean += r / float64(len(rates))
	}
	return least, mean, most
}

// TestControlSettles simulates machines that receive less than they could send. The
// rate must settle near what the machine receives. Hardly anything may be lost until
// then and nothing afterwards, and the rate must not oscillate. It must follow when
// the machine gets faster or slower.
func TestControlSettles(t *testing.T) {
	for _, receives := range []float64{3000, 20_000, 150_000, 400_000} {
		m := narrow{sends: 1e6, receives: receives, room: 4 << 20}
		g, now := New(0), time.Duration(0)
		m.run(g, &now, 5*time.Second)
		if lost := m.dropped / m.sent; lost > 0.01 {
			t.Errorf("%v/s: %.4f of the first datagrams are lost", receives, lost)
		}
		dropped := m.dropped
		least, mean, most := extent(m.run(g, &now, 30*time.Second))
		if least < 0.5*receives || most > 1.25*receives || mean < 0.8*receives || m.dropped > dropped {
			t.Errorf("%v/s: between %.0f and %.0f, mean %.0f, %.0f dropped", receives, least, most, mean, m.dropped-dropped)
		}
		if g.Settled < 0.75*receives || g.Settled > 1.1*receives {
			t.Errorf("%v/s: settled at %.0f", receives, g.Settled)
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

// road models a path that drops what exceeds its capacity, and more at random.
type road struct {
	capacity func(now time.Duration) float64 // datagrams per second; nil: no limit
	loss     func(now time.Duration) float64 // share of all datagrams; nil: none
	dead     func(now time.Duration) float64 // share of the unknown targets; nil: none
	known    float64                         // the share of requests to known servers
	uses     float64                         // the maximum rate that the scan uses; 0: as much as it may

	random *rand.Rand
	tokens float64
	sent   uint64
	echoes []echo
	lost   int
}

// echo is an answer on its way.
type echo struct {
	at, sent time.Duration
	heard    bool
}

func (m *road) value(f func(time.Duration) float64, now time.Duration, none float64) float64 {
	if f == nil {
		return none
	}
	return f(now)
}

// run has p control a scan on the road until the given time. It returns the rate at
// each sample.
func (m *road) run(p *Control, now *time.Duration, until time.Duration) (rates []float64) {
	if m.random == nil {
		m.random = rand.New(rand.NewPCG(1, 2))
	}
	owed := 0.0
	for *now < until {
		*now += sampleEvery
		p.Sample(*now, Signs{Sent: m.sent}, true)
		rate := p.Rate
		rates = append(rates, rate)
		if m.uses > 0 {
			rate = min(rate, m.uses)
		}
		capacity := m.value(m.capacity, *now, 1e9)
		m.tokens = min(m.tokens+capacity*sampleEvery.Seconds(), 0.01*capacity)
		for owed += rate * sampleEvery.Seconds(); owed >= 1; owed-- {
			m.send(p, *now)
		}
		m.deliver(p, *now)
	}
	return rates
}

func (m *road) send(p *Control, now time.Duration) {
	m.sent++
	heard := m.random.Float64() < m.known
	p.Sent(heard)
	if m.tokens < 1 {
		m.lost++
		return
	}
	m.tokens--
	dead := !heard && m.random.Float64() < m.value(m.dead, now, 0)
	if dead || m.random.Float64() < m.value(m.loss, now, 0) {
		return
	}
	trip := 20*ms + time.Duration(m.random.Int64N(int64(100*ms)))
	m.echoes = append(m.echoes, echo{now + trip, now, heard})
}

func (m *road) deliver(p *Control, now time.Duration) {
	kept := m.echoes[:0]
	for _, e := range m.echoes {
		if e.at <= now {
			p.Answered(now, e.sent, e.heard)
		} else {
			kept = append(kept, e)
		}
	}
	m.echoes = kept
}

func always(v float64) func(time.Duration) float64 { return func(time.Duration) float64 { return v } }

// after10 returns a function that returns the value before in the first ten seconds, and
// the value after from then on.
func after10(before, after float64) func(time.Duration) float64 {
	return func(now time.Duration) float64 {
		if now < 10*time.Second {
			return before
		}
		return after
	}
}

// blocks models a list in which the share of dead targets changes every quarter of a
// second.
func blocks(now time.Duration) float64 {
	return rand.New(rand.NewPCG(uint64(now/(250*ms)), 7)).Float64()
}

// TestPathRate checks that on any path the rate settles near what the path carries,
// and near the maximum rate if loss does not follow the rate.
func TestPathRate(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it starts no goroutine, and go test without -short runs it")
	}
	t.Parallel()
	const s = time.Second
	for _, test := range []struct {
		name        string
		road        road
		least, most float64 // mean rate of the last 20 s of 35 s
		lost        float64 // maximum share lost, of all that was sent
	}{
		{"free", road{known: 0.7}, 48_000, 50_000, 0},
		{"20k", road{known: 0.7, capacity: always(20_000)}, 18_000, 20_500, 0.06},
		{"20k and loss", road{known: 0.7, capacity: always(20_000), loss: always(0.05), dead: always(0.3)}, 17_500, 20_500, 0.03},
		{"slow line", road{known: 0.7, capacity: always(500)}, 420, 530, 0.5},
		{"loss", road{known: 0.7, loss: always(0.05), dead: always(0.3)}, 45_000, 50_000, 0},
		{"loss begins", road{known: 0.7, loss: after10(0, 0.05)}, 45_000, 50_000, 0},
		{"heavy loss begins", road{known: 0.7, loss: after10(0, 0.4)}, 42_000, 50_000, 0},
		{"blocks of the dead", road{known: 0.7, dead: blocks}, 45_000, 50_000, 0},
		{"no challenges", road{dead: always(0.3)}, 42_000, 50_000, 0},
		{"no challenges, 20k", road{dead: always(0.3), capacity: always(20_000)}, 15_000, 20_500, 0.08},
		{"no challenges, blocks", road{dead: blocks}, 40_000, 50_000, 0},
		{"capacity falls", road{known: 0.7, capacity: after10(1e9, 10_000)}, 8500, 10_500, 0.3},
		{"capacity rises", road{known: 0.7, capacity: after10(10_000, 40_000)}, 25_000, 41_000, 0.06},
		{"dead network", road{dead: always(1)}, 8000, 50_000, 0},
		{"slow list", road{known: 0.7, uses: 3000}, 4000, 50_000, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, now := New(50_000), time.Duration(0)
			test.road.run(p, &now, 15*s)
			_, mean, _ := extent(test.road.run(p, &now, 35*s))
			lost := float64(test.road.lost) / float64(test.road.sent)
			t.Logf("%.0f/s, %.3f lost, %+v", mean, lost, p.Path())
			if mean < test.least || mean > test.most || lost > test.lost {
				t.Errorf("between %.0f/s and %.0f/s expected, and at most %.3f lost", test.least, test.most, test.lost)
			}
		})
	}
}
