package main

import (
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/export"
)

func (a *app) exportCommand() *cobra.Command {
	var o export.Options
	cmd := &cobra.Command{
		Use:   "export CENSUS…",
		Short: "Write a census as a Parquet table",
		Long: `Writes the records of censuses as one Parquet table, sorted by address. The
table has the columns that a2sscan schema duckdb prints: rules and attributes
are maps, sorted by name, players are lists, and Steam IDs are 64-bit integers.

a2sscan cat --format csv writes CSV. DuckDB divides a table into one file per
game or day: COPY … TO … (FORMAT parquet, PARTITION_BY …).

While it sorts, export holds the records uncompressed in a temporary file beside
the output, about 2 kB each.`,
		Example: `  a2sscan export census.ndjson.zst -o census.parquet
  a2sscan export census-*.ndjson.zst -o census.parquet --force`,
		Args: wantArgs(1, 0, "export needs a census", "a2sscan export census.ndjson.zst -o census.parquet"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.Files, o.Version, o.Build = args, thisBuild().Version, thisBuild().Commit
			return export.Export(a.term, o)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.Output, "output", "o", "", "write the table to `PATH`, which ends in .parquet")
	fs.BoolVar(&o.Force, "force", false, "replace an existing file")
	addGameFlag(fs, &o.Games)
	return cmd
}
