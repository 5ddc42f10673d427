package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func init() { cobra.AddTemplateFunc("flagsFor", flagsFor) }

// flagsFor are the usages of the flags with an annotation; without one, of
// those that have none.
func flagsFor(all *pflag.FlagSet, annotation string) string {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	all.VisitAll(func(f *pflag.Flag) {
		_, has := f.Annotations[annotation]
		if has || annotation == "" && len(f.Annotations) == 0 {
			some.AddFlag(f)
		}
	})
	return some.FlagUsages()
}
