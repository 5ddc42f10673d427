package main

import (
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
)

func (a *app) mergeCommand() *cobra.Command {
	o := censusfile.MergeOptions{Build: thisBuild(), Plan: func() censusfile.Plan { return new(scan.Plan) }}
	cmd := &cobra.Command{
		Use:   "merge PART…",
		Short: "Merge the shards of a scan into one census",
		Long: `Merges the censuses that scan --shard wrote on several machines into one census
with one summary. First it checks that the files belong together: all scans had
the same lists, targets, ports, questions, limits and exclusions; each shard
occurs once and is complete; each file has the length and hash in its summary; no
ip:port has two records; and the sums add up. If a check fails, merge says what
is wrong, writes nothing and exits with 8. Seed, scan ID and output may differ.
The files of one shard that scan --rotate wrote count as one part.`,
		Example: `  a2sscan merge shard-*.ndjson.zst -o all.ndjson.zst
  a2sscan merge shard-*.ndjson.zst -o all.ndjson.zst --force
  a2sscan merge shard-*.ndjson.zst --scan-id november -o all.ndjson.zst`,
		Args: wantArgs(1, 0, "merge needs the parts of a census", "a2sscan merge shard-*.ndjson.zst -o all.ndjson.zst"),
		RunE: func(_ *cobra.Command, args []string) error {
			if censusfile.SamePath(o.Summary, o.Output) {
				return console.Fail(console.ExitUsage, "--summary and --output name the same file").
					WithHint("omit --summary: the summary then goes to PATH.summary.json")
			}
			if err := censusfile.Overwritten("--summary", o.Summary, args); err != nil {
				return err
			}
			if err := censusfile.Overwritten("--output", o.Output, args); err != nil {
				return err
			}
			o.Files, o.Command = args, a.args
			return censusfile.Merge(a.term, o)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.Output, "output", "o", "-", "write records to `PATH`, compressed if it ends in .zst; -: standard output")
	fs.BoolVar(&o.Force, "force", false, "replace an existing output")
	fs.StringVar(&o.Summary, "summary", "", "write the summary to `FILE` as JSON (default with -o: PATH.summary.json)")
	fs.StringVar(&o.Scan, "scan-id", "", "name the scan `NAME` in every record (default: the name in the earliest part)")
	return cmd
}
