package progress

import (
	"fmt"
	"math"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Record is a status line as JSON. Keys may be added. A key whose value is unknown
// is absent. All numbers but Part cover only this run of a resumed scan.
type Record struct {
	Time  time.Time `json:"time"`
	Scan  string    `json:"scan"`
	Phase string    `json:"phase"`           // reading, counting, asking, ended
	Ended string    `json:"ended,omitempty"` // why it ended, as in the summary

	Targets uint64   `json:"targets,omitempty"` // how many were read or counted so far
	Part    *float64 `json:"part,omitempty"`    // fraction done, 0 to 1
	Left    *float64 `json:"left,omitempty"`    // seconds, estimated; absent: unknown, or about to end

	Store *Store `json:"store,omitempty"` // the upload into an object store

	*Numbers
}

// Numbers are the counts while the scan asks targets.
type Numbers struct {
	Elapsed  float64 `json:"elapsed"`  // seconds
	Finished uint64  `json:"finished"` // targets
	Answered uint64  `json:"answered"` // of the finished targets
	Open     int     `json:"open"`     // targets that are being asked
	Held     int     `json:"held"`     // targets held back by the rate limit of their address
	Silent   int     `json:"silent"`   // targets that wait for the second pass

	Sent         uint64   `json:"sent"`                    // datagrams
	Received     uint64   `json:"received"`                // datagrams
	SentRate     *float64 `json:"sent_rate,omitempty"`     // per second, since the last line
	ReceivedRate *float64 `json:"received_rate,omitempty"` // per second, since the last line
	Rate         *float64 `json:"rate"`                    // requested, per second; null: no limit
	RateFound    *float64 `json:"rate_found,omitempty"`    // with --rate auto: the present rate
	Carried      *float64 `json:"path_carried,omitempty"`  // with --rate auto: per second, when the path was last full
	Drops        uint64   `json:"drops"`                   // datagrams that the kernel dropped
	SendErrors   uint64   `json:"send_errors"`

	Bytes      int64    `json:"bytes"`                 // of replies in memory
	Waiting    string   `json:"waiting,omitempty"`     // what the scan waits for, in the words of the summary's rate_limited_by
	WaitingFor *float64 `json:"waiting_for,omitempty"` // seconds, estimated
}

// unless returns v, or nil if it is unknown.
func unless(unknown bool, v float64) *float64 {
	if unknown {
		return nil
	}
	v = milli(v)
	return &v
}

// milli rounds to three places.
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

// Status lines are due once a second on a terminal, where each replaces the last,
// and as JSON. They are due every ten seconds in a log.
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

// Interval is how often a status line is due on a terminal or in a log.
func Interval(t *console.Terminal) time.Duration {
	if t.Interactive {
		return statusOnTerminal
	}
	return statusInLog
}

// sayJSON writes a status line as JSON.
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
// loading returns how many targets were read so far, and the fraction of the input.
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

// sayTargets writes a status line in JSON while targets are read or counted.
func (s *Status) sayTargets(phase string, numbers func() (n uint64, part float64, known bool)) {
	n, part, known := numbers()
	s.sayJSON(Record{Phase: phase, Targets: n, Part: unless(!known, part)})
}

// WatchCounting shows status lines while a dry run counts targets, until stop is
// called. counted returns how many targets were counted so far, and the fraction of
// all.
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

// WatchScan shows status lines of a scan until stop is called. rate is the rate
// that the scan begins with.
func (s *Status) WatchScan(m *scanner.Monitor, tracker *Tracker, rate float64) (stop func()) {
	switch s.Kind {
	case None:
		return func() {}
	case JSON:
		s.tracker = tracker
		say := func() {
			now := m.Stats()
			if now.Elapsed == 0 { // the scan has not begun
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
		if earlier := tracker.cfg.Earlier; earlier != nil { // the counts of all runs, as in the closing lines
			v.Add(earlier)
		}
		store := s.store().line()
		return v.Line(s.Terminal.StatusWidth()-len(store)) + store
	})
}

// End writes the last status line in JSON, which says why the scan ended.
func (s *Status) End(final scanner.Stats, ended string) {
	if s.tracker == nil {
		return
	}
	v := s.tracker.Sample(final)
	r := v.Record()
	r.Phase, r.Ended, r.Left, r.Waiting, r.WaitingFor = "ended", ended, nil, "", nil
	s.sayJSON(r)
}
