package ledger

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
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
		{"kept", func(s *scanner.Stats) {}, "5k/s asked, 5k/s reached while asking", "", "", "", 5000},
		{"list", func(s *scanner.Stats) { s.Waited[scanner.WaitTargets] = 6e6 },
			"5k/s asked, 5k/s reached while asking", "slowed by  the target list, 60% of the time", "pipe", "list", 5000},
		{"end", func(s *scanner.Stats) { s.Waited[scanner.WaitReplies], s.Elapsed = 5e6, 15*time.Second },
			"5k/s asked, 5k/s reached while asking", "", "", "", 5000},
		{"brief", func(s *scanner.Stats) { s.Waited[scanner.WaitReplies] = 9.5e6 }, "5k/s asked", "", "", "", 100_000},
		{"woken up late", func(s *scanner.Stats) { s.Waited[scanner.WaitSending] = 1.5e6 },
			"5k/s asked, 5k/s reached while asking", "", "", "", 5000},
		{"busy machine", func(s *scanner.Stats) { s.Waited[scanner.WaitSending] = 5e6 },
			"5k/s asked, 5k/s reached while asking", "slowed by  the processor, 50% of the time", "other programs kept this machine busy", "cpu", 5000},
		{"processor", func(s *scanner.Stats) { s.Waited[scanner.WaitSending], s.Rate, s.Sent[0] = 5e6, 9e5, 5e6 },
			"900k/s asked, 500k/s reached while asking", "slowed by  the processor, 50% of the time", "--shard", "cpu", 5e5},
		{"held back and busy", func(s *scanner.Stats) { s.Waited[scanner.WaitSending], s.Waited[scanner.WaitAddress] = 5e6, 1e6 },
			"5k/s asked, 5k/s reached while asking", "slowed by  the limit of an address, 10%", "--per-address-rate", "per_address", 5000},
		{"settled", func(s *scanner.Stats) {
			s.Rate, s.Settled, s.Slowed = scanner.Off, 210_000, 7
			s.Waited[scanner.WaitLosses] = 9e6
		}, "as fast as possible, settled at 210k/s", "slowed by  the receiving side, 90% of the time", "", "losses", 5000},
		{"never free", func(s *scanner.Stats) { s.Rate = scanner.Off; s.Waited[scanner.WaitInFlight] = 5e6 },
			"as fast as possible, 5k/s reached while asking", "slowed by  the number of targets open", "", "in_flight", 5000},
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

// TestLimitsHaveWords: every limit of a scan has a description.
func TestLimitsHaveWords(t *testing.T) {
	for w := scanner.WaitTargets; w < scanner.NumWaits; w++ {
		if w.Word() == "" || w.Limit() == "" || w.String() == "" {
			t.Errorf("%d: %q, %q, %q", w, w.Word(), w.Limit(), w.String())
		}
	}
}
