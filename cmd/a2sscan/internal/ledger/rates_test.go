package ledger

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/congestion"
)

// These reasons to wait have no names outside package scanner.
const (
	waitInFlight = scanner.WaitTargets + 1
	waitOutput   = scanner.WaitReplies - 2
	waitLosses   = scanner.NumWaits - 1
	waitKernel   = scanner.NumWaits - 3
)

// TestRatesReported: the line about the rate is right for a scan that reached its
// rate, a scan that did not, and a scan without a rate.
func TestRatesReported(t *testing.T) {
	tests := []struct {
		name    string
		set     func(s *scanner.Stats)
		line    string
		limit   string // start of the line about the limit; empty: no such line
		hint    string // a word of the hint; empty: no hint
		word    string
		reached float64
	}{
		{"kept", func(s *scanner.Stats) {}, "5k/s set, 5k/s reached while querying", "", "", "", 5000},
		{"list", func(s *scanner.Stats) { s.Waited[scanner.WaitTargets] = 6e6 },
			"5k/s set, 5k/s reached while querying", "slowed by  the target list, 60% of the time", "pipe", "list", 5000},
		{"end", func(s *scanner.Stats) { s.Waited[scanner.WaitReplies], s.Elapsed = 5e6, 15*time.Second },
			"5k/s set, 5k/s reached while querying", "", "", "", 5000},
		{"brief", func(s *scanner.Stats) { s.Waited[scanner.WaitReplies] = 9.5e6 }, "5k/s set", "", "", "", 100_000},
		{"woken up late", func(s *scanner.Stats) { s.Waited[scanner.WaitSending] = 1.5e6 },
			"5k/s set, 5k/s reached while querying", "", "", "", 5000},
		{"saturated", func(s *scanner.Stats) { s.Waited[waitKernel] = 6e6 },
			"5k/s set, 5k/s reached while querying", "slowed by  the kernel's send buffer, 60% of the time", "is saturated", "kernel", 5000},
		{"away", func(s *scanner.Stats) { s.Waited[waitKernel], s.Outages = 6e6, 1 },
			"5k/s set, 5k/s reached while querying", "slowed by  the kernel's send buffer, 60% of the time", "was away for a time", "kernel", 5000},
		{"away for long", func(s *scanner.Stats) {
			s.Elapsed, s.Outages, s.OutageTime = time.Hour+10*time.Second, 1, uint64(time.Hour/time.Microsecond)
		}, "5k/s set, 5k/s reached while querying", "", "", "", 5000},
		{"next hop away", func(s *scanner.Stats) {
			s.Waited[waitKernel], s.SendFaults[slices.Index(scanner.SendFaults[:], "host_unreachable")] = 6e6, 1
		}, "5k/s set, 5k/s reached while querying", "slowed by  the kernel's send buffer, 60% of the time", "was away for a time", "kernel", 5000},
		{"busy machine", func(s *scanner.Stats) { s.Waited[scanner.WaitSending] = 5e6 },
			"5k/s set, 5k/s reached while querying", "slowed by  the processor, 50% of the time", "stop other programs", "cpu", 5000},
		{"processor", func(s *scanner.Stats) { s.Waited[scanner.WaitSending], s.Rate, s.Sent[0] = 5e6, 9e5, 5e6 },
			"900k/s set, 500k/s reached while querying", "slowed by  the processor, 50% of the time", "--shard", "cpu", 5e5},
		{"held back and busy", func(s *scanner.Stats) { s.Waited[scanner.WaitSending], s.Waited[scanner.WaitAddress] = 5e6, 1e6 },
			"5k/s set, 5k/s reached while querying", "slowed by  the rate limit of an address, 10%", "--per-address-rate", "per_address", 5000},
		{"settled", func(s *scanner.Stats) {
			s.Rate, s.Settled, s.Slowed = scanner.Off, 210_000, 7
			s.Waited[waitLosses] = 9e6
		}, "as fast as possible, settled at 210k/s", "slowed by  the receiving side, 90% of the time", "", "losses", 5000},
		{"never free", func(s *scanner.Stats) { s.Rate = scanner.Off; s.Waited[waitInFlight] = 5e6 },
			"as fast as possible, 5k/s reached while querying", "slowed by  the number of targets open", "", "in_flight", 5000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := scanner.Stats{Elapsed: 10 * time.Second, Rate: 5000}
			s.Sent[0] = 50_000
			test.set(&s)
			r := NewRates(&s)
			if r.String() != test.line || r.RateReached != test.reached || r.RateLimitedBy != test.word {
				t.Errorf("%q, %v/s, by %q", r.String(), r.RateReached, r.RateLimitedBy)
			}
			var b bytes.Buffer
			block := console.New(&b).NewBlock()
			r.sayLimit(block)
			block.Print()
			if !strings.HasPrefix(strings.TrimPrefix(b.String(), "a2sscan: "), test.limit) || (test.limit == "") != (b.Len() == 0) {
				t.Errorf("said %q", b.String())
			}
			if hinted := strings.Contains(b.String(), "hint"); hinted != (test.hint != "") || !strings.Contains(b.String(), test.hint) {
				t.Errorf("said %q", b.String())
			}
		})
	}
}

