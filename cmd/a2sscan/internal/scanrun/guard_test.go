package scanrun

import (
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
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
	if g.judge(&s, true); g.tripped() != nil {
		t.Errorf("900 targets are judged: %v", g.tripped())
	}
	s.Finished[scanner.StatusOK] = 110
	if g.judge(&s, true); g.tripped() != nil {
		t.Errorf("110 of 1010: %v", g.tripped())
	}
	s.SendErrors, s.Silent = 4, 700
	first, second := g.judge(&s, true), g.judge(&s, true)
	if first == nil || second != nil || stops != 1 || g.tripped().Flag != "--max-send-errors" {
		t.Errorf("%d stops, %v, then %v", stops, first, second)
	}
	g = newGuard(Limits{MinHitrate: 0.1, MaxSendErrors: -1})
	if trip := g.judge(&s, true); trip == nil || !strings.HasPrefix(trip.Why, "9.09% of 1,210 targets answered, and 10% are required") {
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
	// A guard does not trip after a signal has ended the scan.
	g.interrupted = func() bool { return true }
	if g.judge(&scanner.Stats{SendErrors: 1}, false); g.tripped() != nil {
		t.Errorf("%v", g.tripped())
	}
}
