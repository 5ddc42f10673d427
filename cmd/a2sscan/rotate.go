package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/sink"
)

// rotation is a flag's size or time after which a part of a census ends: 1G,
// 256M, 1h. The zero value is one file.
type rotation struct {
	size  int64 // bytes
	every time.Duration
}

// The shortest parts: shorter ones are a file for a few records.
const (
	minPartSize = 100_000
	minPartTime = time.Second
)

var errRotation = errors.New("want a size from 100k such as 256M or 1G, or a time from 1s such as 1h")

// Set reads a number with k, M or G behind it, powers of 1000, or a duration.
func (r *rotation) Set(s string) error {
	if every, err := time.ParseDuration(s); err == nil && every >= minPartTime {
		*r = rotation{every: every}
		return nil
	}
	factors := map[byte]float64{'k': 1e3, 'M': 1e6, 'G': 1e9}
	if s == "" || factors[s[len(s)-1]] == 0 {
		return errRotation
	}
	n, err := strconv.ParseFloat(s[:len(s)-1], 64)
	n *= factors[s[len(s)-1]]
	if err != nil || !(n >= minPartSize && n <= 1e15) {
		return errRotation
	}
	*r = rotation{size: int64(n)}
	return nil
}

func (r *rotation) String() string {
	switch {
	case r.every > 0:
		return r.every.String()
	case r.size > 0:
		return console.Bytes(uint64(r.size))
	}
	return ""
}

// Type is the word that stands for the value in the help.
func (r *rotation) Type() string { return "SIZE|TIME" }

// on reports whether there is more than one file.
func (r *rotation) on() bool { return *r != rotation{} }

// plan is how a scan that began at start is divided.
func (r *rotation) plan(start time.Time) *sink.Rotation {
	return &sink.Rotation{Start: start, Size: r.size, Every: r.every}
}

// resume makes o go on where a checkpoint says that it was.
func (o *output) resume(was *outputState) {
	o.options.Force, o.options.Resume, o.options.Offset = false, true, was.Offset
	if o.rotation != nil {
		o.rotation.Whole, o.rotation.Records = was.Parts, was.Records
	}
}

// check returns the error that making o would be.
func (o *output) check() error {
	if o.rotation != nil {
		return writeFailure(sink.CheckSeries(o.path, o.options, *o.rotation))
	}
	return writeFailure(sink.Check(o.path, o.options))
}

// parts are the files that a run wrote, nil without --rotate.
func (o *output) parts() []sink.Part {
	if s, ok := o.w.(*sink.Series); ok {
		return s.Parts()
	}
	return nil
}

// settle gives parts their names: those that are whole at m, which a
// checkpoint tells of, or all at the end.
func (o *output) settle(m *sink.Mark) error {
	s, ok := o.w.(*sink.Series)
	switch {
	case !ok:
		return nil
	case m == nil:
		return writeFailure(s.Commit())
	}
	return writeFailure(s.CommitBefore(m))
}

// files are those that hold the records, with the names that they have now.
func (o *output) files() []string {
	if o.rotation == nil {
		return []string{o.path}
	}
	var names []string
	for _, p := range o.parts() {
		names = append(names, p.Name)
	}
	return names
}

// written says where the records are.
func (o *output) written() string {
	parts := o.parts()
	switch {
	case o.rotation == nil:
		return console.Plain(o.path, 200)
	case len(parts) == 0:
		return "no file"
	case len(parts) == 1:
		return console.Plain(parts[0].Name, 200)
	}
	return fmt.Sprintf("%d parts, %s to %s", len(parts), console.Plain(parts[0].Name, 150),
		console.Plain(parts[len(parts)-1].Name, 150))
}

// summaryName is where the numbers of a scan in parts go: beside them, with
// the name that they have in common.
func summaryName(path string, start time.Time) string {
	first := sink.PartName(path, start, 1)
	return first[:strings.LastIndex(first, "-00001")] + ".summary.json"
}
