package ledger

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/wire"
)

// Summary is the result of a scan. As JSON it is the summary file beside the output;
// closing.go prints its most important fields. Later versions of a2sscan may add keys.
type Summary struct {
	Scan    string      `json:"scan"`
	Schema  int         `json:"schema"` // 1; increases when the meaning of a key changes
	Version string      `json:"version"`
	Commit  string      `json:"commit"`
	Go      string      `json:"go"`
	Command []string    `json:"command"`
	Config  *ConfigFile `json:"config,omitempty"`
	Inputs  []Input     `json:"inputs"`
	Order   string      `json:"order"`            // random or input
	Seed    *uint64     `json:"seed,omitempty"`   // seed of the random order
	Shard   string      `json:"shard,omitempty"`  // I/N; absent: all shards
	Plan    any         `json:"plan,omitempty"`   // settings that all shards must share, and the shard
	Merged  []Part      `json:"merged,omitempty"` // the censuses that were merged into this one
	Output  string      `json:"output"`           // "-": standard output
	Parts   []sink.Part `json:"parts,omitempty"`  // parts of the output, with --rotate
	Bytes   int64       `json:"bytes,omitempty"`  // length of the output; absent: the output is not a single file
	Sum     string      `json:"xxh64,omitempty"`  // hash of the output file
	Records uint64      `json:"records"`
	Names   string      `json:"player_key,omitempty"` // ID of the key that hashes player names; absent: records have the names

	Earlier []sink.Scan `json:"earlier,omitempty"` // with --append: the scans whose records the output already had

	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
	Seconds float64   `json:"seconds"`

	Resumed int `json:"resumed"` // how many times the scan was resumed; the counts cover all runs

	Ended       string   `json:"ended"` // why the scan ended: complete, interrupted, guard, output, input, error
	Guard       *Trip    `json:"guard,omitempty"`
	Interrupted bool     `json:"interrupted"`
	Consistent  bool     `json:"consistent"` // all sums add up
	Wrong       []string `json:"wrong,omitempty"`

	Counts
	Exclusions []list.Exclusion  `json:"exclusions"`          // exclusions that matched targets
	Databases  []Database        `json:"databases,omitempty"` // database files that --mmdb names
	Faults     map[string]uint64 `json:"faults"`

	Rates
	PacingError *float64  `json:"pacing_error,omitempty"` // relative to rate_asked: 0.01 is 1 % too fast
	Timeouts    *Timeouts `json:"timeouts,omitempty"`     // absent: the timeouts were fixed, or too few servers answered
	Path        *Path     `json:"path,omitempty"`         // only with --rate auto

	Servers   uint64 `json:"servers"` // servers that answered
	Players   uint64 `json:"players"` // people on the servers, as the games count them
	Bots      uint64 `json:"bots"`
	Elsewhere uint64 `json:"players_elsewhere"` // servers whose player counts do not come from INFO

	FirstAnswers FirstAnswers `json:"first_answers"`
	RoundTrips   *Quantiles   `json:"round_trips,omitempty"`

	RecvBufferAsked int    `json:"receive_buffer_asked"`     // bytes
	RecvBuffer      int    `json:"receive_buffer"`           // bytes that the kernel granted
	PeakOpen        int    `json:"peak_open"`                // maximum number of open targets
	PeakBytes       int64  `json:"peak_bytes"`               // maximum size of the buffered replies
	PeakRSS         uint64 `json:"peak_rss_bytes,omitempty"` // maximum memory of the process, in this run

	Answers *Tally `json:"-"` // set by SetAnswers
}

// Trip records which limit ended a scan, and why.
type Trip struct {
	Flag string `json:"flag"`
	Why  string `json:"why"`
}

// String formats the trip as one line.
func (t *Trip) String() string { return "stopped by " + t.Flag + ": " + t.Why }

// Change is one change of the rate of a running scan.
type Change struct {
	Time time.Time `json:"time"`
	From float64   `json:"from"` // datagrams per second
	To   float64   `json:"to"`
}

// Input is one input of a scan.
type Input struct {
	Name        string      `json:"name"`
	Format      string      `json:"format"` // format of the list, or Argument
	Compression string      `json:"compression,omitempty"`
	Torn        bool        `json:"torn,omitempty"` // the compressed data is truncated
	Bytes       int64       `json:"bytes,omitempty"`
	SHA256      string      `json:"sha256,omitempty"` // SHA-256 of the raw bytes; absent: the input was not read to the end
	Targets     uint64      `json:"targets,omitempty"`
	Invalid     uint64      `json:"invalid,omitempty"`
	Master      *MasterList `json:"master,omitempty"` // the master that sent the list, with --master
}

