package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/columns"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/geo"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
)

// catFlags are the flags of cat.
type catFlags struct {
	formatFlags
	databases []string
	games     bool
}

func (a *app) catCommand() *cobra.Command {
	f := &catFlags{}
	cmd := &cobra.Command{
		Use:   "cat FILE…",
		Short: "Print the records of census files",
		Long: `Prints the records of census files, plain or compressed: as a table on a
terminal, otherwise as one line of JSON per record. --format chooses another
format, and --fields the fields. FILE - is standard input. A FILE may be
s3://BUCKET/KEY, or s3://BUCKET/PREFIX/ for all census files below that prefix.

--fields also accepts three fields that cat computes: people, capacity and bots.
It takes them from the game's own numbers (the key game) if the record has them,
and otherwise from the key info. people does not count bots, but info.players
does.

If a file is truncated, cat omits the partial record at its end and reports
this. On a terminal it shows invisible characters in names as \u escapes.

--mmdb adds the location or network of each address, and replaces a location or
network that the scan recorded. --decode-games adds the keys game and flags to
records that an earlier version of a2sscan wrote without them.`,
		Example: `  a2sscan cat census.ndjson.zst -f addr,info.map,info.name --format csv
  a2sscan cat monday.ndjson.zst tuesday.ndjson.zst | wc -l
  a2sscan cat census.ndjson.zst | jq -c 'select(.info.map == "de_dust2")' |
      a2sscan cat - -f addr,people,info.name --format csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Fail(console.ExitUsage, "cat needs a file").
					WithHint("a2sscan cat census.ndjson.zst")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.cat(f, args) },
	}
	f.formatFlags.add(cmd.Flags(), "text on a terminal, else json")
	addGeoFlag(cmd.Flags(), &f.databases)
	cmd.Flags().BoolVar(&f.games, "decode-games", false, "add the keys game and flags to records that have neither")
	return cmd
}

// addGeoFlag adds the flag for databases of locations and networks.
func addGeoFlag(fs *pflag.FlagSet, files *[]string) {
	fs.StringArrayVar(files, "mmdb", nil, "add the location or network of each address from the database in `FILE`, in MaxMind's format (GeoLite2, DB-IP, IPinfo); may be repeated")
}

// cat prints the records of files.
func (a *app) cat(f *catFlags, files []string) error {
	if err := f.check(); err != nil {
		return err
	}
	databases, err := geo.Open(f.databases)
	if err != nil {
		return err
	}
	table, err := output.Shown(a.out.w, columns.Format(f.format), f.fields, console.UseColor(f.color, a.out.w))
	if err != nil {
		return err
	}
	return censusfile.Print(a.term, a.out, files, censusfile.Printing{
		Databases: databases, Visible: console.IsTerminal(a.out.w), Table: table, Games: f.games,
	})
}
