package master_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// How Stats.End ends.
const (
	complete   = "the list is complete"
	incomplete = "the list is incomplete"
)

// fetchUDP fetches the list of a simulated master with synctest's clock. took is
// how long the fetch took by that clock.
func fetchUDP(t *testing.T, m *fleet.Master, cfg master.Config) (got collected, s master.Stats, took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		got = make(collected)
		cfg.UDP, cfg.Dial = "master.test:27011", dialMaster(m)
		start := time.Now()
		s, err = master.Fetch(t.Context(), cfg, got.handle(t))
		took = time.Since(start)
	})
	if s.Servers != uint64(len(got)) {
		t.Errorf("%d servers counted, %d handed out", s.Servers, len(got))
	}
	return got, s, took, err
}

func TestFetchUDP(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{})
	pages := uint64(1024/231 + 1)
	got, s, took, err := fetchUDP(t, m, master.Config{Region: master.World})
	if err != nil || !s.Complete {
		t.Fatalf("%v, %v", err, s.End)
	}
	got.sameAs(t, m)
	if s.Requests != pages || s.Replies != pages || s.Retries+s.Duplicates+s.Repeated > 0 || took > time.Second {
		t.Errorf("%+v in %v, want %d pages", s, took, pages)
	}
	if want := pages*6 + 1024*6 + 6; s.Bytes != want {
		t.Errorf("%d bytes, want %d", s.Bytes, want)
	}
}

// TestFetchUDPFilter checks that the master receives the region and the filter.
func TestFetchUDPFilter(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{})
	all, _, _, err := fetchUDP(t, m, master.Config{Region: master.World})
	eu, _, _, err2 := fetchUDP(t, m, master.Config{Region: 3})
	tf, _, _, err3 := fetchUDP(t, m, master.Config{Region: master.World, Filter: filter(`\appid\440`)})
	rest, _, _, err4 := fetchUDP(t, m, master.Config{
		Region: master.World, Filter: filter(`\nor\2\appid\440\appid\240`)})
	check(t, errors.Join(err, err2, err3, err4))
	if len(eu) == 0 || len(eu) > len(all)/2 || len(tf) == 0 || len(tf) > len(all)/2 {
		t.Errorf("%d in all, %d in europe, %d of app 440", len(all), len(eu), len(tf))
	}
	for a := range rest {
		if tf[a] {
			t.Fatalf("%v plays 440 and does not", a)
		}
	}
}

