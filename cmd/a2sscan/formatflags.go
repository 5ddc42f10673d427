package main

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/columns"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// formatFlags choose the format of records.
type formatFlags struct {
	format string
	json   bool
	fields []string
	color  string
}

func (f *formatFlags) add(fs *pflag.FlagSet, byDefault string) {
	fs.StringVar(&f.format, "format", "", "format of the records: `WORD` is json, text, csv or tsv (default "+byDefault+")")
	fs.StringSliceVarP(&f.fields, "fields", "f", nil, "write only these fields: a `LIST` such as addr,people,info.map")
	fs.BoolVar(&f.json, "json", false, "the same as --format json")
	fs.StringVar(&f.color, "color", "auto", "use colours: `WORD` is auto (on a terminal), always or never")
}

// chosen returns the format that the flags choose; empty if they choose none.
func (f *formatFlags) chosen() columns.Format {
	if f.json && f.format == "" {
		return columns.JSON
	}
	return columns.Format(f.format)
}

// check returns an error if a flag is invalid or flags contradict each other.
func (f *formatFlags) check() error {
	return console.FirstBroken(
		console.Rule{Broken: f.json && f.format != "" && f.format != "json", Err: "--json and --format " + f.format + " exclude each other",
			Hint: "--json is the same as --format json"},
		console.Rule{Broken: !slices.Contains(console.Colors, f.color), Err: "--color: want auto, always or never",
			Hint: "NO_COLOR=1 in the environment is --color never everywhere"},
	)
}
