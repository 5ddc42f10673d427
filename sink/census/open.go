package census

import (
	"encoding/json"
	"fmt"

	"github.com/a2sscan/a2sscan/sink"
)

// Census names the files of one census, and holds what is known about them.
type Census struct {
	files     []string
	from      sink.Source
	workers   int
	summaries []*summary
	readings  []FileReading
	bad       uint64
}

// FileReading describes the damage in a file that was read.
type FileReading struct {
	File      string
	Damage    sink.Damage // what was skipped
	Truncated int64       // bytes of a partial record at the end of the file, also skipped
}

// Options are the options of Open.
type Options struct {
	// Summaries are the names of the summaries of the scans. Nil: those beside the
	// files, if there are any.
	Summaries []string

	// Source opens the files and the summaries. The zero value opens files of this
	// machine.
	Source sink.Source

	// Workers is the number of goroutines that unpack and decode. Zero: one for
	// each processor, at most 8.
	Workers int
}

// Open returns the census in files: parts, shards, or files of several formats. It
// reads the summaries, but no records. An address with several records counts once. The
// name "-" stands for standard input, which Diff can't read.
func Open(files []string, o Options) (*Census, error) {
	c := &Census{files: files, from: o.Source, workers: o.Workers, readings: make([]FileReading, len(files))}
	if c.workers <= 0 {
		c.workers = defaultWorkers()
	}
	var err error
	c.summaries, err = readSummaries(o.Source, files, o.Summaries)
	return c, err
}

// Readings returns a description of each file as it was last read.
func (c *Census) Readings() []FileReading { return c.readings }

// BadLines returns how many lines of undamaged frames were not records, once Aggregate,
// Join or Diff has read them.
func (c *Census) BadLines() uint64 { return c.bad }

// Marshal returns the bytes of a stats.json.
func (s *Stats) Marshal() ([]byte, error) {
	b, err := json.MarshalIndent(s, "", " ")
	return append(b, '\n'), err
}

// ParseStats reads a stats.json.
func ParseStats(b []byte) (*Stats, error) {
	var s Stats
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("not a stats.json: %w", err)
	}
	if s.Schema != StatsSchema {
		return nil, fmt.Errorf("stats.json of schema %d: this version knows %d", s.Schema, StatsSchema)
	}
	return &s, nil
}
