package scan

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// TrackerConfig describes a scan to its Tracker.
type TrackerConfig struct {
	Input   func() (part float64, known bool) // fraction of the input read so far
	Given   func() uint64                     // number of targets that the list yielded in this run
	Begun   float64                           // fraction of the input that earlier runs finished
	Earlier *scanner.Stats                    // counts of earlier runs; nil: none

	Questions wire.Questions
	Schedule  timing.Schedule
	Fallback  bool        // the scan also sends PLAYER and a ping to silent targets
	Draining  func() bool // reports whether the scan starts no more targets; nil: never
}

// Tracker follows the progress of one scan. To compute rates, it remembers the previous
// sample.
type Tracker struct {
	cfg TrackerConfig

	last    scanner.Stats
	silent  int           // maximum of Stats.Silent so far
	part    float64       // fraction done; never falls
	second  bool          // the second pass has begun
	started time.Duration // when a sample first showed that this pass has started all targets; 0: none has
	cooling time.Duration // when a sample first showed the cooldown; 0: none has
}

// NewTracker returns the tracker of a scan that is about to start.
func NewTracker(cfg TrackerConfig) *Tracker { return &Tracker{cfg: cfg} }

// View is the state of a scan at one moment.
type View struct {
	scanner.Stats
	sentRate, recvRate float64 // datagrams per second; NaN: unknown

	part  float64       // fraction done
	known bool          // part is known
	left  time.Duration // negative: unknown
	last  bool          // the scan starts no more targets, because it is shutting down
}

// Sample returns the state of a scan that has the counts s, with the rates since the
// previous sample.
func (p *Tracker) Sample(s scanner.Stats) View {
	v := View{Stats: s, sentRate: math.NaN(), recvRate: math.NaN(), left: -1}
	if since := (s.Elapsed - p.last.Elapsed).Seconds(); since > 0 {
		v.sentRate = float64(s.DatagramsSent()-p.last.DatagramsSent()) / since
		v.recvRate = float64(s.DatagramsReceived()-p.last.DatagramsReceived()) / since
	}
	starting := s.Taken > p.last.Taken
	p.last, p.silent = s, max(p.silent, s.Silent)
	s.Elapsed = s.Active() // an outage tells nothing about the time left
	v.last = p.cfg.Draining != nil && p.cfg.Draining()

	if !p.second && s.Silent < p.silent {
		p.second, p.started = true, 0
	}
	part, known := p.cfg.Input()
	// While repeats are due, the scan waits for nothing, even if no target is left to start.
	all := s.Wait == scanner.WaitReplies || known && part >= 1 && s.Taken >= p.cfg.Given() && s.Held == 0
	if (p.started == 0 || starting) && (v.last || all && (!p.second || s.Silent == 0)) {
		p.started = max(s.Elapsed, 1)
	}
	if p.cooling == 0 && s.Wait == scanner.WaitCooldown {
		p.cooling = max(s.Elapsed, 1)
	}

	read := 0.0 // the fraction of the input that this run has finished
	if v.known = known; known {
		// A silent target counts as three quarters done: it waits for the second pass,
		// and most of its time has passed.
		done := float64(s.TargetsFinished()+s.Unscannable+s.Excluded+s.Duplicate+s.OverLimit) + float64(s.Silent)*3/4
		read = max(part-p.cfg.Begun, 0) * min(1, done/float64(max(p.cfg.Given(), s.Taken, 1)))
		p.part = max(p.part, p.cfg.Begun+read)
		v.part = p.part
	}
	switch {
	case v.last && s.Open == 0:
		v.left = 0
	case p.cooling > 0:
		v.left = max(0, p.cooling+p.cooldown(&s, 1)-s.Elapsed)
	case p.started > 0 || p.second:
		v.left = p.left(&s, float64(s.Taken))
	case known && part-p.cfg.Begun >= 0.01 && v.part < 1:
		v.left = p.left(&s, p.targets(&s, part))
	}
	return v
}

// The limits of the progress bar, in columns.
const (
	leastBar = 12
	mostBar  = 50
	beside   = 60 // columns reserved for the text
)

// barOn returns the length of the bar on a screen of this width. The length depends only
// on the width, so the filled part never shrinks.
func barOn(columns int) int { return min(max(leastBar, (columns-beside)/2), mostBar) }