// TestFetchUDPFaults checks how the fetch ends with each fault of a master, that it
// keeps the servers before the fault, and that its error describes the fault.
func TestFetchUDPFaults(t *testing.T) {
	const page = 100
	tests := []struct {
		name   string
		faults []fleet.MasterFault
		after  int    // number of good pages before the fault
		last   int    // number of faulty pages; 0: all the rest
		end    string // how Stats.End ends
		is     error
		words  []string
		least  int // number of servers
		check  func(s master.Stats) bool
	}{
		{"silent from the start", []fleet.MasterFault{fleet.MasterSilent}, 0, 0, incomplete, master.ErrNoReply,
			[]string{"master.test:27011", "does not answer", "4 times", "may be down"}, 0,
			func(s master.Stats) bool { return s.Requests == 4 && s.Retries == 3 }},
		{"silent later", []fleet.MasterFault{fleet.MasterSilent}, 3, 0, incomplete, master.ErrNoReply,
			[]string{"the page after 127.42.0.149:27016"}, 3 * page, nil},
		{"silent for two requests", []fleet.MasterFault{fleet.MasterSilent}, 3, 2, complete, nil, nil, 1024,
			func(s master.Stats) bool { return s.Retries == 2 }},
		{"pages cut off", []fleet.MasterFault{fleet.MasterTruncated}, 1, 4, complete, nil, nil, 1024,
			func(s master.Stats) bool { return s.Truncated == 4 }},
		{"pages cut off to the end", []fleet.MasterFault{fleet.MasterTruncated}, 1, 0, complete, nil, nil, 1024, nil},
		{"no terminator", []fleet.MasterFault{fleet.MasterNoTerminator}, 0, 0, "may be incomplete", nil, nil, 1024, nil},
		{"endless", []fleet.MasterFault{fleet.MasterEndless}, 0, 0, incomplete, master.ErrMalformed,
			[]string{"3 pages in a row have no new server"}, 1024, nil},
		{"the same page again", []fleet.MasterFault{fleet.MasterStuck}, 0, 0, incomplete, master.ErrMalformed,
			[]string{"the previous page again"}, page, func(s master.Stats) bool { return s.Repeated == 4 }},
		{"overlapping pages", []fleet.MasterFault{fleet.MasterOverlaps}, 0, 0, complete, nil, nil, 1024,
			func(s master.Stats) bool { return s.Duplicates >= 10*page/4 }},
		{"datagrams twice", []fleet.MasterFault{fleet.MasterTwice}, 0, 0, complete, nil, nil, 1024,
			func(s master.Stats) bool { return s.Repeated > 0 && s.Duplicates == 0 }},
		{"strangers", []fleet.MasterFault{fleet.MasterStranger}, 0, 0, complete, nil, nil, 1024,
			func(s master.Stats) bool { return s.Foreign == s.Replies }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := simulated(t, fleet.MasterConfig{Page: page, Faults: test.faults, After: test.after, For: test.last})
			got, s, _, err := fetchUDP(t, m, master.Config{Region: master.World, Unlimited: true})
			if !errors.Is(err, test.is) || !strings.HasSuffix(s.End, test.end) {
				t.Fatalf("%v (%v), want %v (%v)", err, s.End, test.is, test.end)
			}
			if test.is != nil {
				wantError(t, err, test.words...)
			}
			if len(got) != test.least {
				t.Errorf("%d servers kept, want %d", len(got), test.least)
			}
			if test.check != nil && !test.check(s) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// strayConn receives a foreign datagram before the datagrams of a master.
type strayConn struct {
	net.Conn
	strayed bool
}

func (c *strayConn) Read(b []byte) (int, error) {
	if !c.strayed {
		c.strayed = true
		return copy(b, "stray"), nil
	}
	return c.Conn.Read(b)
}

// TestFetchUDPStray: a foreign datagram among the earlier pages does not explain why a later
// page did not come.
func TestFetchUDPStray(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{Page: 100, Faults: []fleet.MasterFault{fleet.MasterSilent}, After: 3})
	synctest.Test(t, func(t *testing.T) {
		dial := dialMaster(m)
		s, err := master.Fetch(t.Context(), master.Config{
			Region: master.World, Unlimited: true, UDP: "master.test:27011",
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				return &strayConn{Conn: conn}, err
			},
		}, make(collected).handle(t))
		if wantError(t, err, "4 times", "the page after 127.42.0.149:27016"); s.Foreign != 1 {
			t.Errorf("%d foreign datagrams", s.Foreign)
		}
	})
}

// TestFetchUDPLimits checks the default limits with masters that stop answering
// clients that send more than 15, 20 or 30 requests per minute.
func TestFetchUDPLimits(t *testing.T) {
	for _, perMinute := range []int{15, 20, 30} {
		m := simulated(t, fleet.MasterConfig{Page: 10, PerMinute: perMinute})
		var waits []master.Stats
		got, s, took, err := fetchUDP(t, m, master.Config{
			Region: master.World, Progress: func(p master.Stats) { waits = append(waits, p) }})
		if err != nil || s.Retries > 0 {
			t.Fatalf("%d a minute: %v after %d retries", perMinute, err, s.Retries)
		}
		got.sameAs(t, m)
		// 103 pages: 60 in the first 301 s, then 43 at 15 per 61 s.
		if want := 301*time.Second + 2*61*time.Second; took != want {
			t.Errorf("took %v, want %v", took, want)
		}
		if len(waits) != 104 || waits[15].Wait != 61*time.Second || waits[15].Why != "the master's rate limit" ||
			waits[15].Replies != 15 || !waits[103].Complete {
			t.Errorf("%d reports, the sixteenth %+v", len(waits), waits[15])
		}
	}
}

// TestFetchUDPPunished checks that the list is complete although the master stops
// answering for a minute.
func TestFetchUDPPunished(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{Page: 40, PerMinute: 20})
	got, s, _, err := fetchUDP(t, m, master.Config{Region: master.World, Unlimited: true})
	if err != nil || s.Retries != 3 {
		t.Errorf("%v, %d retries", err, s.Retries)
	}
	got.sameAs(t, m)
}

