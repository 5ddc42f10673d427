package progress

import (
	"fmt"
	"math"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Record is a status line as JSON. New keys may be added. A key whose value is
// unknown is absent. In a resumed scan, all numbers but Part cover only this run.
type Record struct {
	Time  time.Time `json:"time"`
	Scan  string    `json:"scan"`
	Phase string    `json:"phase"`           // reading, counting, asking or ended
	Ended string    `json:"ended,omitempty"` // why the scan ended, as in the summary

	Targets uint64   `json:"targets,omitempty"` // how many targets were read or counted so far
	Part    *float64 `json:"part,omitempty"`    // fraction done, from 0 to 1
	Left    *float64 `json:"left,omitempty"`    // estimated seconds left; absent: unknown, or about to end

	Store *Store `json:"store,omitempty"` // the upload to an object store

	*Numbers
}

// Numbers are the counts while the scan queries targets.
type Numbers struct {
	Elapsed  float64 `json:"elapsed"`  // seconds
	Finished uint64  `json:"finished"` // number of finished targets
	Answered uint64  `json:"answered"` // how many of the finished targets answered
	Open     int     `json:"open"`     // targets that are being queried
	Held     int     `json:"held"`     // targets held back by the rate limit of their address
	Silent   int     `json:"silent"`   // targets that wait for the second pass

	Sent         uint64   `json:"sent"`                    // datagrams
	Received     uint64   `json:"received"`                // datagrams
	SentRate     *float64 `json:"sent_rate,omitempty"`     // per second, since the last line
	ReceivedRate *float64 `json:"received_rate,omitempty"` // per second, since the last line
	Rate         *float64 `json:"rate"`                    // requested, per second; null: no limit
	RateFound    *float64 `json:"rate_found,omitempty"`    // with --rate auto: the current rate
	Carried      *float64 `json:"path_carried,omitempty"`  // with --rate auto: datagrams per second, when the path was last full
	Drops        uint64   `json:"drops"`                   // datagrams that the kernel dropped
	SendErrors   uint64   `json:"send_errors"`

	Bytes      int64    `json:"bytes"`                 // size of the replies in memory
	Waiting    string   `json:"waiting,omitempty"`     // what the scan waits for; the words are those of the summary's rate_limited_by
	WaitingFor *float64 `json:"waiting_for,omitempty"` // estimated seconds
}

// unless returns v, rounded to three decimal places, or nil if it is unknown.
func unless(unknown bool, v float64) *float64 {
	if unknown {
		return nil
	}
	v = milli(v)
	return &v
}

// milli rounds to three decimal places.
func milli(v float64) float64 { return math.Round(v*1000) / 1000 }

// Record returns the view as a status line in JSON.
func (v *View) Record() Record {
	return Record{
		Phase: "asking",
		Part:  unless(!v.known, v.part),
		Left:  unless(!v.soon || v.left == 0, v.left.Seconds()),
		Numbers: &Numbers{
			Elapsed: milli(v.Elapsed.Seconds()), Finished: v.TargetsFinished(), Answered: v.Answered(),
			Open: v.Open, Held: v.Held, Silent: v.Silent,
			Sent: v.DatagramsSent(), Received: v.DatagramsReceived(),
			SentRate:     unless(v.sentRate < 0, v.sentRate),
			ReceivedRate: unless(v.recvRate < 0, v.recvRate),
			Rate:         unless(v.Rate == scanner.Off, v.Rate),
			RateFound:    unless(!v.Path.On, v.Path.Now),
			Carried:      unless(v.Path.Carried == 0, v.Path.Carried),
			Drops:        v.Socket.KernelDrops, SendErrors: v.SendErrors,
			Bytes: v.Bytes, Waiting: v.Wait.Word(),
			WaitingFor: unless(v.HeldFor == 0, v.HeldFor.Seconds()),
		},
	}
}

// The intervals of status lines. The shorter one is for a terminal, where each line
// replaces the previous one, and for JSON; the longer one is for a log.
const (
	statusOnTerminal = time.Second
	statusInLog      = 10 * time.Second
)

// Kind says how status lines are shown.
type Kind string

// These are the kinds of status lines.
const (
	Text Kind = "text" // a line that is rewritten in place on a terminal
	JSON Kind = "json" // one JSON object per line
	None Kind = "none"
)

// Status shows the progress of a scan on standard error.
type Status struct {
	Terminal *console.Terminal
	Kind     Kind
	Scan     string        // name of the scan
	Store    func() *Store // returns the progress of the upload; nil: there is none

	tracker *Tracker // for the lines in JSON
}

// Interval is how often a status line is due on a terminal, or elsewhere.
func Interval(t *console.Terminal) time.Duration {
	if t.Interactive {
		return statusOnTerminal
	}
	return statusInLog
}

// sayJSON prints a status line as JSON, after it has set the time, the scan and the
// upload.
func (s *Status) sayJSON(r Record) {
	r.Time, r.Scan, r.Store = time.Now().UTC(), s.Scan, s.store()
	s.Terminal.JSON(r)
}

// store returns the progress of the upload, or nil if there is none.
func (s *Status) store() *Store {
	if s.Store == nil {
		return nil
	}
	return s.Store()
}

// WatchLoading shows status lines while lists are read, until stop is called.
// loading returns how many targets were read so far, and which fraction of the
// input.
func (s *Status) WatchLoading(loading func() (n uint64, part float64, known bool)) (stop func()) {
	switch s.Kind {
	case None:
		return func() {}
	case JSON:
		return console.Every(statusOnTerminal, func() { s.sayTargets("reading", loading) })
	}
	return s.Terminal.RepeatStatus(Interval(s.Terminal), func() string { return Loading(loading()) })
}

// Loading returns the status line while lists are read.
func Loading(n uint64, part float64, known bool) string {
	s := fmt.Sprintf("reading the targets: %d so far", n)
	if known {
		s += fmt.Sprintf(" (%.0f%%)", 100*part)
	}
	return s
}

// sayTargets prints a status line in JSON while targets are read or counted.
func (s *Status) sayTargets(phase string, numbers func() (n uint64, part float64, known bool)) {
	n, part, known := numbers()
	s.sayJSON(Record{Phase: phase, Targets: n, Part: unless(!known, part)})
}

// WatchCounting shows status lines while a dry run counts targets, until stop is
// called. counted returns how many targets were counted so far, and which fraction
// that is of all targets.
func (s *Status) WatchCounting(counted func() (n uint64, part float64, known bool)) (stop func()) {
	switch s.Kind {
	case None:
		return func() {}
	case JSON:
		say := func() { s.sayTargets("counting", counted) }
		say()
		return console.Every(statusOnTerminal, say)
	}
	return s.Terminal.RepeatStatus(Interval(s.Terminal), func() string { return Counting(counted()) })
}

// Counting returns the status line while targets are counted.
func Counting(n uint64, part float64, known bool) string {
	s := "counting the targets: " + console.Grouped(n) + " so far"
	if known {
		s += fmt.Sprintf(" (%.0f%%)", 100*part)
	}
	return s
}

// WatchScan shows status lines of a scan until stop is called. rate is the rate at
// which the scan begins.
func (s *Status) WatchScan(m *scanner.Monitor, tracker *Tracker, rate float64) (stop func()) {
	switch s.Kind {
	case None:
		return func() {}
	case JSON:
		s.tracker = tracker
		say := func() {
			now := m.Stats()
			if now.Elapsed == 0 { // the scan has not begun, and has no rate yet
				now.Rate = rate
			}
			v := tracker.Sample(now)
			s.sayJSON(v.Record())
		}
		say()
		return console.Every(statusOnTerminal, say)
	}
	return s.Terminal.RepeatStatus(Interval(s.Terminal), func() string {
		v := tracker.Sample(m.Stats())
		if earlier := tracker.cfg.Earlier; earlier != nil { // show the counts of all runs, as the closing lines do
			v.Add(earlier)
		}
		store := s.store().line()
		return v.Line(s.Terminal.StatusWidth()-len(store)) + store
	})
}

// End prints the last status line in JSON, which says why the scan ended. It does
// nothing for other kinds.
func (s *Status) End(final scanner.Stats, ended string) {
	if s.tracker == nil {
		return
	}
	v := s.tracker.Sample(final)
	r := v.Record()
	r.Phase, r.Ended, r.Left, r.Waiting, r.WaitingFor = "ended", ended, nil, "", nil
	s.sayJSON(r)
}
