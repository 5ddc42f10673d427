package censusfile

import (
	"bufio"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/columns"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/geo"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// printer prints records.
type printer struct {
	term      *console.Terminal
	out       *bufio.Writer
	visible   bool // escape invisible characters
	keep      func(line []byte) bool
	table     *columns.Table // nil: records are printed unchanged
	databases geo.Databases
	located   []byte // the last record, with its location

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
	p := &printer{
		term: t, out: bufio.NewWriterSize(out, 1<<16), visible: how.Visible, keep: how.Keep, table: how.Table, databases: how.Databases,
	}
	if how.Games {
		p.games = new(scanner.Interpreter)
	}
	if p.table != nil {
		p.out.Write(p.table.Header())
	}
	var read []census.Reading
	for _, name := range files {
		one, err := p.file(name)
		if err != nil {
			p.out.Flush()
			return err
		}
		read = append(read, one)
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	return Lost(t, read, false)
}

// file prints the records of one file.
func (p *printer) file(name string) (census.Reading, error) {
	r, err := store.Source().Open(name)
	if err != nil {
		return census.Reading{}, Failure(err)
	}
	defer r.Close()
	read, err := Each(name, r, func(_ int, line []byte) error { return p.print(line) })
	if err == nil && read.Records == 0 && !beginsRecord(r.Rest()) {
		return read, noCensus(name)
	}
	return read, err // run in package main gives an error of writing its exit code
}

// print prints one record.
func (p *printer) print(line []byte) error {
	if p.keep != nil && !p.keep(line) {
		return nil
	}
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
