// Package guard ends an unattended scan that goes wrong: too few answers, too many
// send errors, or too much time.
package guard

import (
	"fmt"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Limits says when a guard ends a scan.
type Limits struct {
	MinHitrate    float64       // fraction of targets that must answer; 0: no limit
	MaxSendErrors int64         // maximum number of datagrams that can't be sent; -1: no limit
	MaxRuntime    time.Duration // maximum duration of the scan; 0: no limit
}

// hitSample is the minimum number of finished and silent targets for judging the
// hit rate. With fewer, a list that begins with a dead network would end a
// worthwhile scan. Open targets can only make the rate look too high, because
// targets that answer are finished before targets that stay silent.
const hitSample = 1000

// Guard compares a scan with its limits, and drains it when it passes one of them.
// Only the first limit that the scan passes counts.
type Guard struct {
	limits      Limits
	drain       func()      // makes the scan start no new targets
	interrupted func() bool // reports whether a signal has already ended the scan

	mu   sync.Mutex
	trip Trip // zero: no limit was passed
}

// Trip says why a guard ended a scan. Its JSON is part of the summary.
type Trip struct {
	Flag string `json:"flag"`
	Why  string `json:"why"`
}

// String formats the trip as one line.
func (t *Trip) String() string { return "stopped by " + t.Flag + ": " + t.Why }

// New returns a guard that calls drain when the scan passes a limit, unless
// interrupted returns true.
func New(limits Limits, drain func(), interrupted func() bool) *Guard {
	return &Guard{limits: limits, drain: drain, interrupted: interrupted}
}

// Tripped returns why the guard ended the scan, or nil.
func (g *Guard) Tripped() *Trip {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trip == (Trip{}) {
		return nil
	}
	trip := g.trip
	return &trip
}

// stop records a trip and drains the scan, unless the scan is already ending.
func (g *Guard) stop(flag, format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trip != (Trip{}) || g.interrupted() {
		return
	}
	g.trip = Trip{flag, fmt.Sprintf(format, args...)}
	g.drain()
}

// MinHitrate is the flag of a Trip after which the scan is not resumed: what it has
// found may be wrong.
const MinHitrate = "--min-hitrate"

const maxRuntime = "--max-runtime"

// AllFinished withdraws a trip of --max-runtime. Call it if all targets were
// finished: the limit has then only shortened the wait for late replies.
func (g *Guard) AllFinished() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trip.Flag == maxRuntime {
		g.trip = Trip{}
	}
}

// Judge compares a scan with the limits. While it runs, it judges the hit rate only once
// enough targets are finished.
func (g *Guard) Judge(s *scanner.Stats, running bool) {
	if most := g.limits.MaxSendErrors; most >= 0 && s.SendErrors > uint64(most) {
		g.stop("--max-send-errors", "%d datagrams could not be sent, and %d are allowed", s.SendErrors, most)
	}
	all := s.TargetsFinished() + uint64(s.Silent)
	if g.limits.MinHitrate == 0 || all == 0 || running && all < hitSample {
		return
	}
	if rate := float64(s.Answered()) / float64(all); rate < g.limits.MinHitrate {
		g.stop(MinHitrate, "%s of %s answered, and %s are required",
			console.ExactPercent(rate), console.Plural(all, "target"), console.ExactPercent(g.limits.MinHitrate))
	}
}

// StartClock starts the clock of --max-runtime. The returned function stops it.
func (g *Guard) StartClock() (stop func()) {
	if g.limits.MaxRuntime == 0 {
		return func() {}
	}
	timer := time.AfterFunc(g.limits.MaxRuntime, func() {
		g.stop(maxRuntime, "%s are over", g.limits.MaxRuntime)
	})
	return func() { timer.Stop() }
}

// watchEvery is the interval at which a guard judges a running scan.
const watchEvery = 100 * time.Millisecond

// Watch judges a scan at intervals until stop is called, and reports a trip once.
func (g *Guard) Watch(m *scanner.Monitor, t *console.Terminal) (stop func()) {
	var w watch
	return console.Every(watchEvery, func() {
		s := m.Stats()
		g.Judge(&s, true)
		if trip := g.Tripped(); w.reports(trip, s.Wait) {
			t.Log.Warn("guard tripped", "flag", trip.Flag, "why", trip.Why)
			t.Say("%s: no new targets, finishing what is open", trip)
		}
	})
}

// watch decides whether to report a trip. Its fields hold the previous sample.
type watch struct {
	cooldown bool // the scan was in its cooldown
	tripped  bool // the guard had tripped
}

// reports reports whether a trip is new and has stopped anything. trip is nil if
// the guard has not tripped. In the cooldown a trip stops nothing, because every
// target is finished. The scan may have left the cooldown since the trip, because
// the trip ends it.
func (w *watch) reports(trip *Trip, wait scanner.Wait) bool {
	isNew := trip != nil && !w.tripped
	stops := !w.cooldown && wait != scanner.WaitCooldown
	w.cooldown, w.tripped = wait == scanner.WaitCooldown, trip != nil
	return isNew && stops
}

// Check returns an error if a limit is not valid.
func (l *Limits) Check() error {
	switch {
	case l.MaxSendErrors < -1:
		return console.Fail(console.ExitUsage, "--max-send-errors is negative").
			WithHint("--max-send-errors 0 stops at the first, -1 never")
	case l.MaxRuntime < 0:
		return console.Fail(console.ExitUsage, "--max-runtime is negative").WithHint("--max-runtime 0 never stops a scan")
	}
	return nil
}
