package main

import (
	"bufio"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/geo"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

func (a *app) catCommand() *cobra.Command {
	var mmdb []string
	cmd := &cobra.Command{
		Use:   "cat FILE…",
		Short: "Print the records of census files",
		Long: `Prints the records of files that scan wrote, compressed or not, one per line.
If a file is truncated, cat leaves out the partial record at its end and says
so. On a terminal it shows invisible characters of names as \u escapes. With
--mmdb each record says where its server is according to that database, in place
of what it said before.`,
		Example: `  a2sscan cat census.ndjson.zst | head -n 1
  a2sscan cat monday.ndjson.zst tuesday.ndjson.zst | wc -l
  a2sscan cat census.ndjson.zst | jq -r 'select(.info.players > 0) | .info.name'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Fail(console.ExitUsage, "cat needs a file").
					WithHint("a2sscan cat census.ndjson.zst")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.cat(args, mmdb) },
	}
	addGeoFlag(cmd.Flags(), &mmdb)
	return cmd
}

// addGeoFlag adds the flag that names databases of places.
func addGeoFlag(fs *pflag.FlagSet, files *[]string) {
	fs.StringArrayVar(files, "mmdb", nil, "say in each record where its server is, by the database in `FILE` (MaxMind's format: GeoLite2, DB-IP, IPinfo); may be repeated: City and ASN")
}

// catRun is one run of cat.
type catRun struct {
	term      *console.Terminal
	out       *bufio.Writer
	visible   bool // escape invisible characters, because a person reads
	databases geo.Databases
	located   []byte // the last record with its place
}

func (a *app) cat(files, mmdb []string) error {
	databases, err := geo.Open(mmdb)
	if err != nil {
		return err
	}
	c := &catRun{
		term: a.Terminal, out: bufio.NewWriterSize(a.out, 1<<16),
		visible: isTerminal(a.out.w), databases: databases,
	}
	var damaged error
	for _, name := range files {
		damage, err := c.file(name)
		if err != nil {
			c.out.Flush()
			return err
		}
		if damage.Found() && damaged == nil {
			damaged = damageFailure(name, damage)
		}
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	return damaged
}

// file prints the records of one file and returns what it could not read.
func (c *catRun) file(name string) (sink.Damage, error) {
	r, err := sink.Open(name)
	if err != nil {
		return sink.Damage{}, readFailure(err)
	}
	defer r.Close()
	for first := true; ; first = false {
		line, err := r.Next()
		if errors.Is(err, sink.ErrNotCensus) || first && err == io.EOF && !beginsRecord(r.Rest()) {
			return sink.Damage{}, noCensus(name)
		}
		if err == io.EOF {
			reportTail(c.term, name, r.Truncated())
			return r.Damage(), nil
		}
		if err != nil {
			return sink.Damage{}, readFailure(err)
		}
		if err := c.print(line); err != nil {
			return sink.Damage{}, err // run gives it its exit code
		}
	}
}

// damageFailure is the error of a census of which something could not be read.
func damageFailure(name string, d sink.Damage) error {
	return console.Fail(console.ExitNumbers, "%s is damaged: skipped %s", console.Plain(name, 200), d).
		WithHint("a2sscan verify finds other damage, too")
}

// print prints one record.
func (c *catRun) print(line []byte) error {
	if c.databases != nil {
		line = c.locate(line)
	}
	if c.visible {
		line = console.Visible(line)
	}
	c.out.Write(line)
	return c.out.WriteByte('\n')
}

// locate returns a record with the place that the databases give. What is no
// record stays as it is. The result is valid until the next call.
func (c *catRun) locate(line []byte) []byte {
	var err error
	if c.located, err = record.Locate(c.located[:0], line, c.databases.Lookup); err != nil {
		return line
	}
	c.databases.ReportDamage(c.term)
	return c.located
}

// beginsRecord reports whether the content of a file without a complete line
// may be the beginning of a record. An empty file counts.
func beginsRecord(rest []byte) bool { return len(rest) == 0 || rest[0] == '{' }

func noCensus(name string) error {
	return console.Fail(console.ExitInput, "%s is no census: it does not begin with a record", console.Plain(name, 200)).
		WithHint("cat reads what scan wrote: one line of JSON per server, compressed or not")
}
