package census

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Census names the files of one census, and what is known about it.
type Census struct {
	files     []string
	summaries []string
}

// Options of Open.
type Options struct {
	// Summaries are the summaries of the scans. Nil: those beside the files, if there
	// are any.
	Summaries []string

	// Workers is how many goroutines unpack and decode. Zero: one for each processor.
	Workers int
}

// Open returns the census in files: parts, shards, or files of several formats. It
// opens them and reads the summaries. The same address in several records counts
// once.
func Open(files []string, o Options) (*Census, error) {
	return &Census{files: files, summaries: o.Summaries}, nil
}

// Read calls do with every record, in no particular order but one at a time. The
// Server is valid until do returns. An error of do ends Read, which returns it.
func (c *Census) Read(do func(*Server) error) error { return errors.ErrUnsupported }

// Aggregate makes the stats of a census.
func Aggregate(c *Census) (*Stats, error) { return nil, errors.ErrUnsupported }

// DiffOptions choose what Diff reports.
type DiffOptions struct {
	Volatile bool   // also report players, and maps of games that rotate them
	Kinds    []Kind // nil: all
	Games    []string
	Networks []string // such as 203.0.113.0/24 or AS64496

	// Asked is the SHA-256 of the list of targets and reports whether it contains an
	// address; nil: only records of silent servers prove who was asked.
	Asked *TargetList
}

// TargetList is the list that the new census was asked for.
type TargetList struct {
	SHA256   string                 // of its raw bytes
	Contains func(addr uint64) bool // address<<16 | port
}

// Diff calls do with every change from one census to another, in the order of
// addresses, then of Kinds. The Change is valid until do returns.
func Diff(before, after *Census, o DiffOptions, do func(*Change) error) (*Comparison, error) {
	return nil, errors.ErrUnsupported
}

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
