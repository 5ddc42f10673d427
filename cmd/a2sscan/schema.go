package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema json|duckdb|clickhouse|stats [FILE]",
		Short: "Print the schema of the record",
		Long: `Prints every key that a record can have, with its type. Programs that guess
types from the first records lose rare keys; a schema prevents this loss.

  json        a JSON Schema (draft 2020-12) of the record
  duckdb      a read_json call with columns, for FILE (default census.ndjson)
  clickhouse  a CREATE TABLE statement
  stats       a JSON Schema of what a2sscan stats prints`,
		Example: `  a2sscan schema json > record.schema.json
  a2sscan schema duckdb census.ndjson.zst | duckdb
  a2sscan schema clickhouse | clickhouse-client`,
		ValidArgs: []string{"json", "duckdb", "clickhouse", "stats"},
		RunE: func(_ *cobra.Command, args []string) error {
			kind, file := "", "census.ndjson"
			if len(args) > 0 {
				kind = args[0]
			}
			if len(args) > 1 {
				file = args[1]
			}
			var text string
			switch {
			case len(args) == 0:
				return console.Fail(console.ExitUsage, "schema needs a format").WithHint("choose json, duckdb, clickhouse or stats, such as: a2sscan schema json")
			case len(args) > 2 || len(args) == 2 && kind != "duckdb":
				return console.Fail(console.ExitUsage, "too many arguments: %s", console.Quoted(strings.Join(args, " "), 60)).
					WithHint("name at most one FILE, and only after duckdb")
			case kind == "json":
				text = string(record.JSONSchema())
			case kind == "duckdb":
				text = record.DuckDB(file)
			case kind == "clickhouse":
				text = record.ClickHouse()
			case kind == "stats":
				text = string(census.StatsSchema())
			default:
				return console.Fail(console.ExitUsage, "schema has no format %s", console.Quoted(kind, 40)).
					WithHint("choose json, duckdb, clickhouse or stats")
			}
			_, err := io.WriteString(a.out, text)
			return err
		},
	}
}
