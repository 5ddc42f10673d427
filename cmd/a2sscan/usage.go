package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func init() {
	cobra.AddTemplateFunc("flagsFor", flagsFor)
	cobra.AddTemplateFunc("flagGroups", flagGroups)
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

// flagGroup are flags that stand together in a help.
type flagGroup struct{ Title, Usages string }

// scanGroups are the groups of scan, which has more flags than fit on a screen.
// What is in none stands under "Other flags".
var scanGroups = []struct{ title, names string }{
	{"Targets", "port order seed shard strict resolve max-targets max-per-address exclude exclude-file " +
		"allow-reserved master keep-master"},
	{"Questions", "query timeout retries second-look cooldown"},
	{"Speed", "rate per-address-rate in-flight source"},
	{"Output", "output append force rotate summary scan-id unanswered raw mmdb"},
	{"Going on, and stopping", "checkpoint fresh min-hitrate max-send-errors max-runtime"},
	{"Watching", "status quiet dry-run metrics log-file log-format log-level"},
}

// flagGroups are the flags of a command that have no annotation.
func flagGroups(cmd *cobra.Command) (groups []flagGroup) {
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	rest.SortFlags = false
	placed := map[string]bool{}
	if cmd.CommandPath() == "a2sscan scan" {
		for _, g := range scanGroups {
			some := pflag.NewFlagSet("", pflag.ContinueOnError)
			some.SortFlags = false
			for _, name := range strings.Fields(g.names) {
				some.AddFlag(cmd.Flag(name))
				placed[name] = true
			}
			groups = append(groups, flagGroup{g.title, some.FlagUsages()})
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if inGroup(f, "") && !placed[f.Name] {
			rest.AddFlag(f)
		}
	})
	switch {
	case !rest.HasAvailableFlags():
	case len(groups) > 0:
		groups = append(groups, flagGroup{"Other flags", rest.FlagUsages()})
	default:
		groups = append(groups, flagGroup{"Flags", rest.FlagUsages()})
	}
	return groups
}