// Argument is the Format of an Input that is not a list, but an argument such as an address.
const Argument = "argument"

// MasterList describes the request for a list from a master.
type MasterList struct {
	Protocol string `json:"protocol"` // udp or web
	Address  string `json:"address"`  // HOST:PORT, or the URL without user, password and query
	Region   string `json:"region"`
	Filter   string `json:"filter"` // in the syntax of masters; empty: no filter
	Whole    bool   `json:"whole"`  // the master sent its complete list
}

// Build identifies the program that ran the scan.
type Build struct{ Version, Commit string }

// ConfigFile is the configuration file from which a scan took flags or targets.
type ConfigFile struct {
	File    string   `json:"file"`
	SHA256  string   `json:"sha256"`
	Flags   []string `json:"flags"`             // the flags taken from the file, in command-line form
	Targets []string `json:"targets,omitempty"` // the targets taken from the file
}

// Database describes a database file that --mmdb names.
type Database struct {
	Name   string    `json:"name"`
	Type   string    `json:"type"`
	Built  time.Time `json:"built"`
	Faults uint64    `json:"faults,omitempty"` // number of lookups in this run that found damaged data
}

// NewSummary returns a summary with the fields that derive from the scan's counts.
func NewSummary(from *Source, b Build) *Summary {
	from.count()
	s := from.Scan
	sum := &Summary{
		Schema: sink.SummarySchema, Version: b.Version, Commit: b.Commit, Go: runtime.Version(),
		Seconds:         s.Elapsed.Seconds(),
		Counts:          from.Counts,
		Faults:          map[string]uint64{},
		RecvBufferAsked: s.Socket.RecvBufferAsked,
		RecvBuffer:      s.Socket.RecvBuffer,
		PeakOpen:        s.PeakOpen,
		PeakBytes:       s.PeakBytes,
		PeakRSS:         peakRSS(),
		Rates:           NewRates(s),
		PacingError:     pacingError(s),
		Timeouts:        newTimeouts(&s.Timeouts),
		Path:            newPath(&s.Path),
		Answers:         &Tally{},
	}
	for e := wire.Error(1); e < wire.NumErrors; e++ {
		if s.Errors[e] > 0 {
			sum.Faults[e.String()] = s.Errors[e]
		}
	}
	sum.Wrong = contradictions(sum, from)
	sum.Consistent = len(sum.Wrong) == 0
	return sum
}

// SetAnswers fills in the fields that derive from the answers. Its second argument,
// attempts, is how many times the scan queried each silent target.
func (sum *Summary) SetAnswers(t *Tally, attempts int) {
	sum.Answers = t
	sum.Servers, sum.Players, sum.Bots = t.Servers, t.Players, t.Bots
	sum.Elsewhere = t.Corrected
	fa := FirstAnswers{AtAsk: append([]uint64{}, t.AtAsk...)}
	for len(fa.AtAsk) < attempts {
		fa.AtAsk = append(fa.AtAsk, 0)
	}
	if p, missed, ok := estimateMissed(fa.AtAsk); ok {
		fa.Chance, fa.Missed = &p, &missed
	}
	sum.FirstAnswers = fa
	sum.RoundTrips = t.Trips.Quantiles()
}

// CheckRecords compares the number of records written with the number of targets
// that should have a record. A difference makes the summary inconsistent, unless
// writing the output failed.
func (sum *Summary) CheckRecords(unanswered bool) {
	by := &sum.Targets.ByStatus
	want := by[scanner.StatusOK] + by[scanner.StatusPartial] + by[scanner.StatusError]
	if unanswered {
		want += by[scanner.StatusNoReply] + by[scanner.StatusUnreachable]
	}
	if sum.Ended != EndedOutput && sum.Records != want {
		sum.Wrong = append(sum.Wrong,
			fmt.Sprintf("records: %d expected, but %d written", want, sum.Records))
		sum.Consistent = false
	}
}

// These are the values of Summary.Ended.
const (
	EndedComplete    = "complete"
	EndedInterrupted = "interrupted"
	EndedGuard       = "guard"
	EndedOutput      = "output"
	EndedInput       = "input"
	EndedBroken      = "error"
)

// WriteFile writes the summary to a file. It replaces an existing file atomically.
func (sum *Summary) WriteFile(path string) error {
	// console.JSON escapes invisible characters, because exclusions may quote hostile
	// lists, and a user may print the file on a terminal.
	text, err := console.JSON(sum, "  ")
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		return disk.Replace(path, text, 0o666)
	}
	stream, err := disk.OpenStream(path) // a pipe or a device, such as /dev/stderr
	if err != nil {
		return err
	}
	_, err = stream.Write(text)
	return errors.Join(err, stream.Close())
}
