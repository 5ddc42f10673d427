package scan

import (
	"fmt"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
)

// Limits are the limits at which a scan ends early.
type Limits struct {
	MinHitrate    float64       // fraction of targets that must answer; 0: no limit
	MaxSendErrors int64         // maximum number of datagrams that can't be sent; -1: no limit
	MaxRuntime    time.Duration // maximum duration of the scan; 0: no limit
	MaxOutage     time.Duration // how long the network of this machine may be away; 0: no limit
}

// hitSample is how many targets must be finished or silent before the guard judges the hit
// rate of a running scan. With fewer targets, a list that begins with a dead network could
// end the scan. The guard does not count open targets. Targets that answer finish before
// silent ones, so the hit rate may be too high, but not too low.
const hitSample = 1000

// These are values of Trip.Flag. After a trip of minHitrate the scan is not resumed,
// because its results may be wrong. A trip of maxRuntime is withdrawn if every target is
// finished, because then the limit has only shortened the wait for late replies.
const (
	minHitrate = "--min-hitrate"
	maxRuntime = "--max-runtime"
)

// guard compares a scan with its limits, and drains the scan when it passes a limit. Only
// the first limit that the scan passes counts.
type guard struct {
	limits      Limits
	drain       func()      // makes the scan start no new targets
	interrupted func() bool // reports whether a signal has already ended the scan

	mu       sync.Mutex
	trip     *ledger.Trip // nil: no limit was passed
	finished bool         // every target is finished, so a signal did not end the scan early
}

func (g *guard) tripped() *ledger.Trip {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.trip
}

// stop drains the scan and returns the trip. If the scan is already ending, stop returns
// nil.
func (g *guard) stop(flag, format string, args ...any) *ledger.Trip {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trip != nil || g.interrupted() && !g.finished {
		return nil
	}
	g.trip = &ledger.Trip{Flag: flag, Why: fmt.Sprintf(format, args...)}
	g.drain()
	return g.trip
}

func (g *guard) allFinished() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.finished = true
	if g.trip != nil && g.trip.Flag == maxRuntime {
		g.trip = nil
	}
}

// judge returns a trip if the scan has just passed a limit, or nil. The first argument has
// the counts of this run, the second those of all runs of the scan. The network belongs to
// this run. The hit rate belongs to all runs, because a resumed scan asks the targets again
// that were silent before. While the scan runs, judge considers the hit rate only after
// hitSample targets.
func (g *guard) judge(own, all *scanner.Stats, running bool) (trip *ledger.Trip) {
	if most := g.limits.MaxSendErrors; most >= 0 && own.SendErrors > uint64(most) {
		trip = g.stop("--max-send-errors", "%s could not be sent, but only %d may fail", console.Plural(own.SendErrors, "datagram"), most)
	}
	if most := g.limits.MaxOutage; most > 0 && own.AwayFor >= most {
		trip = g.stop("--max-outage", "the network of this machine has been away since %s", console.TimeOfDay(own.Away))
	}
	targets := all.TargetsFinished() + uint64(all.Silent)
	if g.limits.MinHitrate == 0 || targets == 0 || running && targets < hitSample || trip != nil {
		return trip
	}
	if rate := float64(all.Answered()) / float64(targets); rate < g.limits.MinHitrate {
		return g.stop(minHitrate, "%s of %s answered, but %s are required",
			console.ExactPercent(rate), console.Plural(targets, "target"), console.ExactPercent(g.limits.MinHitrate))
	}
	return nil
}

// sayTrip reports a trip of the guard while the scan runs. It does not report a trip in
// the cooldown: by then every target is finished, and the trip stops nothing.
func (s *Run) sayTrip(trip *ledger.Trip) {
	m := s.monitor.Load()
	if trip == nil || m == nil || m.Stats().Wait == scanner.WaitCooldown {
		return
	}
	s.term.Log.Warn("the scan passed a limit", "flag", trip.Flag, "why", trip.Why)
	s.term.Say("%s: starting no new targets, finishing targets in progress", trip)
}