// Line returns the status line for a screen of this many columns, or for a log if columns
// is 0. The line begins with the reason for a wait, with problems such as SEND ERRORS, and
// with the progress. The counts follow as far as there is room.
func (v *View) Line(columns int) string {
	wait, trouble := "", ""
	if why := v.waiting(); why != "" && v.Wait != scanner.WaitReplies { // waiting for replies is normal
		wait = waits + why + "; "
	}
	if v.Away != 0 {
		trouble = "the network of this machine has been away since " + console.TimeOfDay(v.Away) + "; "
	}
	for _, t := range []struct {
		word string
		n    uint64
	}{{"DROPS", v.Socket.KernelDrops}, {"SEND ERRORS", v.SendErrors}, {"FORGOTTEN TARGETS", v.Overdue}} {
		if t.n > 0 {
			trouble += t.word + " " + console.Grouped(t.n) + "; "
		}
	}
	progress := v.far()
	if columns == 0 {
		return strings.Join(append([]string{wait + trouble + progress}, v.flows()...), "; ")
	}
	// The bar does not depend on wait. Otherwise the bar would appear and vanish with wait.
	room := func() int { return columns - console.Columns(trouble+progress) }
	if v.known && !v.last && columns >= beside+leastBar && room() >= barOn(columns) {
		progress = bar(v.part, barOn(columns)) + progress
	} else if console.Columns(wait) > room() {
		progress = v.share()
	}
	if console.Columns(wait) > room() {
		wait = strings.TrimPrefix(wait, waits)
	}
	if most := room() - len("; "); console.Columns(wait) > room() && progress[0] == '[' {
		wait = console.Shorten(strings.TrimSuffix(wait, "; "), most) + "; "
	}
	line := wait + trouble + progress
	for _, part := range v.flows() {
		if part = "; " + part; console.Columns(line+part) <= columns {
			line += part
		}
	}
	return line
}

// bar returns the progress bar, such as "[====>    ] ".
func bar(part float64, length int) string {
	inside := length - len("[] ")
	done := strings.Repeat("=", int(max(0, min(1, part))*float64(inside)))
	if len(done) < inside {
		done += ">"
	}
	return fmt.Sprintf("[%-*s] ", inside, done)
}

// waits is the prefix that Line omits if the line has no room.
const waits = "waiting: "

func (v *View) waiting() string {
	if v.Wait != scanner.WaitAddress {
		return v.Wait.String()
	}
	s := console.Grouped(uint64(v.HeldAddrs)) + " addresses at their limit"
	if v.HeldAddrs == 1 {
		s = "1 address at its limit"
	}
	if v.HeldFor > 0 && v.left < 0 { // if v.left is known, the status line shows it instead
		s += " for " + console.RoughDuration(v.HeldFor)
	}
	return s
}

func (v *View) far() string {
	if !v.known && !v.last {
		return console.Clock(v.Elapsed)
	}
	return console.Clock(v.Elapsed) + " " + v.share()
}

// share returns the percentage done and the time left, if these are known. It rounds the
// time up to whole seconds.
func (v *View) share() string {
	if !v.known && !v.last {
		return console.Clock(v.Elapsed)
	}
	s, left := fmt.Sprintf("%.0f%%", math.Floor(100*v.part)), console.Clock((v.left + time.Second - 1).Truncate(time.Second))
	if v.last {
		s = "finishing " + console.Grouped(uint64(v.Open)) + " open"
	}
	switch {
	case v.left < 0 || v.left == 0 && v.last:
		return s
	case v.left == 0:
		return s + ", finishing"
	}
	return s + ", " + left + " left"
}

// flows returns the counts of a status line, most important first. When the scan is shutting
// down, flows omits the number of open targets, because share shows it.
func (v *View) flows() []string {
	flow := func(word string, n uint64, perSecond float64) string {
		s := word + " " + console.Short(float64(n))
		if !math.IsNaN(perSecond) {
			s += ", " + console.Short(perSecond) + "/s"
		}
		return s
	}
	// The percentage is relative to all queried targets, including silent and open targets.
	// A percentage of finished targets would be too high, because a target without an answer
	// takes much longer to finish.
	asked := v.TargetsFinished() + uint64(v.Silent) + uint64(v.Open)
	parts := []string{
		flow("sent", v.DatagramsSent(), v.sentRate),
		fmt.Sprintf("answered %s (%s)", console.Short(float64(v.Answered())), console.Percent(v.Answered(), asked)),
	}
	if p := &v.Path; p.On && !v.last {
		rate := "rate " + console.Short(p.Now) + "/s"
		if p.Carried > 0 {
			rate += ", path full at " + console.Short(p.Carried) + "/s"
		}
		parts = append(parts, rate)
	}
	switch open := console.Short(float64(v.Open)); {
	case v.last:
	case v.Wait == scanner.WaitReplies && v.Open > 0:
		parts = append(parts, "open "+open+", waiting for replies")
	default:
		parts = append(parts, "open "+open)
	}
	parts = append(parts, flow("received", v.DatagramsReceived(), v.recvRate))
	if v.Held > 0 {
		parts = append(parts, console.Short(float64(v.Held))+" held back")
	}
	if v.Silent > 0 {
		parts = append(parts, console.Short(float64(v.Silent))+" silent, waiting for a second pass")
	}
	return parts
}

// State describes how far the scan is and what it waits for.
func (v *View) State() string {
	s := v.far()
	if why := v.waiting(); why != "" {
		s += ", waiting: " + why
	}
	return s
}

// Waiting describes the targets that are held back or silent. It returns "" if there are
// none.
func (v *View) Waiting() (s string) {
	if v.Held > 0 {
		s = fmt.Sprintf("; held back: %s on %s", console.Grouped(uint64(v.Held)), console.Plural(v.HeldAddrs, "address"))
	}
	if v.Silent > 0 {
		s += "; silent, waiting for a second pass: " + console.Grouped(uint64(v.Silent))
	}
	return s
}
