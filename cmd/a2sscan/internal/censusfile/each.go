package censusfile

import (
	"bytes"
	"errors"
	"io"
	"runtime/debug"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
)

// Each calls do for each line of a census that is not empty, with the number of the line,
// counted from 1. It stops at the first error, and describes what it has read.
func Each(name string, r *sink.Reader, do func(n int, line []byte) error) (read census.Reading, err error) {
	read.Name = name
	for n := 1; ; n++ {
		line, err := r.Next()
		if err == io.EOF {
			read.Damage = r.Damage()
			return read, nil
		}
		if err != nil {
			return read, Failure(err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		read.Records++
		if err := do(n, line); err != nil {
			return read, err
		}
	}
}

// SpareMemory is the argument of debug.SetGCPercent for commands that read a census. With Go's
// default of 100, garbage would double the memory for unpacked frames and for servers.
const SpareMemory = 25

// pipe calls sink.PipeFile, and describes what was read. take returns the number of records in
// its block. pipe returns an error of take unchanged.
func pipe[T any](file string, parser func() func(*sink.Block) T, take func(*sink.Block, T) (records int, err error)) (census.Reading, error) {
	debug.SetGCPercent(SpareMemory)
	read, taken := census.Reading{Part: sink.Part{Name: file}}, error(nil)
	damage, err := sink.PipeFile(file, parser, func(b *sink.Block, parsed T) error {
		var n int
		n, taken = take(b, parsed)
		read.Records += uint64(n)
		return taken
	})
	read.Damage = damage
	if err != nil && taken == nil {
		err = Failure(err)
	}
	return read, err
}

// Lost compares what was read with the summaries beside the files. It prints what is
// damaged or missing. If there is anything to print, it returns an error. A file of a
// scan that was not read is not missing.
func Lost(t *console.Terminal, read []census.Reading) error {
	var files []string
	for _, r := range read {
		files = append(files, r.Name)
	}
	summaries, err := census.ReadSummaries(files, nil)
	if err != nil {
		t.Say("%s", console.Plain(err.Error(), 300)) // no error, because the records can be used without a summary
	}
	return SayLost(t, census.Lost(read, summaries, false))
}

// SayLost prints what is damaged or missing. If there is anything, it returns an error.
func SayLost(t *console.Terminal, lost []string) error {
	for _, sentence := range lost {
		t.Say("%s", console.Plain(sentence, 400))
	}
	return Incomplete(lost)
}

// Incomplete returns the error for a census that lacks something, or nil if nothing is lost.
func Incomplete(lost []string) error {
	if len(lost) == 0 {
		return nil
	}
	return console.Fail(console.ExitNumbers, "the census is damaged or not complete").
		WithHint("to look for other damage, run a2sscan verify")
}

// Failure adds an exit code, and usually a hint, to an error from reading a census.
func Failure(err error) error {
	var s *sink.Error
	if !errors.As(err, &s) {
		return console.Fail(console.ExitInput, "%w", err)
	}
	if errors.Is(err, sink.ErrNotCensus) {
		return console.Fail(console.ExitInput, "%s is not a census: it does not begin with a record", console.Plain(s.Path, 200)).
			WithHint("a census is a file that a2sscan scan wrote: one line of JSON per server, compressed or not")
	}
	return console.Fail(console.ExitInput, "%s", ErrorText(s)).WithHint("%s", s.Hint)
}
