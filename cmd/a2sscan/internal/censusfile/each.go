// Package censusfile reads census files for commands. It reports partial tails and
// damage, and gives errors their exit codes.
package censusfile

import (
	"bytes"
	"errors"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/sink"
)

// Each calls do with every line of a census that is not empty, and with its number,
// counted from 1. It returns how many bytes of a partial record at the end it
// omitted. If the census is damaged, Each returns an error after the readable
// lines.
func Each(name string, r *sink.Reader, do func(n int, line []byte) error) (tail int64, err error) {
	for n := 1; ; n++ {
		line, err := r.Next()
		switch {
		case err == io.EOF && r.Damage().Found():
			return 0, DamageFailure(name, r.Damage())
		case err == io.EOF:
			return r.Truncated(), nil
		case err != nil:
			return 0, Failure(err)
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		if err := do(n, line); err != nil {
			return 0, err
		}
	}
}

// EachOf opens a file and calls Each.
func EachOf(file string, do func(n int, line []byte) error) (tail int64, err error) {
	r, err := store.Source().Open(file)
	if err != nil {
		return 0, Failure(err)
	}
	defer r.Close()
	return Each(file, r, do)
}

// Files returns the files that the arguments name: an s3:// prefix stands for all
// census files below it.
func Files(args []string) ([]string, error) {
	files, err := store.Names(args)
	if err != nil {
		return nil, Failure(err)
	}
	return files, nil
}

// Failure gives an error from reading a census its exit code and hint.
func Failure(err error) error {
	var s *sink.Error
	if !errors.As(err, &s) {
		return console.Fail(console.ExitInput, "%w", err)
	}
	return console.Fail(console.ExitInput, "%s", output.ErrorText(s)).WithHint("%s", s.Hint)
}

// ReportTail prints that a partial record at the end of a file was omitted. It
// prints nothing if bytes is 0.
func ReportTail(t *console.Terminal, file string, bytes int64) {
	if bytes > 0 {
		t.Say("%s: truncated: %d bytes after the last complete record left out", console.Plain(file, 200), bytes)
	}
}

// DamageFailure returns the error for a census that has unreadable parts.
func DamageFailure(name string, d sink.Damage) error {
	return console.Fail(console.ExitNumbers, "%s is damaged: skipped %s", console.Plain(name, 200), d).
		WithHint("a2sscan verify finds other damage, too")
}

// ValueText formats a value of a record for messages. An empty value is absent.
func ValueText(s string) string {
	if s == "" {
		return "absent"
	}
	return console.Plain(s, 80)
}
