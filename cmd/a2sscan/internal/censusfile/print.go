package censusfile

import (
	"bufio"
	"errors"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/columns"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/geo"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// printer prints records.
type printer struct {
	term      *console.Terminal
	out       *bufio.Writer
	visible   bool           // escape invisible characters
	table     *columns.Table // nil: records are printed unchanged
	databases geo.Databases
	located   []byte // the last record, with its location

	keep  func([]byte) bool
	games *scanner.Interpreter // nil: game and flags are not added
	known []byte               // the last record, with game and flags
}

// Printing says how to print records.
type Printing struct {
	Databases geo.Databases  // add locations; nil: add none
	Visible   bool           // escape invisible characters
	Table     *columns.Table // formats the records; nil: print them unchanged
	Games     bool           // add game and flags to records that have neither

	// Keep reports whether to print a record; nil: all are printed. It gets the line
	// before anything is added to it.
	Keep func(line []byte) bool
}

// Print prints the records of files to out. If a file is damaged, it returns an
// error after printing the readable records.
func Print(t *console.Terminal, out io.Writer, files []string, how Printing) error {
	files, err := Files(files)
	if err != nil {
		return err
	}
	p := &printer{
		term: t, out: bufio.NewWriterSize(out, 1<<16), visible: how.Visible, table: how.Table, databases: how.Databases,
		keep: how.Keep,
	}
	if how.Games {
		p.games = new(scanner.Interpreter)
	}
	if p.table != nil {
		p.out.Write(p.table.Header())
	}
	var damaged error
	for _, name := range files {
		damage, cut, err := p.file(name)
		if err != nil {
			p.out.Flush()
			return err
		}
		ReportTail(p.term, name, cut)
		switch {
		case damaged != nil:
		case damage.Found():
			damaged = DamageFailure(name, damage)
		case cut > 0:
			damaged = console.Fail(console.ExitNumbers, "%s is not complete", console.Plain(name, 200)).
				WithHint("a scan that is still running, or was killed, leaves such an end")
		}
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	return damaged
}

// file prints the records of one file. It returns the damage that it skipped, and the
// length of a partial record at the end.
func (p *printer) file(name string) (damage sink.Damage, cut int64, err error) {
	r, err := store.Source().Open(name)
	if err != nil {
		return damage, 0, Failure(err)
	}
	defer r.Close()
	for first := true; ; first = false {
		line, err := r.Next()
		if errors.Is(err, sink.ErrNotCensus) || first && err == io.EOF && !beginsRecord(r.Rest()) {
			return damage, 0, noCensus(name)
		}
		if err == io.EOF {
			return r.Damage(), r.Truncated(), nil
		}
		if err != nil {
			return damage, 0, Failure(err)
		}
		if p.keep != nil && !p.keep(line) {
			continue
		}
		if err := p.print(line); err != nil {
			return damage, 0, err // run in package main gives it its exit code
		}
	}
}

// print prints one record.
func (p *printer) print(line []byte) error {
	if p.games != nil {
		line = p.addGame(line)
	}
	if p.databases != nil {
		line = p.locate(line)
	}
	switch {
	case p.table != nil:
		line = p.table.Row(line)
	case p.visible:
		line = console.Visible(line)
	}
	p.out.Write(line)
	return p.out.WriteByte('\n')
}

// locate returns a record with the location that the databases have for its address. A
// line that is not a record is returned unchanged. The result is valid until the next
// call.
func (p *printer) locate(line []byte) []byte {
	var err error
	if p.located, err = record.Locate(p.located[:0], line, p.databases.Lookup); err != nil {
		return line
	}
	p.databases.ReportDamage(p.term)
	return p.located
}

// addGame returns a record with the keys game and flags, derived from its answers.
// A line that is not a record is returned unchanged. The result is valid until the
// next call.
func (p *printer) addGame(line []byte) []byte {
	var err error
	if p.known, err = record.AddGame(p.known[:0], line, p.games); err != nil {
		return line
	}
	return p.known
}

// beginsRecord reports whether rest may be the beginning of a record. rest is the
// content of a file without a complete line. An empty file counts.
func beginsRecord(rest []byte) bool { return len(rest) == 0 || rest[0] == '{' }

func noCensus(name string) error {
	return console.Fail(console.ExitInput, "%s is no census: it does not begin with a record", console.Plain(name, 200)).
		WithHint("cat reads what scan wrote: one line of JSON per server, compressed or not")
}
