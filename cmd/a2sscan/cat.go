package main

import (
	"bufio"
	"errors"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

func (a *app) catCommand() *cobra.Command {
	var mmdb []string
	cmd := &cobra.Command{
		Use:   "cat FILE…",
		Short: "Print the records of census files",
		Long: `Prints the records of files that scan wrote, compressed or not, one a line.
What a torn file holds after its last whole record is left out and said. On a
terminal, invisible characters of names are shown as \u escapes. With --mmdb
each record says where its server is by that database, whatever it said before.`,
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

func (a *app) cat(files, mmdb []string) error {
	bases, err := openGeo(mmdb)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(a.out, 1<<16)
	var damaged error
	for _, name := range files {
		damage, err := a.catFile(out, name, bases)
		if err != nil {
			out.Flush()
			return err
		}
		if damage.Found() && damaged == nil {
			damaged = damageFailure(name, damage)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return damaged
}

func (a *app) catFile(out *bufio.Writer, name string, bases geoBases) (sink.Damage, error) {
	r, err := sink.Open(name)
	if err != nil {
		return sink.Damage{}, readFailure(err)
	}
	defer r.Close()
	shown := isTerminal(a.out.w)
	var located []byte
	for some := false; ; some = true {
		line, err := r.Next()
		if errors.Is(err, sink.ErrNotCensus) || !some && err == io.EOF && !beginsRecord(r.Rest()) {
			return sink.Damage{}, noCensus(name)
		}
		if err == io.EOF {
			a.sayTorn(name, r.Torn())
			return r.Damage(), nil
		}
		if err != nil {
			return sink.Damage{}, readFailure(err)
		}
		if bases != nil {
			located = a.locate(located[:0], line, bases)
			line = located
		}
		if shown {
			line = console.Visible(line)
		}
		out.Write(line)
		if err := out.WriteByte('\n'); err != nil {
			return sink.Damage{}, err // run gives it its exit code
		}
	}
}

// damageFailure is the error of a census of which something could not be read.
func damageFailure(name string, d sink.Damage) error {
	return console.Fail(console.ExitNumbers, "%s is damaged: passed over %s", console.Plain(name, 200), d).
		WithHint("other damage shows in a2sscan verify only")
}

// beginsRecord reports whether what came of a file that holds no whole line may
// be of a record, or is nothing at all.
func beginsRecord(rest []byte) bool { return len(rest) == 0 || rest[0] == '{' }

func noCensus(name string) error {
	return console.Fail(console.ExitInput, "%s is no census: it does not begin with a record", console.Plain(name, 200)).
		WithHint("cat reads what scan wrote: a line of JSON for each server, compressed or not")
}

// locate appends a line with what the databases say, if it is a record.
func (a *app) locate(dst, line []byte, bases geoBases) []byte {
	dst, err := record.Locate(dst, line, bases.geo)
	if err != nil {
		return append(dst, line...)
	}
	bases.sayDamaged(a.Terminal)
	return dst
}

// readFailure gives an error of reading a census its exit code and hint.
func readFailure(err error) error {
	var s *sink.Error
	if !errors.As(err, &s) {
		return console.Fail(console.ExitInput, "%w", err)
	}
	return console.Fail(console.ExitInput, "%s", sinkError(s)).WithHint("%s", s.Hint)
}

func (a *app) sayTorn(name string, n int64) {
	if n > 0 {
		a.Say("%s: torn: %d bytes after the last whole record left out", console.Plain(name, 200), n)
	}
}
