package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/census"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/geo"
)

func (a *app) catCommand() *cobra.Command {
	var mmdb []string
	var games bool
	cmd := &cobra.Command{
		Use:   "cat FILE…",
		Short: "Print the records of census files",
		Long: `Prints the records of files that scan wrote, compressed or not, one per line.
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
		RunE: func(_ *cobra.Command, args []string) error { return a.cat(args, mmdb, games) },
	}
	addGeoFlag(cmd.Flags(), &mmdb)
	cmd.Flags().BoolVar(&games, "decode-games", false, "add game and flags to records that have neither")
	return cmd
}

// addGeoFlag adds the flag that names databases of places.
func addGeoFlag(fs *pflag.FlagSet, files *[]string) {
	fs.StringArrayVar(files, "mmdb", nil, "say in each record where its server is, by the database in `FILE` (MaxMind's format: GeoLite2, DB-IP, IPinfo); may be repeated: City and ASN")
}

// cat prints the records of files.
func (a *app) cat(files, mmdb []string, games bool) error {
	databases, err := geo.Open(mmdb)
	if err != nil {
		return err
	}
	return census.Print(a.term, a.out, files, census.Printing{
		Databases: databases, Visible: console.IsTerminal(a.out.w), Games: games,
	})
}
