package main

import "github.com/spf13/pflag"

// formatFlags choose the format of records.
type formatFlags struct {
	format string
	fields []string
}

func (f *formatFlags) add(fs *pflag.FlagSet, byDefault string) {
	fs.StringVar(&f.format, "format", "", "format of the records: `WORD` is json, text, csv or tsv (default "+byDefault+")")
	fs.StringSliceVarP(&f.fields, "fields", "f", nil, "write only these fields: a `LIST` such as addr,people,info.map")
}
