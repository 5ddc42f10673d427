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

// Limits say when a guard ends a scan.
type Limits struct {
	MinHitrate    float64       // share of targets that must answer; 0: no limit
	MaxSendErrors int64         // datagrams that may fail to be sent; -1: no limit
	MaxRuntime    time.Duration // 0: no limit
}

// hitSample is how many targets must be finished before the hit rate is judged.
// With fewer, a list that begins with a dead network would end a worthwhile scan.
// Targets in flight can only make the rate look too high, because targets that
// answer are finished before those that stay silent.
const hitSample = 1000

// Guard compares a scan with its limits and drains it. Only the first limit that is
// passed counts.
type Guard struct {
	limits      Limits
	drain       func()      // lets the scan finish its open targets
	interrupted func() bool // reports whether a signal has already ended the scan

	mu   sync.Mutex
	trip Trip // zero: not tripped
}

// Trip says why a guard ended a scan. Its JSON is part of the summary.
type Trip struct {
	Flag string `json:"flag"`
	Why  string `json:"why"`
}

// String describes the trip in one line.
func (t *Trip) String() string { return "stopped by " + t.Flag + ": " + t.Why }

// New returns a guard that calls drain when a limit is passed, unless the scan was
// already interrupted.
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

// stop drains the scan, unless it is already ending.
func (g *Guard) stop(flag, format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trip != (Trip{}) || g.interrupted() {
		return
	}
	g.trip = Trip{flag, fmt.Sprintf(format, args...)}
	g.drain()
}

// maxRuntime is the name of the flag.
const maxRuntime = "--max-runtime"

// AllFinished withdraws a trip of --max-runtime. It is called if all targets were
// finished, because then the limit has only shortened the wait for late replies.
func (g *Guard) AllFinished() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trip.Flag == maxRuntime {
		g.trip = Trip{}
	}
}

// JudgeRunning compares a running scan with the limits. It judges the hit rate only
// once enough targets are finished.
func (g *Guard) JudgeRunning(s *scanner.Stats) { g.judge(s, hitSample) }

// JudgeFinal compares a scan that has ended with the limits.
func (g *Guard) JudgeFinal(s *scanner.Stats) { g.judge(s, 1) }

func (g *Guard) judge(s *scanner.Stats, sample uint64) {
	if most := g.limits.MaxSendErrors; most >= 0 && s.SendErrors > uint64(most) {
		g.stop("--max-send-errors", "%d datagrams could not be sent, and %d are allowed", s.SendErrors, most)
	}
	all := s.TargetsFinished() + uint64(s.Silent)
	if g.limits.MinHitrate == 0 || all < sample {
		return
	}
	if rate := float64(s.Answered()) / float64(all); rate < g.limits.MinHitrate {
		g.stop("--min-hitrate", "%s of %s answered, and %s are required",
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

// watchEvery is how often a guard judges a running scan.
const watchEvery = 100 * time.Millisecond

// Watch judges a scan repeatedly until stop is called, and reports a trip once.
func (g *Guard) Watch(m *scanner.Monitor, t *console.Terminal) (stop func()) {
	var w watch
	return console.Every(watchEvery, func() {
		s := m.Stats()
		g.JudgeRunning(&s)
		if trip := g.Tripped(); w.reports(trip, s.Wait) {
			t.Log.Warn("guard tripped", "flag", trip.Flag, "why", trip.Why)
			t.Say("%s: no new targets, finishing what is open", trip)
		}
	})
}

// watch decides whether a trip is reported.
type watch struct {
	cooldown bool // the scan was in its cooldown when it was last looked at
	tripped  bool // the trip was there when the scan was last looked at
}

// reports reports whether a trip, or nil, is new and stops anything. In the cooldown
// it does not: every target is finished. The scan may have left the cooldown since
// the trip, because the trip ends it.
func (w *watch) reports(trip *Trip, wait scanner.Wait) bool {
	isNew := trip != nil && !w.tripped
	stops := !w.cooldown && wait != scanner.WaitCooldown
	w.cooldown, w.tripped = wait == scanner.WaitCooldown, trip != nil
	return isNew && stops
}

// Check refuses limits that make no sense.
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
