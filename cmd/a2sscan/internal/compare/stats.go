// Package compare implements the commands that aggregate or compare complete
// censuses: stats and diff.
package compare

import (
	"bytes"
	"io"
	"os"
	"runtime/debug"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/census"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	whole "github.com/a2sscan/a2sscan/sink/census"
)

// Stats prints the stats of a census.
func Stats(t *console.Terminal, out io.Writer, files, summaries []string) error {
	c, err := Open(files, summaries)
	if err != nil {
		return err
	}
	stats, err := whole.Aggregate(c)
	if err != nil {
		return census.Failure(err)
	}
	text, err := Text(stats)
	if err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	return Readings(t, c)
}

// Text returns stats as the content of a stats.json file, with invisible characters
// of names escaped.
func Text(s *whole.Stats) ([]byte, error) {
	b, err := s.Marshal()
	if err != nil {
		return nil, err
	}
	var text []byte
	for line := range bytes.Lines(b) {
		text = append(append(text, console.Visible(bytes.TrimSuffix(line, []byte("\n")))...), '\n')
	}
	return text, nil
}

// spareMemory makes the garbage collector run more often than by default. A table of a
// million servers lives to the end, and as much garbage beside it would double the
// memory.
const spareMemory = 10 // percent

// Open opens a census for reading. It also makes the garbage collector run more often.
func Open(files, summaries []string) (*whole.Census, error) {
	debug.SetGCPercent(spareMemory)
	files, err := census.Files(files)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if file == "-" || store.IsURL(file) {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return nil, console.OpenFailure(file, err)
		}
	}
	c, err := whole.Open(files, whole.Options{Summaries: summaries, Source: store.Source()})
	if err != nil {
		return nil, console.Fail(console.ExitInput, "%s", console.Plain(err.Error(), 400)).
			WithHint("--summary names the file that scan wrote with the numbers of the run")
	}
	return c, nil
}

// Readings reports files that were truncated. It returns an error for the first file
// that is damaged, or for bad lines.
func Readings(t *console.Terminal, censuses ...*whole.Census) (err error) {
	for _, c := range censuses {
		for _, r := range c.Readings() {
			census.ReportTail(t, r.File, r.Truncated)
			if r.Damage.Found() && err == nil {
				err = census.DamageFailure(r.File, r.Damage)
			}
		}
		if n := c.BadLines(); n > 0 && err == nil {
			err = console.Fail(console.ExitNumbers, "%s are no records: left out", console.Plural(n, "line")).
				WithHint("a2sscan verify says which")
		}
	}
	return err
}
