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
	var unwritten error // the first error of writing to w
	writeJSON := func(v any) error {
		line, err := console.JSON(v, "")
		if err == nil {
			_, unwritten = w.Write(line)
		}
		return cmp.Or(err, unwritten)
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
	case unwritten != nil:
		return unwritten
	case err != nil:
		return censusfile.Failure(err)
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
		sayDoubts(t, found)
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

// sayDoubts prints what the comparison could not find out for certain.
func sayDoubts(t *console.Terminal, c *census.Comparison) {
	if c.Unknown > 0 {
		t.Say("%s may be new, or may be in the missing part of the old census", console.Plural(c.Unknown, "server"))
	}
	if n := c.Changes["not_asked"]; n > 0 && c.AskedKnown == "" {
		t.Say("missing from the new census: %s; it is not known whether the scan queried these servers", console.Plural(n, "server"))
		t.Hint("next time, scan with --unanswered, so that the census also has the servers that stay silent")
	}
	if c.LikelyLost != nil && *c.LikelyLost >= 0.5 {
		t.Say("the new scan lost datagrams: about %.0f of the %s that count as gone are probably still there", *c.LikelyLost,
			console.Plural(c.Changes["gone"], "server"))
	}
}
