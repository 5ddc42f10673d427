package scan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
)

// StatusRecord is a status line as JSON. While the scan queries targets, the line also has
// the counters of ledger.Table that have a Status, then "waiting" and "waiting_for".
// Later versions of a2sscan may add keys. A key whose value is unknown is absent. In a
// resumed scan, all numbers except Part cover only this run.
type StatusRecord struct {
	Time  time.Time `json:"time"`
	Scan  string    `json:"scan"`
	Phase string    `json:"phase"`           // reading, counting, asking or ended
	Ended string    `json:"ended,omitempty"` // why the scan ended, as in the summary

	Targets uint64   `json:"targets,omitempty"` // number of targets read or counted so far
	Part    *float64 `json:"part,omitempty"`    // fraction done, from 0 to 1
	Left    *float64 `json:"left,omitempty"`    // estimated seconds left; absent if unknown or 0
}

// known returns v, rounded to three decimal places, or nil if v is unknown.
func known(v float64, is bool) *float64 {
	if v = milli(v); is {
		return &v
	}
	return nil
}

func milli(v float64) float64 { return math.Round(v*1000) / 1000 }

// StatusKind is the format of the status lines.
type StatusKind string

// These are the kinds of status lines.
const (
	StatusText StatusKind = "text" // a line that is rewritten in place on a terminal
	StatusJSON StatusKind = "json" // one JSON object per line
	StatusNone StatusKind = "none"
)

// ParseStatusKind parses text, json or none.
func ParseStatusKind(word string) (StatusKind, error) {
	switch kind := StatusKind(word); kind {
	case StatusText, StatusJSON, StatusNone:
		return kind, nil
	}
	return "", errors.New("use text, json or none")
}

// Status shows the progress of a scan on standard error.
type Status struct {
	Terminal *console.Terminal
	Kind     StatusKind
	Scan     string        // name of the scan
	InLog    time.Duration // minimum time between lines of text in a log

	tracker *Tracker // computes the status lines in JSON
}

// sayJSON sets the time and the scan of r, and prints r as one line of JSON. If v is not
// nil, the line also has the counters of v.
func (s *Status) sayJSON(r StatusRecord, v *View) {
	r.Time, r.Scan = time.Now().UTC(), s.Scan
	b, err := json.Marshal(r)
	if err != nil {
		return
	}
	if v != nil {
		b = b[:len(b)-1] // reopens the object
		from := &ledger.Source{Scan: &v.Stats, SentRate: v.sentRate, ReceivedRate: v.recvRate}
		ledger.Each(from, func(row *ledger.Counter, n float64, _ string) {
			switch {
			case row.Status == "":
			case math.IsInf(n, 1):
				b = fmt.Appendf(b, ",%q:null", row.Status)
			default:
				number, _ := json.Marshal(milli(n)) // n is finite, so there is no error
				b = fmt.Appendf(b, ",%q:%s", row.Status, number)
			}
		})
		if word := v.Wait.Word(); word != "" && r.Ended == "" { // the same words as for rate_limited_by in the summary
			b = fmt.Appendf(b, `,"waiting":%q`, word)
		}
		if v.HeldFor > 0 && r.Ended == "" {
			b = fmt.Appendf(b, `,"waiting_for":%v`, milli(v.HeldFor.Seconds()))
		}
		b = append(b, '}')
	}
	s.Terminal.JSON(json.RawMessage(b))
}

// Watch shows status lines until stop is called. Its first argument returns a status line
// as text, and its second argument prints a status line as JSON.
func (s *Status) Watch(line func() string, record func()) (stop func()) {
	switch s.Kind {
	case StatusNone:
		return func() {}
	case StatusJSON:
		return console.Every(console.StatusOnTerminal, record)
	}
	every := s.Terminal.StatusInterval()
	if !s.Terminal.Interactive {
		every = max(every, s.InLog)
	}
	return s.Terminal.RepeatStatus(every, line)
}

// WatchTargets shows status lines while lists are read, or while a dry run counts
// targets. Its second argument returns how many targets were read or counted so far, and
// which fraction of all targets that is, if the fraction is known.
func (s *Status) WatchTargets(phase string, progress func() (n uint64, part float64, known bool)) (stop func()) {
	record := func() {
		n, part, isKnown := progress()
		s.sayJSON(StatusRecord{Phase: phase, Targets: n, Part: known(part, isKnown)}, nil)
	}
	if s.Kind == StatusJSON && phase != Reading { // most lists are read too fast for a status line
		record()
	}
	return s.Watch(func() string { return TargetsLine(phase, progress) }, record)
}

// These are the phases before a scan.
const (
	Reading  = "reading"
	Counting = "counting"
)

// TargetsLine returns the status line while lists are read or targets are counted.
func TargetsLine(phase string, progress func() (n uint64, part float64, known bool)) string {
	n, part, known := progress()
	s := phase + " the targets: " + console.Grouped(n) + " so far"
	if known {
		s += fmt.Sprintf(" (%.0f%%)", 100*part)
	}
	return s
}

// WatchScan shows status lines of a scan until stop is called. The scan begins at the given
// rate.
func (s *Status) WatchScan(m *scanner.Monitor, tracker *Tracker, rate float64) (stop func()) {
	s.tracker = tracker
	record := func() {
		now := m.Stats()
		if now.Elapsed == 0 { // the scan has not begun, and has no rate yet
			now.Rate = rate
		}
		s.sayScan("", now)
	}
	if s.Kind == StatusJSON {
		record()
	}
	return s.Watch(
		func() string {
			v := tracker.Sample(m.Stats())
			if earlier := tracker.cfg.Earlier; earlier != nil { // show the counts of all runs, as the closing lines do
				v.Add(earlier)
			}
			return v.Line(s.Terminal.StatusWidth())
		},
		record)
}

// End prints the last status line as JSON, with the reason why the scan ended. For other
// kinds of status lines it does nothing.
func (s *Status) End(final scanner.Stats, ended string) {
	if s.Kind == StatusJSON && s.tracker != nil {
		s.sayScan(ended, final)
	}
}

func (s *Status) sayScan(ended string, now scanner.Stats) {
	v := s.tracker.Sample(now)
	r := StatusRecord{Phase: "asking", Ended: ended, Part: known(v.part, v.known), Left: known(v.left.Seconds(), v.left > 0)}
	if ended != "" {
		r.Phase, r.Left = "ended", nil
	}
	s.sayJSON(r, &v)
}
