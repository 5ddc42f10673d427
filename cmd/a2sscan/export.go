package main

import (
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/export"
)

func (a *app) exportCommand() *cobra.Command {
	var o export.Options
	cmd := &cobra.Command{
		Use:   "export CENSUS…",
		Short: "Write a census as a Parquet or CSV table",
		Long: `Writes the records of censuses as a table, sorted by address. A Parquet file has
the columns that schema duckdb prints, with rules and attributes as MAP, players
as LIST and Steam IDs as 64-bit integers. CSV, and Parquet with --flat, has one
column per value: keys of objects are joined with an underscore (info_name), and
lists and maps are left out. In CSV an apostrophe precedes text that a
spreadsheet would take for a formula.

With --partition the output is a folder with a file per day, per game, or both,
as Hive, Spark and DuckDB read it:
census/date=2026-11-22/app_id=730/NAME.parquet.

Memory does not grow with the census; sorting needs room in TMPDIR.`,
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
			return export.Export(a.term, o)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&o.Output, "output", "o", "", "write the table to `PATH`: a file or an s3:// object that ends in .parquet or .csv, or with --partition a folder")
	fs.BoolVar(&o.Force, "force", false, "replace existing files")
	fs.BoolVar(&o.Flat, "flat", false, "write one column per value, without lists and maps")
	fs.StringSliceVar(&o.Partition, "partition", nil, "write a folder for each value of `KEYS`: date, app_id or both")
	return cmd
}
