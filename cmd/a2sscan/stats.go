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
	cmd := &cobra.Command{
		Use:   "stats CENSUS…",
		Short: "Sum up a census as JSON",
		Long: `Prints the aggregates of one census, the same that scan writes beside it:
servers and people by game, map, version, mode, system, country and network;
round trips, capacity and fill; errors; flags; farms; and how much the scan
probably missed. Several files are one census: parts and shards, in any order.
Long lists are cut, and the rest is summed. a2sscan schema stats describes the
keys.`,
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
			return compare.ToFile(output, args, func(out *os.File) error { return compare.Stats(a.term, out, args, summaries) })
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&output, "output", "o", "-", "write to `FILE` or s3://BUCKET/KEY; -: standard output")
	cmd.Flags().StringArrayVar(&summaries, "summary", nil,
		"`FILE` with the numbers of the scan (default: those beside the files)")
	return cmd
}
