package guard

import (
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

// TestGuard: only the first limit that is passed counts. With fewer than hitSample
// targets the hit rate is not judged.
func TestGuard(t *testing.T) {
	stops, running := 0, func() bool { return false }
	g := New(Limits{MinHitrate: 0.1, MaxSendErrors: 3}, func() { stops++ }, running)
	s := scanner.Stats{Silent: 500}
	s.Finished[scanner.StatusNoReply] = 400
	if g.Judge(&s, true); g.Tripped() != nil {
		t.Errorf("900 targets are judged: %v", g.Tripped())
	}
	s.Finished[scanner.StatusOK] = 110
	if g.Judge(&s, true); g.Tripped() != nil {
		t.Errorf("110 of 1010: %v", g.Tripped())
	}
	s.SendErrors, s.Silent = 4, 700
	g.Judge(&s, true)
	g.Judge(&s, true)
	if why := g.Tripped(); stops != 1 || why == nil || why.Flag != "--max-send-errors" {
		t.Errorf("%d stops, %v", stops, why)
	}
	g = New(Limits{MinHitrate: 0.1, MaxSendErrors: -1}, func() { stops++ }, running)
	if g.Judge(&s, true); g.Tripped() == nil || !strings.HasPrefix(g.Tripped().Why, "9.09% of 1,210 targets answered, and 10% are required") {
		t.Errorf("%v", g.Tripped())
	}
}

// TestAllFinished: if all targets were finished, a trip of --max-runtime is
// withdrawn, but not one of another limit.
func TestAllFinished(t *testing.T) {
	g := New(Limits{MaxRuntime: time.Hour}, func() {}, func() bool { return false })
	g.stop(maxRuntime, "over")
	if g.AllFinished(); g.Tripped() != nil {
		t.Errorf("%v", g.Tripped())
	}
	g.stop("--min-hitrate", "few")
	if g.AllFinished(); g.Tripped() == nil {
		t.Error("the trip of --min-hitrate was withdrawn")
	}
}

// TestInterrupted: a guard does not trip after a signal has ended the scan.
func TestInterrupted(t *testing.T) {
	g := New(Limits{}, func() { t.Error("drained") }, func() bool { return true })
	if g.Judge(&scanner.Stats{SendErrors: 1}, false); g.Tripped() != nil {
		t.Errorf("%v", g.Tripped())
	}
}

// TestWatch: a trip is reported once, and not at all if the scan was in its cooldown
// before the trip ended it.
func TestWatch(t *testing.T) {
	trip := &Trip{Flag: maxRuntime}
	type observation struct {
		trip *Trip
		wait scanner.Wait
		want bool
	}
	for name, looks := range map[string][]observation{
		"asking":          {{nil, scanner.WaitNothing, false}, {trip, scanner.WaitReplies, true}, {trip, scanner.WaitReplies, false}},
		"in the cooldown": {{nil, scanner.WaitCooldown, false}, {trip, scanner.WaitCooldown, false}, {trip, scanner.WaitNothing, false}},
		"cooldown ended":  {{nil, scanner.WaitCooldown, false}, {trip, scanner.WaitNothing, false}, {trip, scanner.WaitNothing, false}},
	} {
		var w watch
		for i, l := range looks {
			if got := w.reports(l.trip, l.wait); got != l.want {
				t.Errorf("%s, look %d: %v, want %v", name, i, got, l.want)
			}
		}
	}
}
