package main

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// statusMode is a flag's kind of status lines. The zero value is text.
type statusMode struct {
	word string
	said bool
}

var statusModes = []string{"text", "json", "none"}

// Set reads text, json or none.
func (m *statusMode) Set(s string) error {
	if !slices.Contains(statusModes, s) {
		return errors.New("want text, json or none")
	}
	*m = statusMode{s, true}
	return nil
}

func (m *statusMode) String() string {
	if m.word == "" {
		return statusModes[0]
	}
	return m.word
}

// Type is the word that stands for the value in the help.
func (m *statusMode) Type() string { return "KIND" }

// statusKind is how status lines are shown: --quiet means none, unless
// --status says otherwise.
func (f *scanFlags) statusKind() string {
	if f.quiet && !f.status.said {
		return "none"
	}
	return f.status.String()
}

// statusRecord is a status line as JSON. Keys may be added; one whose value is
// not known is absent. Numbers are of this part of a scan that was resumed, but
// for Part.
type statusRecord struct {
	Time  time.Time `json:"time"`
	Scan  string    `json:"scan"`
	Phase string    `json:"phase"`           // reading, asking, ended
	Ended string    `json:"ended,omitempty"` // why, as in the summary

	Targets uint64   `json:"targets,omitempty"` // while they are read: so far
	Part    *float64 `json:"part,omitempty"`    // that is done, 0 to 1
	Left    *float64 `json:"left,omitempty"`    // seconds, about; absent: not known, or about to end

	*statusNumbers
}

// statusNumbers are those of a scan that asks.
type statusNumbers struct {
	Elapsed  float64 `json:"elapsed"`  // seconds
	Finished uint64  `json:"finished"` // targets
	Answered uint64  `json:"answered"` // of those
	Open     int     `json:"open"`     // targets that are being asked
	Held     int     `json:"held"`     // targets held back by the limit of their address
	Silent   int     `json:"silent"`   // targets that wait for their second look

	Sent         uint64   `json:"sent"`                    // datagrams
	Received     uint64   `json:"received"`                // datagrams
	SentRate     *float64 `json:"sent_rate,omitempty"`     // a second, since the last line
	ReceivedRate *float64 `json:"received_rate,omitempty"` // a second, since the last line
	Rate         *float64 `json:"rate"`                    // asked for; null: as fast as it goes
	Drops        uint64   `json:"drops"`                   // datagrams that the kernel threw away
	SendErrors   uint64   `json:"send_errors"`

	Bytes      int64    `json:"bytes"`                 // of replies held
	Waiting    string   `json:"waiting,omitempty"`     // for what; words as in the summary's rate_limited_by
	WaitingFor *float64 `json:"waiting_for,omitempty"` // seconds, about
}

// unless returns v, or nil if that is not known.
func unless(unknown bool, v float64) *float64 {
	if unknown {
		return nil
	}
	v = milli(v)
	return &v
}

// milli rounds to three places.
func milli(v float64) float64 { return math.Round(v*1000) / 1000 }

// record makes a status line of a view.
func (v *view) record() statusRecord {
	return statusRecord{
		Phase: "asking",
		Part:  unless(!v.known, v.part),
		Left:  unless(!v.soon || v.left == 0, v.left.Seconds()),
		statusNumbers: &statusNumbers{
			Elapsed: milli(v.Elapsed.Seconds()), Finished: v.TargetsFinished(), Answered: v.Answered(),
			Open: v.Open, Held: v.Held, Silent: v.Silent,
			Sent: v.DatagramsSent(), Received: v.DatagramsReceived(),
			SentRate:     unless(v.sentRate < 0, v.sentRate),
			ReceivedRate: unless(v.recvRate < 0, v.recvRate),
			Rate:         unless(v.Rate == scanner.Off, v.Rate),
			Drops:        v.Socket.KernelDrops, SendErrors: v.SendErrors,
			Bytes: v.Bytes, Waiting: v.Wait.Word(),
			WaitingFor: unless(v.HeldFor == 0, v.HeldFor.Seconds()),
		},
	}
}

// sayStatus writes a status line as JSON.
func (a *app) sayStatus(scan string, r statusRecord) {
	r.Time, r.Scan = time.Now().UTC(), scan
	a.JSON(r)
}

// watchScan shows status lines until stop is called, with which the last one
// says why the scan ended.
func (j *job) watchScan(m *scanner.Monitor, p *progress) (stop func()) {
	switch j.statusKind() {
	case "none":
		return func() {}
	case "json":
		j.progress = p
		say := func() {
			s := m.Stats()
			if s.Elapsed == 0 { // it has not begun
				s.Rate = j.rate.limit()
			}
			v := p.look(s)
			j.sayStatus(j.scanID, v.record())
		}
		say()
		return console.Every(statusOnTerminal, say)
	}
	if j.Interactive && j.output == "-" && isTerminal(j.app.out.w) {
		return func() {} // the records are on the screen
	}
	return watch(j.Terminal, m, p)
}

// lastStatus is the status line of a scan that ended.
func (j *job) lastStatus(s scanner.Stats, ended string) {
	if j.progress == nil {
		return
	}
	v := j.progress.look(s)
	r := v.record()
	r.Phase, r.Ended, r.Left, r.Waiting, r.WaitingFor = "ended", ended, nil, "", nil
	j.sayStatus(j.scanID, r)
}

// watchLoad shows status lines while lists are read, until stop is called.
func (a *app) watchLoad(f *scanFlags, list *list.List) (stop func()) {
	switch f.statusKind() {
	case "none":
		return func() {}
	case "json":
		return console.Every(statusOnTerminal, func() {
			n, part, known := list.Loading()
			a.sayStatus(f.scanID, statusRecord{Phase: "reading", Targets: n, Part: unless(!known, part)})
		})
	}
	return a.RepeatStatus(statusEvery(a.Terminal), func() string { return loading(list) })
}
