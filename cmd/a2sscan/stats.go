package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
)

func (a *app) statsCommand() *cobra.Command {
	var o report.StatsOptions
	var databases []string
	var r report.Result
	cmd := &cobra.Command{
		Use:   "stats CENSUS…",
		Short: "Sum up a census",
		Long: `Prints the aggregates of a census: servers and people by game, map, version,
mode, operating system, country and network; round trips, capacity, and how full
servers are; errors; suspicious answers (flags); groups of servers that seem to
be fake (farms); and an estimate of how many servers the scan missed. On a
terminal it prints an overview, otherwise JSON. For groups such as games and
maps, the key "top" lists the largest groups, and the key "other" sums up the
rest. Other long lists are cut off. a2sscan schema stats describes the keys.
--by prints the groups of one kind as a table, also in a pipe. The groups with
the most servers come first. The last example below sorts all maps by people.

If the census is damaged, or lacks records that its summary counts, stats says
so first, sums up the rest, and exits with 8.

stats reads several files as one census: name all files that scan --rotate or
--shard wrote, in any order. FILE - is standard input. For example, this sums up
a census without fakes (a2sscan cat --help explains the words after --fakes):
a2sscan cat CENSUS --fakes without,unflagged --format json | a2sscan stats -`,
		Example: `  a2sscan stats census.ndjson.zst --by map --top 50
  a2sscan stats census-20261120T030000Z-*.ndjson.zst -o night.stats.json
  a2sscan stats census.ndjson.zst --top 1000000 |
      jq -r '.maps.top | sort_by(-.people)[:20][] | [.people, .servers, .name] | @tsv'`,
		Args: wantArgs(1, 0, "stats needs a file", "a2sscan stats census.ndjson.zst"),
		RunE: func(_ *cobra.Command, args []string) error {
			var err error
			if o.Databases, err = censusfile.OpenDatabases(databases); err != nil {
				return err
			}
			r.Stdout, r.Kind = a.out, report.StatsFile
			return r.Write(args, func(out io.Writer) error {
				o.Overview = out == a.out && console.IsTerminal(a.out.w)
				return report.Stats(a.term, out, args, o)
			})
		},
	}
	cmd.Flags().StringVarP(&r.Name, "output", "o", "-", "write to `FILE`; -: standard output")
	cmd.Flags().BoolVar(&r.Force, "force", false, "replace an existing FILE even if stats did not write it")
	cmd.Flags().StringArrayVar(&o.Summaries, "summary", nil,
		"read the summary of a scan from `FILE`; may be repeated (default: the summaries beside the census files)")
	cmd.Flags().StringVar(&o.By, "by", "", "print the largest groups of servers by `WORD`: "+strings.Join(report.GroupWords(), ", "))
	cmd.Flags().IntVar(&o.Top, "top", 0, "print at most `N` groups of each kind (default: 10 in an overview, 20 with --by, several hundred in JSON)")
	addGeoFlag(cmd.Flags(), &databases)
	addGameFlag(cmd.Flags(), &o.Games)
	return cmd
}

func addGameFlag(fs *pflag.FlagSet, games *[]string) {
	fs.StringSliceVar(games, "game", nil, "only servers of these `GAMES`, by ID or name, such as rust,cs2")
}
