package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func init() {
	cobra.AddTemplateFunc("flagsFor", flagsFor)
	cobra.AddTemplateFunc("exitCodes", exitCodes)
}

// flagsFor are the usages of the flags with an annotation; without one, of
// those that have none.
func flagsFor(all *pflag.FlagSet, annotation string) string {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	all.VisitAll(func(f *pflag.Flag) {
		if inGroup(f, annotation) {
			some.AddFlag(f)
		}
	})
	return some.FlagUsages()
}

// inGroup reports whether a flag has an annotation; without one, whether it has
// none.
func inGroup(f *pflag.Flag, annotation string) bool {
	_, has := f.Annotations[annotation]
	return has || annotation == "" && len(f.Annotations) == 0
}
