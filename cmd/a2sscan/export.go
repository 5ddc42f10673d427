package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/export"
)

func (a *app) exportCommand() *cobra.Command {
	var o export.Options
	cmd := &cobra.Command{
		Use:   "export CENSUS…",
		Short: "Write a census as a Parquet or CSV table",
		Long: `Writes the records of censuses as one table, sorted by address. The suffix of
--output chooses the format: .parquet or .csv.

A Parquet file has the columns that a2sscan schema duckdb prints. Rules and
attributes are maps, players are lists, and Steam IDs are 64-bit integers. In
CSV, and in Parquet with --flat, every value has a column of its own: nested
keys are joined with an underscore (info_name), and lists and maps are omitted.
In CSV, export puts an apostrophe before text that a spreadsheet would take for
a formula.

With --partition the output is a folder of Parquet files: one per day, per game,
or per day and game. Hive, Spark and DuckDB read this layout:
census/date=2026-11-22/app_id=730/NAME.parquet. NAME is the name of the first
census file, without its suffix.

Memory use hardly grows with the size of the census. Sorting needs disk space in
TMPDIR.`,
		Example: `  a2sscan export census.ndjson.zst -o census.parquet
  a2sscan export --partition date,app_id monday.ndjson.zst -o census
  a2sscan export census.ndjson.zst -o census.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Fail(console.ExitUsage, "export needs a census").
					WithHint("a2sscan export census.ndjson.zst -o census.parquet")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			o.Files = args
			version, commit := buildVersion()
			o.Creator = fmt.Sprintf("a2sscan version %s (build %s)", version, commit)
			return export.Export(a.term, o)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&o.Output, "output", "o", "", "write the table to `PATH`: a file or s3://BUCKET/KEY that ends in .parquet or .csv, or with --partition a folder")
	fs.BoolVar(&o.Force, "force", false, "replace existing files")
	fs.BoolVar(&o.Flat, "flat", false, "write one column per value, without lists and maps")
	fs.StringSliceVar(&o.Partition, "partition", nil, "write Parquet files in one folder per value of these `KEYS`: date, app_id, or date,app_id")
	return cmd
}
