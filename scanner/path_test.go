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
		cfg := Config{Rate: 1000, FindRate: true, AddressRate: Off, Tuning: Tuning{transport: n}}
		stats, err := Scan(t.Context(), cfg, seqOf(addresses(targets)), func(*Result) {})
		check(t, err)
		if x := stats.Path; x.Asked != [...]uint64{targets, 3 * live} || x.Answered != [...]uint64{live, 2 * live} {
			t.Errorf("%+v", x)
		}
	})
}
