package compare

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// Options choose what Diff compares and prints.
type Options struct {
	Old, New  []string // files
	OldSums   []string // paths of summaries; nil: those beside the files
	NewSums   []string
	JSON      bool // print a line of JSON per change instead of a page
	Stat      bool // print only numbers
	Quiet     bool // print nothing
	ExitCode  bool
	Volatile  bool
	Kinds     []string
	Games     []string
	Networks  []string
	PageWidth int
}

// Diff prints what changed from one census to another.
func Diff(t *console.Terminal, out io.Writer, o Options) error {
	choice := census.DiffOptions{Volatile: o.Volatile}
	for _, k := range o.Kinds {
		if !slices.Contains(census.Kinds, census.Kind(k)) {
			return console.Fail(console.ExitUsage, "there is no kind of change %s", console.Quoted(k, 100)).
				WithHint("a2sscan diff --help lists the kinds of changes")
		}
		choice.Kinds = append(choice.Kinds, census.Kind(k))
	}
	before, err := Open(t, o.Old, census.Options{Summaries: o.OldSums, Games: o.Games, Networks: o.Networks})
	if err != nil {
		return err
	}
	after, err := Open(t, o.New, census.Options{Summaries: o.NewSums, Games: o.Games, Networks: o.Networks})
	if err != nil {
		return err
	}
	p := &printer{out: bufio.NewWriterSize(out, 64<<10), o: &o}
	p.enc = json.NewEncoder(&p.line)
	p.enc.SetEscapeHTML(false)
	found, err := census.Diff(before, after, choice, p.change)
	if p.err != nil {
		return p.err
	}
	if err != nil {
		return censusfile.Failure(err)
	}
	switch {
	case o.Quiet:
	case o.Stat && o.JSON:
		if err := p.writeJSON(found); err != nil {
			return err
		}
	case !o.JSON:
		writePage(p.out, found, &o, &p.important)
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	if !o.Quiet {
		sayDoubts(t, found, &o)
	}
	if err := censusfile.NotWhole(append(before.Lost, after.Lost...)); err != nil {
		return err
	}
	if p.changes > 0 && (o.ExitCode || o.Quiet) {
		f := console.Fail(console.ExitChanged, "something changed")
		f.Reported = true
		return f
	}
	return nil
}

// sayDoubts prints what the comparison could not know.
func sayDoubts(t *console.Terminal, c *census.Comparison, o *Options) {
	if c.Unknown > 0 {
		t.Say("%s may be in what the old census lacks: nothing shows whether they are new", console.Plural(c.Unknown, "server"))
	}
	if n := c.Changes["not_asked"]; n > 0 && c.AskedKnown == "" {
		t.Say("%s missing in the new census, and nothing shows whether they were asked", console.Plural(n, "server"))
		t.Hint("scan --unanswered records silent servers, which proves who was asked")
	}
	if c.LikelyLost != nil && *c.LikelyLost >= 0.5 {
		t.Say("the new scan lost datagrams: about %.0f of the %s that are gone are probably there", *c.LikelyLost,
			console.Plural(c.Changes["gone"], "server"))
	}
}

// printer prints changes.
type printer struct {
	out       *bufio.Writer
	o         *Options
	important Important // for the page
	line      bytes.Buffer
	enc       *json.Encoder
	changes   uint64 // number of changes so far
	err       error  // first error of writing to out
}

// change counts a change. It prints the change as JSON, or keeps it for the page.
func (p *printer) change(c *census.Change) error {
	p.changes++
	switch {
	case p.o.Quiet || p.o.Stat:
		return nil
	case !p.o.JSON:
		p.important.Add(c)
		return nil
	}
	return p.writeJSON(c)
}

// writeJSON writes a line whose invisible characters are escaped.
func (p *printer) writeJSON(v any) error {
	p.line.Reset()
	if err := p.enc.Encode(v); err != nil {
		return err
	}
	line := console.Visible(bytes.TrimSuffix(p.line.Bytes(), []byte("\n")))
	p.out.Write(line)
	p.err = p.out.WriteByte('\n') // bufio.Writer keeps its first error
	return p.err
}
