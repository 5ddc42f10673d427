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
	p := newPrinter(out, &o)
	found, err := census.Diff(before, after, choice, p.change)
	if err != nil {
		return failure(p, err)
	}
	if err := p.end(found); err != nil {
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

// failure returns the error of a comparison. An error of the output takes
// precedence.
func failure(p *printer, err error) error {
	if p.err != nil {
		return p.err
	}
	return censusfile.Failure(err)
}

// sayDoubts prints what the comparison could not know.
func sayDoubts(t *console.Terminal, c *census.Comparison, o *Options) {
	if c.Unknown > 0 {
		t.Say("%s in what the old census lacks: nothing shows whether they are new", mayBe(c.Unknown))
	}
	if n := c.Changes["not_asked"]; n > 0 && c.AskedKnown == "" {
		t.Say("%s in the new census, and nothing shows whether they were asked", missing(n))
		t.Hint("scan --unanswered records silent servers, which proves who was asked")
	}
	if c.LikelyLost != nil && *c.LikelyLost >= 0.5 {
		t.Say("the new scan lost datagrams: about %.0f of the %s that are gone are probably there", *c.LikelyLost,
			console.Plural(c.Changes["gone"], "server"))
	}
}

func mayBe(n uint64) string {
	if n == 1 {
		return "1 server may be"
	}
	return console.Grouped(n) + " servers may be"
}

func missing(n uint64) string {
	if n == 1 {
		return "1 server is not"
	}
	return console.Grouped(n) + " servers are not"
}

// printer prints changes.
type printer struct {
	out     *bufio.Writer
	o       *Options
	page    *page
	line    bytes.Buffer
	enc     *json.Encoder
	changes uint64 // number of changes so far
	err     error  // first error of writing to out
}

func newPrinter(out io.Writer, o *Options) *printer {
	p := &printer{out: bufio.NewWriterSize(out, 64<<10), o: o, page: newPage(o.PageWidth)}
	p.enc = json.NewEncoder(&p.line)
	p.enc.SetEscapeHTML(false)
	return p
}

// change counts a change. It prints the change as JSON, or keeps it for the page.
func (p *printer) change(c *census.Change) error {
	p.changes++
	switch {
	case p.o.Quiet || p.o.Stat:
		return nil
	case !p.o.JSON:
		p.page.important.Add(c)
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

// end prints what comes after the changes: the numbers or the page.
func (p *printer) end(c *census.Comparison) error {
	switch {
	case p.o.Quiet:
	case p.o.Stat && p.o.JSON:
		if err := p.writeJSON(c); err != nil {
			return err
		}
	case !p.o.JSON:
		p.page.write(p.out, c, p.o)
	}
	return p.out.Flush()
}
