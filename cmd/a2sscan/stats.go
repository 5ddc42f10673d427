package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/compare"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

func (a *app) statsCommand() *cobra.Command {
	var summaries []string
	var output string
	var force bool
	cmd := &cobra.Command{
		Use:   "stats CENSUS…",
		Short: "Print the aggregates of a census as JSON",
		Long: `Prints the aggregates of a census as JSON: servers and people by game, map,
version, mode, operating system, country and network; round trips, capacity, and
how full servers are; errors; suspicious answers (flags); groups of servers that
seem to be fake (farms); and an estimate of how many servers the scan missed.
For groups such as games and maps, the key top lists the largest and the key
other sums up the rest. Long lists elsewhere are cut off. a2sscan schema stats
describes the keys.

stats reads several files as one census: name all that scan --rotate or --shard
wrote, in any order.`,
		Example: `  a2sscan stats census.ndjson.zst | jq .all
  a2sscan stats census-20261120T030000Z-*.ndjson.zst -o night.stats.json
  a2sscan stats census.ndjson.zst | jq -r '.games.top[] | [.id, .people] | @tsv'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Fail(console.ExitUsage, "stats needs a file").WithHint("a2sscan stats census.ndjson.zst")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if output == "-" || output == "" {
				return compare.Stats(a.term, a.out, args, summaries)
			}
			result := compare.Result{Name: output, Kind: compare.StatsFile, Force: force}
			return result.Write(args, func(out *os.File) error { return compare.Stats(a.term, out, args, summaries) })
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&output, "output", "o", "-", "write to `FILE` or s3://BUCKET/KEY; -: standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that stats did not write")
	cmd.Flags().StringArrayVar(&summaries, "summary", nil,
		"read the summary of a scan from `FILE`; may be repeated (default: the summaries beside the files)")
	return cmd
}
