package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/scanner"
)

// guardFlags say when a scan that nobody watches is to be stopped.
type guardFlags struct {
	minHitrate    share
	maxSendErrors int64
	maxRuntime    time.Duration
}

func (f *guardFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Var(&f.minHitrate, "min-hitrate", "stop if fewer of the targets answer: 2% or 0.02; judged after 1000 targets, and at the end (default off)")
	fs.Int64Var(&f.maxSendErrors, "max-send-errors", -1, "stop after more than `N` datagrams that could not be sent; -1: never")
	fs.DurationVar(&f.maxRuntime, "max-runtime", 0, "stop after `D` such as 6h; 0: never (default 0)")
}

func (f *guardFlags) check() error {
	switch {
	case f.maxSendErrors < -1:
		return console.Fail(console.ExitUsage, "--max-send-errors is negative").
			WithHint("--max-send-errors 0 stops at the first, -1 never")
	case f.maxRuntime < 0:
		return console.Fail(console.ExitUsage, "--max-runtime is negative").WithHint("--max-runtime 0 never stops a scan")
	}
	return nil
}

// hitSample is how many targets have to be finished before a hit rate is
// judged: with fewer, a list that begins with a dead network would end a scan
// that is worth its while. Targets in flight only speak for a scan: those that
// answer are finished before those that don't.
const hitSample = 1000

// guard watches a scan and stops it. The first reason counts.
type guard struct {
	*guardFlags
	stop  func()      // lets the scan finish what is open
	ended func() bool // whether something else did already; nil: never

	mu   sync.Mutex
	flag string // that stopped the scan; empty: none did
	why  string
}

// stopped is why a guard stopped a scan. Its JSON is part of the summary.
type stopped struct {
	Flag string `json:"flag"`
	Why  string `json:"why"`
}

// tripped returns what stopped the scan, nil if nothing did.
func (g *guard) tripped() *stopped {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flag == "" {
		return nil
	}
	return &stopped{g.flag, g.why}
}

// trip stops the scan, and reports whether it was the first to do so.
func (g *guard) trip(flag, format string, args ...any) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flag != "" || g.ended != nil && g.ended() {
		return false
	}
	g.flag, g.why = flag, fmt.Sprintf(format, args...)
	g.stop()
	return true
}

// late takes back that --max-runtime stopped a scan of which every target was
// finished then: it ended only the wait for late replies.
func (g *guard) late() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flag == maxRuntime {
		g.flag, g.why = "", ""
	}
}

// maxRuntime is the flag's name.
const maxRuntime = "--max-runtime"

// look judges a scan that runs.
func (g *guard) look(s *scanner.Stats) { g.judge(s, hitSample) }

// judge compares a scan's numbers with what is allowed: errors of sending, and
// the share of targets that answered if enough of them are finished.
func (g *guard) judge(s *scanner.Stats, sample uint64) {
	if most := g.maxSendErrors; most >= 0 && s.SendErrors > uint64(most) {
		g.trip("--max-send-errors", "%d datagrams could not be sent, and %d are allowed", s.SendErrors, most)
	}
	all := s.TargetsFinished() + uint64(s.Silent)
	if g.minHitrate == 0 || all < max(sample, 1) {
		return
	}
	if rate := share(float64(s.Answered()) / float64(all)); rate < g.minHitrate {
		g.trip("--min-hitrate", "%s of %s answered, and %s are wanted",
			rate.percent(), console.Plural(all, "target"), g.minHitrate.percent())
	}
}

// begin starts the clock of --max-runtime. It ends with the returned function.
func (g *guard) begin() (end func()) {
	if g.maxRuntime == 0 {
		return func() {}
	}
	timer := time.AfterFunc(g.maxRuntime, func() {
		g.trip(maxRuntime, "%s are over", g.maxRuntime)
	})
	return func() { timer.Stop() }
}

// guardEvery is how often a guard looks at a scan.
const guardEvery = 100 * time.Millisecond

// watch looks at a scan until stop is called, and says when it ends it.
func (g *guard) watch(m *scanner.Monitor, t *console.Terminal) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(guardEvery)
		defer tick.Stop()
		for said := false; ; {
			select {
			case <-done:
				return
			case <-tick.C:
				s := m.Stats()
				g.look(&s)
			}
			if why := g.tripped(); why != nil && !said && m.Stats().Wait != scanner.WaitCooldown {
				t.Log.Warn("guard tripped", "flag", why.Flag, "why", why.Why)
				t.Say("%s: no new targets, finishing what is open", why)
				said = true
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

// String says it in one line.
func (s *stopped) String() string { return "stopped by " + s.Flag + ": " + s.Why }

// guarded is the error of a scan that a guard stopped, err if none did.
func (j *job) guarded(err error) error {
	if why := j.guard.tripped(); why != nil {
		return console.Fail(console.ExitGuard, "%s", why)
	}
	return err
}

// share is a flag's part of a whole, from 0 to 1.
type share float64

// Set reads "2%" or "0.02".
func (s *share) Set(text string) error {
	number, isPercent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if isPercent {
		v /= 100
	}
	if err != nil || math.IsNaN(v) || v < 0 || v > 1 {
		return errors.New("want a part of all such as 2% or 0.02")
	}
	*s = share(v)
	return nil
}

// String is empty for none: that is no limit.
func (s *share) String() string {
	if *s == 0 {
		return ""
	}
	return s.percent()
}

func (s *share) percent() string {
	return strconv.FormatFloat(float64(*s)*100, 'g', 3, 64) + "%"
}

// Type is the word that stands for the value in the help.
func (s *share) Type() string { return "SHARE" }
