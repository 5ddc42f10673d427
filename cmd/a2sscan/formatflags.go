package main

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// formatFlags choose the format of records.
type formatFlags struct {
	format string
	fields []string
	color  string
}

func (f *formatFlags) add(fs *pflag.FlagSet, byDefault string) {
	fs.StringVar(&f.format, "format", "", "format of the records: `WORD` is json, text, csv or tsv (default "+byDefault+")")
	fs.StringSliceVarP(&f.fields, "fields", "f", nil, "write only these fields: a `LIST` such as addr,people,info.map")
	fs.StringVar(&f.color, "color", "auto", "use colours: `WORD` is auto (on a terminal), always or never")
}

// check returns an error if a flag is invalid.
func (f *formatFlags) check() error {
	if !slices.Contains(console.Colors, f.color) {
		return console.Fail(console.ExitUsage, "--color: want auto, always or never").
			WithHint("NO_COLOR=1 in the environment is --color never everywhere")
	}
	return nil
}
