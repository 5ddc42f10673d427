package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
)

// summary is how a scan went: what its closing lines say, and as JSON the file
// that stands beside the output. Keys may be added.
type summary struct {
	Scan    string      `json:"scan"`
	Version string      `json:"version"`
	Commit  string      `json:"commit"`
	Go      string      `json:"go"`
	Command []string    `json:"command"`
	Config  *configNote `json:"config,omitempty"`
	Inputs  []inputNote `json:"inputs"`
	Order   string      `json:"order"`           // random, input
	Seed    *uint64     `json:"seed,omitempty"`  // of the random order
	Shard   string      `json:"shard,omitempty"` // I/N; absent: all
	Output  string      `json:"output"`          // "-": standard output
	Parts   []sink.Part `json:"parts,omitempty"` // of the output, with --rotate
	Records uint64      `json:"records"`

	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
	Seconds float64   `json:"seconds"`

	Resumed int `json:"resumed"` // how often the scan was gone on with; numbers are of all parts

	Ended       string   `json:"ended"` // why: complete, interrupted, guard, output, input, error
	Guard       *stopped `json:"guard,omitempty"`
	Interrupted bool     `json:"interrupted"`
	Consistent  bool     `json:"consistent"` // all sums add up
	Wrong       []string `json:"wrong,omitempty"`

	Targets    ledger            `json:"targets"`
	Exclusions []exclusion       `json:"exclusions"`          // that left something out
	Databases  []geoNote         `json:"databases,omitempty"` // of --mmdb
	Datagrams  datagrams         `json:"datagrams"`
	Faults     map[string]uint64 `json:"faults"`

	rates
	PacingError *float64 `json:"pacing_error,omitempty"` // of the rate asked for: 0.01 is 1 % too fast

	Servers  uint64         `json:"servers"` // that answered
	Players  uint64         `json:"players"` // on them, as they say
	Bots     uint64         `json:"bots"`
	Games    []namedServers `json:"games"` // those with the most servers, and so on
	Maps     []namedServers `json:"maps"`
	Systems  []namedServers `json:"environments"`
	Versions []namedServers `json:"versions"`

	Countries []namedServers `json:"countries,omitempty"` // with --mmdb

	FirstAnswers firstAnswers `json:"first_answers"`
	RoundTrips   *quantiles   `json:"round_trips,omitempty"`
	Busiest      []busy       `json:"largest_addresses"` // those with the most servers

	RecvBufferAsked int    `json:"receive_buffer_asked"`     // bytes
	RecvBuffer      int    `json:"receive_buffer"`           // bytes
	PeakOpen        int    `json:"peak_open"`                // targets
	PeakBytes       int64  `json:"peak_bytes"`               // of replies held
	PeakRSS         uint64 `json:"peak_rss_bytes,omitempty"` // of the process, in this part

	tally tally
}

// exclusion is a rule and what it left out.
type exclusion struct {
	Network     string `json:"network"`
	Reason      string `json:"reason,omitempty"`
	Source      string `json:"source"`                // where that is written
	Unscannable bool   `json:"unscannable,omitempty"` // nobody can have these addresses
	Gone        bool   `json:"gone,omitempty"`        // the file does not name it any more
	Targets     uint64 `json:"targets"`               // left out of the list
	Stopped     uint64 `json:"stopped"`               // taken from the list before they were excluded
}

// rule is the rule as package target has it.
func (x *exclusion) rule() list.Rule {
	return list.Rule{
		Network: x.Network, Reason: x.Reason, Source: x.Source,
		Unscannable: x.Unscannable, Gone: x.Gone, Targets: x.Targets, Stopped: x.Stopped,
	}
}

func exclusionsOf(x *list.Exclusions) []exclusion {
	all := []exclusion{}
	for _, r := range x.Rules() {
		all = append(all, exclusion{
			Network: r.Network, Reason: r.Reason, Source: r.Source,
			Unscannable: r.Unscannable, Gone: r.Gone, Targets: r.Targets, Stopped: r.Stopped,
		})
	}
	return all
}

// newSummary fills in what follows from the numbers of the scan.
func newSummary(s *scanner.Stats, l ledger) *summary {
	version, commit := buildVersion()
	sum := &summary{
		Version: version, Commit: commit, Go: runtime.Version(),
		Seconds:         s.Elapsed.Seconds(),
		Targets:         l,
		Datagrams:       newDatagrams(s),
		Faults:          faults(s),
		RecvBufferAsked: s.Socket.RecvBufferAsked,
		RecvBuffer:      s.Socket.RecvBuffer,
		PeakOpen:        s.PeakOpen,
		PeakBytes:       s.PeakBytes,
		PeakRSS:         peakRSS(),
		rates:           newRates(s),
		PacingError:     pacingError(s),
	}
	sum.Wrong = contradictions(&sum.Targets, &sum.Datagrams, s)
	sum.Consistent = len(sum.Wrong) == 0
	return sum
}

// check adds a sum of the writing side: a record for each target that is to
// have one.
func (sum *summary) check(unanswered bool) {
	by := sum.Targets.By
	want := by["ok"] + by["partial"] + by["error"]
	if unanswered {
		want += by["no_reply"] + by["unreachable"]
	}
	if sum.Ended != endedOutput && sum.Records != want {
		sum.Wrong = append(sum.Wrong,
			fmt.Sprintf("records due, and records written: %d and %d", want, sum.Records))
		sum.Consistent = false
	}
}

// Why a scan ended.
const (
	endedComplete    = "complete"
	endedInterrupted = "interrupted"
	endedGuard       = "guard"
	endedOutput      = "output"
	endedInput       = "input"
	endedBroken      = "error"
)

// write puts the summary into a file, replacing what was there.
func (sum *summary) write(path string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(sum); err != nil {
		return err
	}
	var text []byte
	for line := range bytes.Lines(b.Bytes()) { // names in it are hostile, and somebody may look at it
		text = append(append(text, console.Visible(bytes.TrimSuffix(line, []byte("\n")))...), '\n')
	}
	return writeWhole(path, text)
}

// writeWhole writes a file, or removes it: half of it is of no use. A link, such
// as that to standard error, stays.
func writeWhole(path string, text []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if info, e := os.Lstat(path); err != nil && e == nil && info.Mode().IsRegular() {
		os.Remove(path)
	}
	return err
}

// isFile reports whether path is a file such as can be made anew: no device, no
// pipe.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
