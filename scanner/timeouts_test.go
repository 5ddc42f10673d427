package scanner

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

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
		cfg := Config{Timeout: timeout, Rate: 5000, AddressRate: Off, transport: n}
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