// TestPathReported: the summary has what the path carried and why the rate changed.
// If the rate was given, it has no path.
func TestPathReported(t *testing.T) {
	x := congestion.Path{On: true, Most: 50_000, Now: 40_000, Raised: 3, Unrelated: 1}
	change := &x.Changes[0]
	change.At, change.From, change.To, change.Why = 3*time.Second, 20_000, 40_000, "clear"
	change = &x.Changes[1]
	change.At, change.From, change.To, change.Why = 2*time.Second, 10_000, 20_000, "few_answers"
	const clear = "carried everything, up to 40k/s; the rate rose 3 times and fell 0 times, most recently to 40k/s " +
		"(no more loss than at the lower rate); some loss did not depend on the rate"
	if got := newPath(&x).String(); got != clear {
		t.Errorf("%q", got)
	}
	if c := newPath(&x).Changes; len(c) != 2 || c[0].To != 20_000 || c[0].Why != "few_answers" || c[1].Second != 3 {
		t.Errorf("%+v", c)
	}
	x.Carried, x.Lost, x.Slowed, x.Now, x.Unrelated = 20_000, 0.05, 1, 19_400, 0
	change = &x.Changes[0]
	change.At, change.From, change.To, change.Why = 4*time.Second, 20_000, 19_400, "loss"
	const full = "carried 20k/s when the path was full, and lost 5% at a higher rate; the rate rose 3 times and fell 1 time, " +
		"most recently to 19.4k/s (the path lost more at the higher rate)"
	if got := newPath(&x).String(); got != full {
		t.Errorf("%q", got)
	}
	if r := NewRates(&scanner.Stats{Rate: 50_000, Path: x}); r.String() != "19.4k/s found, at most 50k/s" {
		t.Errorf("%q", r.String())
	}
	b, err := json.Marshal(&Summary{Path: newPath(&congestion.Path{})})
	var keys map[string]any
	if err != nil || json.Unmarshal(b, &keys) != nil || keys["path"] != nil {
		t.Errorf("%v, %v", keys["path"], err)
	}
}

func TestTimeoutsReported(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		x    scanner.Timeouts
		want string
	}{
		{scanner.Timeouts{Now: time.Second}, ""},
		{scanner.Timeouts{Learned: true, Now: 270 * ms, Least: 270 * ms, Most: 270 * ms}, "270 ms at the end"},
		{scanner.Timeouts{Learned: true, Now: 270 * ms, Least: 150 * ms, Most: time.Second, Blocks: 1, Reopened: 12},
			"270 ms at the end (from 150 to 1000 ms during the scan); 1 /8 network with their own timeout; 12 targets answered after the timeout"},
	} {
		got := ""
		if sum := newTimeouts(&test.x); sum != nil {
			got = sum.String()
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.x, got, test.want)
		}
	}
}

// TestNotStarted: a scan that reads its lists has no start yet.
func TestNotStarted(t *testing.T) {
	Each(&Source{Scan: &scanner.Stats{}}, func(row *Counter, n float64, _ string) {
		if row.Name == "start" {
			t.Errorf("it started at %v", n)
		}
	})
}
