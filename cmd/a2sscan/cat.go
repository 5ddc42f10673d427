package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/census"
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
		Long: `Prints the records of files that scan wrote, compressed or not, one per line.
A FILE may be s3://BUCKET/KEY, or s3://BUCKET/PREFIX/ for all parts below it.
If a file is truncated, cat leaves out the partial record at its end and says
so. On a terminal it shows invisible characters of names as \u escapes. With
--mmdb each record says where its server is according to that database, in place
of what it said before. With --decode-games, records of earlier versions say
what their answers mean: they get the keys game and flags.`,
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
		RunE: func(_ *cobra.Command, args []string) error { return a.cat(f, args) },
	}
	f.formatFlags.add(cmd.Flags(), "text on a terminal, else json")
	addGeoFlag(cmd.Flags(), &f.databases)
	cmd.Flags().BoolVar(&f.games, "decode-games", false, "add game and flags to records that have neither")
	return cmd
}

// addGeoFlag adds the flag for databases of places and networks.
func addGeoFlag(fs *pflag.FlagSet, files *[]string) {
	fs.StringArrayVar(files, "mmdb", nil, "say in each record where its server is, by the database in `FILE` (MaxMind's format: GeoLite2, DB-IP, IPinfo); may be repeated: City and ASN")
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
	table, err := output.Shown(a.out.w, f.chosen(), f.fields, console.UseColor(f.color, a.out.w))
	if err != nil {
		return err
	}
	return census.Print(a.term, a.out, files, census.Printing{
		Databases: databases, Visible: console.IsTerminal(a.out.w), Table: table, Games: f.games,
	})
}
