package censusfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Printing specifies which records to print, and how.
type Printing struct {
	Choice    Choice
	Order     Order
	Databases Databases // nil means that no locations are added
	Visible   bool      // whether to escape invisible characters
	Table     *Table    // nil means that records are printed unchanged
}

type printer struct {
	how     *Printing
	keep    func(line []byte) (bool, error)
	table   *Table
	rank    func(line []byte) (ranked, error)
	reader  *record.Reader // reads records to which a location is added
	located []byte         // the latest record to which a location was added
}

func (how *Printing) printer() *printer {
	p := &printer{how: how, keep: how.Choice.keep(), reader: record.NewReader()}
	if how.Table != nil {
		p.table = how.Table.clone()
	}
	if how.Order.Field != "" {
		var fields []string
		if how.Table != nil {
			fields = how.Table.fields
		}
		p.rank = how.Order.ranker(how.Choice.farms, fields)
	}
	return p
}

// line formats a record as the line to print.
func (p *printer) line(line []byte) ([]byte, error) {
	if p.table != nil {
		return p.table.Row(line)
	}
	if err := p.check(line); err != nil {
		return nil, err
	}
	if p.how.Visible {
		return console.Visible(line), nil
	}
	return line, nil
}

// check returns the error that p.line would return.
func (p *printer) check(line []byte) error {
	if p.table == nil {
		return record.Check(line)
	}
	_, err := p.table.read(line)
	return err
}

// printed is the result of printer.block. The lines to print are in Block.Out or, if the
// records must be sorted, in printed.ranked.
type printed struct {
	records, chosen int
	bad             uint64
	why             error // the fault of one of the lines that are not records
	ranked          []ranked
}

// block makes the lines to print for a block of records.
func (p *printer) block(b *sink.Block) (made printed) {
	var sorted []ranked
	isBad := func(err error) bool {
		if err != nil {
			made.bad, made.why = made.bad+1, err
		}
		return err != nil
	}
	for _, line := range b.Lines() {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		made.records++
		if keep, err := p.keep(line); isBad(err) || !keep {
			continue
		}
		if p.how.Databases != nil {
			if rec, err := p.reader.Read(line); err == nil {
				p.located = rec.Locate(p.located[:0], p.how.Databases.Lookup)
				line = p.located
			}
		}
		if p.rank == nil {
			if text, err := p.line(line); !isBad(err) {
				made.chosen++
				b.Out = append(append(b.Out, text...), '\n')
			}
			continue
		}
		rank, err := p.rank(line)
		// A record that can't be printed must not take the place of another one.
		if err == nil && (p.table == nil || len(p.table.fields) == 0) {
			err = p.check(line)
		}
		if isBad(err) {
			continue
		}
		sorted = append(sorted, rank)
		if p.how.Databases != nil {
			p.located = nil // the memory now belongs to an element of sorted
		}
	}
	for _, r := range p.how.Order.first(sorted) {
		if text, err := p.line(r.line); !isBad(err) {
			r.line = bytes.Clone(text)
			made.ranked = append(made.ranked, r)
		}
	}
	return made
}

// Print makes pipe return errEnough when Order.Most lines have been printed.
var errEnough = errors.New("enough")

// Print prints the records of files to out. It returns damage as an error, after the records.
func Print(t *console.Terminal, out io.Writer, files []string, how *Printing) error {
	if err := how.prepare(files); err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 1<<16)
	if how.Table != nil {
		w.Write(how.Table.Header())
	}
	var read []census.Reading
	var sorted []ranked
	left := how.Order.Most
	for _, name := range files {
		var bad uint64
		var why error
		one, err := pipe(name, func() func(*sink.Block) printed { return how.printer().block }, func(b *sink.Block, made printed) (int, error) {
			how.Databases.ReportDamage(t)
			if made.bad > 0 {
				bad, why = bad+made.bad, made.why
			}
			if how.Order.Field != "" {
				if sorted = append(sorted, made.ranked...); how.Order.Most > 0 && len(sorted) > 2*how.Order.Most {
					sorted = how.Order.first(sorted)
				}
				return made.records, nil
			}
			lines := b.Out
			if how.Order.Most > 0 && made.chosen >= left {
				lines = bytes.Join(bytes.SplitAfterN(lines, []byte("\n"), left+1)[:left], nil)
			}
			if _, err := w.Write(lines); err != nil { // package main sets the exit code
				return made.records, err
			}
			if err := w.Flush(); err != nil { // the next block may come much later, from a scan that still runs
				return made.records, err
			}
			if left -= made.chosen; how.Order.Most > 0 && left <= 0 {
				return made.records, errEnough
			}
			return made.records, nil
		})
		if err == errEnough {
			return w.Flush()
		}
		if err != nil {
			w.Flush()
			return err
		}
		one.Bad, one.Why = bad, why
		read = append(read, one)
	}
	for _, r := range how.Order.first(sorted) {
		w.Write(r.line)
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return err
	}
	SayUnknown(t, how.Choice.Games, how.Choice.seen)
	return Lost(t, read)
}
