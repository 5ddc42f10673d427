package census

import (
	"encoding/json"
	"fmt"

	"github.com/a2sscan/a2sscan/sink"
)

// Census names the files of one census, and what is known about it.
type Census struct {
	files     []string
	from      sink.Source
	workers   int
	summaries []*summary
	readings  []FileReading
	bad       uint64
}

// FileReading is what there is to say about a file that was read.
type FileReading struct {
	File      string
	Damage    sink.Damage // what was passed over
	Truncated int64       // bytes of a partial record at its end, which were left out
}

// Options of Open.
type Options struct {
	// Summaries are the summaries of the scans. Nil: those beside the files, if there
	// are any.
	Summaries []string

	// Source opens the files and the summaries. The zero value opens files of this
	// machine.
	Source sink.Source

	// Workers is how many goroutines unpack and decode. Zero: one for each processor.
	Workers int
}

// Open returns the census in files: parts, shards, or files of several formats. It
// reads the summaries, and no record. The same address in several records counts
// once. The name "-" stands for standard input, which Diff can't read.
func Open(files []string, o Options) (*Census, error) {
	c := &Census{files: files, from: o.Source, workers: o.Workers, readings: make([]FileReading, len(files))}
	if c.workers <= 0 {
		c.workers = defaultWorkers()
	}
	var err error
	c.summaries, err = readSummaries(o.Source, files, o.Summaries)
	return c, err
}

// Readings describes damage in the files, after they were read.
func (c *Census) Readings() []FileReading { return c.readings }

// BadLines is how many lines of undamaged frames were no records, after Aggregate or
// Diff read them.
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
