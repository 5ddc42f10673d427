package scanner

import (
	"math/rand/v2"
	"testing"
	"time"
)

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
	class    int
}

func (m *road) value(f func(time.Duration) float64, now time.Duration, none float64) float64 {
	if f == nil {
		return none
	}
	return f(now)
}

// run has p control a scan on the road until the given time. It returns the rate at
// each sample.
func (m *road) run(p *rateFinder, now *time.Duration, until time.Duration) (rates []float64) {
	if m.random == nil {
		m.random = rand.New(rand.NewPCG(1, 2))
	}
	owed := 0.0
	for *now < until {
		*now += sampleEvery
		p.sample(*now, signs{sent: m.sent}, true)
		rate := p.pace.rate
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

func (m *road) send(p *rateFinder, now time.Duration) {
	m.sent++
	class := toUnknown
	if m.random.Float64() < m.known {
		class = toKnown
	}
	p.current().asked[class]++
	if m.tokens < 1 {
		m.lost++
		return
	}
	m.tokens--
	dead := class == toUnknown && m.random.Float64() < m.value(m.dead, now, 0)
	if dead || m.random.Float64() < m.value(m.loss, now, 0) {
		return
	}
	trip := 20*ms + time.Duration(m.random.Int64N(int64(100*ms)))
	m.echoes = append(m.echoes, echo{now + trip, now, class})
}

func (m *road) deliver(p *rateFinder, now time.Duration) {
	kept := m.echoes[:0]
	for _, e := range m.echoes {
		if e.at <= now {
			p.answered(now, e.sent, e.class)
		} else {
			kept = append(kept, e)
		}
	}
	m.echoes = kept
}

func always(v float64) func(time.Duration) float64 { return func(time.Duration) float64 { return v } }

// from returns a function that returns the value before for times earlier than at, and
// the value after for later ones.
func from(at time.Duration, before, after float64) func(time.Duration) float64 {
	return func(now time.Duration) float64 {
		if now < at {
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
		{"20k and loss", road{known: 0.7, capacity: always(20_000), loss: always(0.05), dead: always(0.3)}, 18_000, 20_500, 0.06},
		{"slow line", road{known: 0.7, capacity: always(500)}, 420, 530, 0.5},
		{"loss", road{known: 0.7, loss: always(0.05), dead: always(0.3)}, 45_000, 50_000, 0},
		{"loss begins", road{known: 0.7, loss: from(10*s, 0, 0.05)}, 45_000, 50_000, 0},
		{"heavy loss begins", road{known: 0.7, loss: from(10*s, 0, 0.4)}, 42_000, 50_000, 0},
		{"blocks of the dead", road{known: 0.7, dead: blocks}, 45_000, 50_000, 0},
		{"no challenges", road{dead: always(0.3)}, 42_000, 50_000, 0},
		{"no challenges, 20k", road{dead: always(0.3), capacity: always(20_000)}, 15_000, 20_500, 0.08},
		{"no challenges, blocks", road{dead: blocks}, 40_000, 50_000, 0},
		{"capacity falls", road{known: 0.7, capacity: from(10*s, 1e9, 10_000)}, 8500, 10_500, 0.3},
		{"capacity rises", road{known: 0.7, capacity: from(10*s, 10_000, 40_000)}, 25_000, 41_000, 0.06},
		{"dead network", road{dead: always(1)}, 8000, 50_000, 0},
		{"slow list", road{known: 0.7, uses: 3000}, 4000, 50_000, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, now := newRateFinder(newPace(50_000, time.Now()), 50_000), time.Duration(0)
			test.road.run(p, &now, 15*s)
			_, mean, _ := extent(test.road.run(p, &now, 35*s))
			lost := float64(test.road.lost) / float64(test.road.sent)
			t.Logf("%.0f/s, %.3f lost, %+v", mean, lost, p.found)
			if mean < test.least || mean > test.most || lost > test.lost {
				t.Errorf("between %.0f/s and %.0f/s expected, and at most %.3f lost", test.least, test.most, test.lost)
			}
		})
	}
}

// TestPathRateOutage checks that a short outage costs little: the rate is back within
// seconds.
func TestPathRateOutage(t *testing.T) {
	p, now := newRateFinder(newPace(50_000, time.Now()), 50_000), time.Duration(0)
	out := func(now time.Duration) float64 {
		if now > 10*time.Second && now < 10*time.Second+300*ms {
			return 1
		}
		return 0
	}
	m := road{known: 0.7, loss: out}
	m.run(p, &now, 10*time.Second)
	least, _, _ := extent(m.run(p, &now, 16*time.Second))
	if _, mean, _ := extent(m.run(p, &now, 26*time.Second)); mean < 35_000 || least < 10_000 {
		t.Errorf("%.0f/s after the outage, %.0f/s during it", mean, least)
	}
}
