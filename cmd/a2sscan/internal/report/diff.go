package report

import (
	"bufio"
	"cmp"
	"io"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// DiffOptions choose what Diff compares and prints.
type DiffOptions struct {
	Old, New  []string // files
	OldSums   []string // summaries; nil means the summaries beside the files
	NewSums   []string
	JSON      bool // print JSON, not a page
	Stat      bool // print only numbers
	Quiet     bool // print nothing
	ExitCode  bool
	Volatile  bool
	Kinds     []string
	Games     []string
	Networks  []string
	PageWidth int
}

// KindWords returns the kinds of change as strings.
func KindWords() (words []string) {
	for _, k := range census.Kinds {
		words = append(words, string(k.Kind))
	}
	return words
}

// Diff prints what changed from one census to another.
func Diff(t *console.Terminal, out io.Writer, o DiffOptions) error {
	var kinds []census.Kind
	for _, k := range o.Kinds {
		if !slices.Contains(KindWords(), k) {
			return console.Fail(console.ExitUsage, "unknown kind of change: %s", console.Quoted(k, 100)).
				WithHint("to list the kinds of changes, run a2sscan diff --help")
		}
		kinds = append(kinds, census.Kind(k))
	}
	before, err := OpenCensus(t, o.Old, census.Options{Summaries: o.OldSums, Games: o.Games, Networks: o.Networks})
	if err != nil {
		return err
	}
	after, err := OpenCensus(t, o.New, census.Options{Summaries: o.NewSums, Games: o.Games, Networks: o.Networks})
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 64<<10)
	var changes uint64
	var important Important
	writeJSON := func(v any) error {
		line, err := console.JSON(v, "")
		if err == nil {
			_, err = w.Write(line)
		}
		return err
	}
	found, err := census.Diff(before, after, kinds, o.Volatile, func(c *census.Change) error {
		changes++
		switch {
		case o.Quiet || o.Stat:
		case o.JSON:
			return writeJSON(c)
		default:
			important.Add(c)
		}
		return nil
	})
	switch {
	case err != nil:
		return cmp.Or(w.Flush(), censusfile.Failure(err)) // w repeats an error of writing
	case o.Quiet:
	case o.Stat && o.JSON:
		if err := writeJSON(found); err != nil {
			return err
		}
	case !o.JSON:
		writePage(w, found, &o, &important)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !o.Quiet {
		for _, doubt := range doubts(found) {
			t.Say("%s", doubt)
		}
		if found.Changes["not_asked"] > 0 && found.AskedKnown == "" {
			t.Hint("next time, scan with --unanswered, so that the census also has the servers that stay silent")
		}
	}
	if err := censusfile.Incomplete(append(before.Lost, after.Lost...)); err != nil {
		return err
	}
	if changes > 0 && (o.ExitCode || o.Quiet) {
		f := console.Fail(console.ExitChanged, "something changed")
		f.Reported = true
		return f
	}
	return nil
}