// TestFetchUDPStop checks that a fetch ends as soon as its context ends, and keeps
// the servers received so far.
func TestFetchUDPStop(t *testing.T) {
	tests := []struct {
		name  string
		cfg   fleet.MasterConfig
		after time.Duration
		least int
	}{
		{"while the limit is kept", fleet.MasterConfig{Page: 10}, 30 * time.Second, 150},
		{"while an answer is missing", fleet.MasterConfig{Page: 100, Faults: []fleet.MasterFault{fleet.MasterSilent}, After: 2}, time.Second, 200},
		{"while the master punishes", fleet.MasterConfig{Page: 100, Faults: []fleet.MasterFault{fleet.MasterSilent}, After: 2}, 20 * time.Second, 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := simulated(t, test.cfg)
				ctx, cancel := context.WithTimeout(t.Context(), test.after)
				defer cancel()
				got, start := make(collected), time.Now()
				s, err := master.Fetch(ctx, master.Config{
					UDP: "x", Region: master.World, Dial: dialMaster(m)}, got.handle(t))
				if !errors.Is(err, context.DeadlineExceeded) || s.Complete {
					t.Errorf("%v, %v", err, s.End)
				}
				if took := time.Since(start); took != test.after || len(got) != test.least {
					t.Errorf("%d servers after %v, want %d after %v", len(got), took, test.least, test.after)
				}
			})
		})
	}
}

// TestFetchUDPBounds checks that a fetch ends at the maximum number of servers, and
// that a filter that is too long for a datagram is rejected before a request is sent.
func TestFetchUDPBounds(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{Page: 10})
	got, _, _, err := fetchUDP(t, m, master.Config{Region: master.World, Max: 25})
	if !errors.Is(err, master.ErrTooMuch) || len(got) != 25 {
		t.Errorf("%v after %d servers", err, len(got))
	}
	wantError(t, err, "more servers than the maximum, 25")

	long := filter(strings.Repeat(`\map\a_rather_long_name`, 20))
	before, _ := m.Requests()
	_, _, _, err = fetchUDP(t, m, master.Config{Filter: long})
	if !errors.Is(err, master.ErrRefused) {
		t.Errorf("%v is no ErrRefused", err)
	}
	wantError(t, err, "460 bytes", "190", "Web API")
	if after, _ := m.Requests(); after != before {
		t.Error("asked all the same")
	}
}

// TestFetchUDPRelays (EC-153) checks that addresses that can't be queried are passed on, and
// counted by reason.
func TestFetchUDPRelays(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{Also: []netip.AddrPort{
		netip.MustParseAddrPort("169.254.1.2:27015"), netip.MustParseAddrPort("0.0.0.0:27015"),
		netip.MustParseAddrPort("127.42.0.1:0"), netip.MustParseAddrPort("169.254.9.9:1"),
	}})
	got, s, _, err := fetchUDP(t, m, master.Config{Region: master.World})
	if err != nil || len(got) != 1028 {
		t.Fatalf("%v, %d servers", err, len(got))
	}
	if s.Relays != 2 || s.Unusable != 2 {
		t.Errorf("EC-153: %+v", s)
	}
}
