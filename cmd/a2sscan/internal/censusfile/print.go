package censusfile

import (
	"bufio"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Printing says how to print records.
type Printing struct {
	Databases Databases // nil means that no locations are added
	Visible   bool      // whether to escape invisible characters
	Table     *Table    // nil means that records are printed unchanged

	// Keep reports whether to print a record, of which it gets the unchanged line. Nil
	// means that all records are printed.
	Keep func(line []byte) bool
}

// Print prints the records of files to out. A line that is not a record is printed
// unchanged. If a file is damaged, Print returns an error after printing the readable
// records.
func Print(t *console.Terminal, out io.Writer, files []string, how Printing) error {
	w := bufio.NewWriterSize(out, 1<<16)
	if how.Table != nil {
		w.Write(how.Table.Header())
	}
	var located []byte // memory for the record with its location
	print := func(_ int, line []byte) error {
		if how.Keep != nil && !how.Keep(line) {
			return nil
		}
		if how.Databases != nil {
			if with, err := record.Locate(located[:0], line, how.Databases.Lookup); err == nil {
				located, line = with, with
				how.Databases.ReportDamage(t)
			}
		}
		switch {
		case how.Table != nil:
			line = how.Table.Row(line)
		case how.Visible:
			line = console.Visible(line)
		}
		w.Write(line)
		return w.WriteByte('\n') // package main chooses the exit code for this error
	}
	var read []census.Reading
	for _, name := range files {
		one, err := EachOf(name, print)
		if err != nil {
			w.Flush()
			return err
		}
		read = append(read, one)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return Lost(t, read, false)
}
