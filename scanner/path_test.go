package scanner

import (
	"flag"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

var overPath = flag.Int("over-path", 8192, "how many targets TestFindRate scans in memory")

// link models servers behind a link that drops what exceeds its capacity. One address
// in five has no server.
type link struct {
	capacity float64 // datagrams per second; 0: no limit
	loss     float64

	tokens float64
	at     time.Time
}

// carries reports whether the link carries a datagram now. Its token bucket holds the
// datagrams of 10 ms.
func (l *link) carries(now time.Time) bool {
	if l.capacity == 0 {
		return true
	}
	l.tokens = min(l.tokens+l.capacity*now.Sub(l.at).Seconds(), l.capacity/100)
	if l.at = now; l.tokens < 1 {
		return false
	}
	l.tokens--
	return true
}

func (l *link) serve(n *memNet) {
	s, lost := newServer(), rand.New(rand.NewPCG(1, 2))
	l.at = time.Now()
	n.serve = func(addr uint64, req wire.Request) {
		carried := l.carries(time.Now())
		own := ownOf(addr)
		if dead := own.Float64() < 0.2; dead || !carried || lost.Float64() < l.loss {
			return
		}
		server := *s
		server.delay = usual(0, own)
		server.answer(n, addr, req)
	}
}

// liveOf returns how many targets answer, and how many datagrams a scan without loss
// sends.
func liveOf(list []Target) (live, needed int) {
	for _, x := range list {
		if ownOf(udp.Pack(x.Addr)).Float64() < 0.2 {
			needed += defaultAttempts
		} else {
			live++
			needed += 4
		}
	}
	return live, needed
}

// TestFindRate scans over links: a scan that finds its rate must be about as fast as
// the link, and must miss hardly any servers.
func TestFindRate(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it simulates in one goroutine, and go test without -short runs it")
	}
	t.Parallel()
	const most = 5000
	for _, test := range []struct {
		name string
		link
		least   float64 // part of the ideal rate that the scan must reach
		slowed  bool
		missing int // maximum number of servers missed, per 1000
	}{
		{"free", link{}, 0.7, false, 0},
		{"drops beyond 2000/s", link{capacity: 2000}, 1 / 1.6, true, 2},
		{"loss", link{loss: 0.05}, 0.7, false, 2},
		{"loss, and drops beyond 2000/s", link{capacity: 2000, loss: 0.05}, 1 / 1.6, true, 5},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			n := newMemNet()
			test.serve(n)
			list := addresses(*overPath)
			live, needed := liveOf(list)
			complete := 0
			cfg := Config{Rate: most, FindRate: true, AddressRate: Off, Tuning: Tuning{transport: n}}
			stats, err := Scan(t.Context(), cfg, seqOf(list), func(r *Result) {
				if r.Status == StatusOK {
					complete++
				}
			})
			check(t, err)
			x, ideal := &stats.Path, float64(most)
			if test.capacity > 0 {
				ideal = test.capacity
			}
			asking := stats.Elapsed.Seconds() - float64(stats.Waited[WaitReplies]+stats.Waited[WaitCooldown])/1e6
			rate := float64(stats.DatagramsSent()) / asking
			if test.capacity > 0 {
				rate = float64(needed) / asking // repeats don't count
			}
			t.Logf("%d of %d complete in %v, %.0f/s of %.0f/s, %d sent, %d needed, %+v",
				complete, live, stats.Elapsed, rate, ideal, stats.DatagramsSent(), needed, *x)
			if missing := live - complete; 1000*missing > live*test.missing {
				t.Errorf("%d servers are missing", missing)
			}
			if rate < test.least*ideal {
				t.Errorf("%.0f/s, at least %.0f/s expected", rate, test.least*ideal)
			}
			if slowed := x.Slowed > 0; slowed != test.slowed || !x.On || x.Most != most || x.Now > most {
				t.Errorf("%+v", *x)
			}
		})
	}
}

// TestPathEvidence checks that each first request counts once, and its answer once.
// Repeated requests and the answers to them do not count.
func TestPathEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := halfSilent(), newServer()
		asked := map[uint64]int{}
		n.serve = func(addr uint64, req wire.Request) {
			if addr>>16%2 != 0 {
				return
			}
			if req.Kind == wire.KindRulesRequest {
				if asked[addr]++; asked[addr] == 1 {
					return // lost
				}
			}
			s.answer(n, addr, req)
		}
		const targets, live = 40, 20
		cfg, err := Config{Rate: 1000, FindRate: true, AddressRate: Off, Tuning: Tuning{transport: n}}.complete()
		check(t, err)
		e := newEngine(cfg, n, func(*Result) {})
		if _, err := e.scan(t.Context(), seqOf(addresses(targets))); err != nil {
			t.Fatal(err)
		}
		var all yields
		for i := range e.finder.begun {
			all.add(&e.finder.window(i).yields, 1)
		}
		if all.asked != [2]float64{targets, 3 * live} || all.answered != [2]float64{live, 2 * live} {
			t.Errorf("%+v", all)
		}
	})
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
		rate := p.now
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
		{"20k and loss", road{known: 0.7, capacity: always(20_000), loss: always(0.05), dead: always(0.3)}, 17_500, 20_500, 0.03},
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
			p, now := newRateFinder(50_000), time.Duration(0)
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
