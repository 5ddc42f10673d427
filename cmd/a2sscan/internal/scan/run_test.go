package scan

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// TestGuard: only the first limit that is passed counts. With fewer than hitSample
// targets the hit rate is not judged.
func TestGuard(t *testing.T) {
	stops, running := 0, func() bool { return false }
	newGuard := func(limits Limits) *guard {
		return &guard{limits: limits, drain: func() { stops++ }, interrupted: running}
	}
	g := newGuard(Limits{MinHitrate: 0.1, MaxSendErrors: 3})
	s := scanner.Stats{Silent: 500}
	s.Finished[scanner.StatusNoReply] = 400
	if g.judge(&s, &s, true); g.tripped() != nil {
		t.Errorf("900 targets are judged: %v", g.tripped())
	}
	s.Finished[scanner.StatusOK] = 110
	if g.judge(&s, &s, true); g.tripped() != nil {
		t.Errorf("110 of 1010: %v", g.tripped())
	}
	s.SendErrors, s.Silent = 4, 700
	first, second := g.judge(&s, &s, true), g.judge(&s, &s, true)
	if first == nil || second != nil || stops != 1 || g.tripped().Flag != "--max-send-errors" {
		t.Errorf("%d stops, %v, then %v", stops, first, second)
	}
	g = newGuard(Limits{MinHitrate: 0.1, MaxSendErrors: -1})
	if trip := g.judge(&s, &s, true); trip == nil || !strings.HasPrefix(trip.Why, "9.09% of 1,210 targets answered, but 10% are required") {
		t.Errorf("%v", trip)
	}
	// If all targets were finished, a trip of --max-runtime is withdrawn, but not one of
	// another limit.
	if g.allFinished(); g.tripped() == nil {
		t.Error("the trip of --min-hitrate was withdrawn")
	}
	g = newGuard(Limits{})
	g.stop(maxRuntime, "over")
	if g.allFinished(); g.tripped() != nil {
		t.Errorf("%v", g.tripped())
	}
	// A guard does not trip after a signal has ended the scan. A signal that arrives when
	// all targets are finished ends only the wait for late replies.
	g = newGuard(Limits{MaxSendErrors: -1, MinHitrate: 0.1})
	g.interrupted = func() bool { return true }
	g.stop(maxRuntime, "over")
	if g.judge(&s, &s, false); g.tripped() != nil {
		t.Errorf("%v", g.tripped())
	}
	g.allFinished()
	if g.judge(&s, &s, false) == nil {
		t.Error("no trip after the last target")
	}
	// The hit rate counts the targets of all runs, the other limits only this run.
	g = newGuard(Limits{MaxSendErrors: 3, MinHitrate: 0.1})
	own, all := scanner.Stats{Silent: 2000}, scanner.Stats{Silent: 2000, SendErrors: 1000}
	all.Finished[scanner.StatusOK] = 300
	if g.judge(&own, &all, true); g.tripped() != nil {
		t.Errorf("%v", g.tripped())
	}
}

// TestStep: a step changes the rate by a tenth, and the scan receives the newest
// rate. The rate has a limit at each end, unless the scan began beyond it.
func TestStep(t *testing.T) {
	c := newRateControl(5000)
	for _, want := range []float64{5500, 6050} {
		if _, to := c.step(true); math.Abs(to-want) > 1e-6 {
			t.Errorf("%v, want %v", to, want)
		}
	}
	from, to := c.step(false)
	if math.Abs(from-6050) > 1e-6 || math.Abs(to-5445) > 1e-6 {
		t.Errorf("down from %v to %v", from, to)
	}
	if got := <-c.rates; math.Abs(got-5445) > 1e-6 || len(c.rates) > 0 {
		t.Errorf("the scan receives %v", got)
	}
	if _, changes := c.state(); len(changes) != 3 || changes[0].From != 5000 || changes[2].To != to || changes[2].Time.IsZero() {
		t.Errorf("%+v", changes)
	}
	for _, test := range []struct {
		begun float64
		up    bool
		stop  float64
	}{{5000, true, 1e6}, {5000, false, 1}, {0.01, false, 0.01}, {2e6, true, 2e6}, {0.01, true, 1e6}, {2e6, false, 1}} {
		c := newRateControl(test.begun)
		for range 500 {
			c.step(test.up)
		}
		if from, to := c.step(test.up); from != test.stop || to != test.stop {
			t.Errorf("%+v: from %v to %v", test, from, to)
		}
	}
}

// TestStatusKind: with --quiet no status is shown, unless --status is given.
func TestStatusKind(t *testing.T) {
	for _, test := range []struct {
		quiet bool
		flag  string
		want  StatusKind
	}{
		{false, "", "text"}, {true, "", "none"}, {false, "json", "json"}, {true, "json", "json"}, {false, "none", "none"},
	} {
		f := Display{Quiet: test.quiet, Status: StatusKind(test.flag)}
		if got := f.StatusKind(); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
	if _, err := ParseStatusKind("xml"); err == nil {
		t.Error("--status xml is accepted")
	}
}

// TestVerdict: if there are several errors, the most serious decides the exit code.
func TestVerdict(t *testing.T) {
	full := console.Fail(console.ExitOutput, "disk full")
	tests := []struct {
		how  outcome
		sum  ledger.Summary
		want int
	}{
		{outcome{}, ledger.Summary{Consistent: true}, console.ExitOK},
		{outcome{}, ledger.Summary{Consistent: true, Interrupted: true}, console.ExitInterrupted},
		{outcome{}, ledger.Summary{Interrupted: true}, console.ExitNumbers},
		{outcome{output: full}, ledger.Summary{Interrupted: true}, console.ExitOutput},
		{outcome{broken: errors.New("no network")}, ledger.Summary{}, console.ExitUsage},
	}
	for _, test := range tests {
		s := &Run{list: new(list.List), how: test.how}
		if got := console.ExitCode(s.verdict(&test.sum)); got != test.want {
			t.Errorf("%v: exit code %d, want %d", s.verdict(&test.sum), got, test.want)
		}
	}
}

// TestNamesNetworks: few addresses of a network or a range have a server, with or without a
// port.
func TestNamesNetworks(t *testing.T) {
	for arg, want := range map[string]bool{
		"198.51.100.0/24": true, "198.51.100.0/24:27015": true, "198.51.100.1-198.51.100.9": true, "198.51.100.1-198.51.100.9:27015": true,
		"198.51.100.1": true, "198.51.100.1:27015": false, "example.org": false, "example.org:27015": false, "list.txt": false,
	} {
		if got := NamesNetworks([]string{"missing.txt", arg}); got != want {
			t.Errorf("%s: %v", arg, got)
		}
	}
}
