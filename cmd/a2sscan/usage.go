package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

func init() {
	cobra.AddTemplateFunc("withMaster", withMaster)
	cobra.AddTemplateFunc("flagGroups", flagGroups)
	cobra.AddTemplateFunc("exitCodes", console.ExitHelp)
}

// inGroup reports whether a flag has an annotation; without one, whether it has
// none.
func inGroup(f *pflag.Flag, annotation string) bool {
	_, has := f.Annotations[annotation]
	return has || annotation == "" && len(f.Annotations) == 0
}

// flagGroup are flags that stand together in a help and in a page for man.
type flagGroup struct {
	Title string
	flags []*pflag.Flag
	width int // columns of the help
}

// Usages returns their help, wrapped at words.
func (g flagGroup) Usages() string {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	for _, f := range g.flags {
		set.AddFlag(f)
	}
	return set.FlagUsagesWrapped(g.width)
}

// The width of a help, and of other prose on standard output: that of its terminal, unless lines would be too long to
// be read with ease, and of a usual one where somebody pages it.
const (
	usualHelp  = 80
	widestHelp = 120
)

// helpWidth is how many columns a help has that is written to w.
func helpWidth(w io.Writer) int {
	if r, ok := w.(*results); ok {
		w = r.w
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return usualHelp
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 2 {
		return usualHelp
	}
	return min(width, widestHelp)
}

// scanGroups are the groups of scan, which has more flags than fit on a screen.
// What is in none stands under "Other flags".
var scanGroups = []struct{ title, names string }{
	{"Targets", "port order seed shard strict resolve max-targets max-per-address exclude exclude-file " +
		"allow-reserved master keep-master"},
	{"Questions", "query timeout retries second-look fallback cooldown"},
	{"Speed", "rate per-address-rate in-flight source no-gso"},
	{"Output", "output append force format json fields color rotate summary scan-id unanswered raw no-player-names player-key mmdb"},
	{"Going on, and stopping", "checkpoint fresh min-hitrate max-send-errors max-runtime"},
	{"Watching", "status verbose quiet dry-run metrics log-file log-format log-level"},
}

// withMaster are the flags that are of use with --master only, as the help
// says them.
func withMaster(cmd *cobra.Command) string {
	return flagGroup{flags: annotated(cmd, forMaster), width: helpWidth(cmd.Root().OutOrStdout())}.Usages()
}

// annotated are the flags of a command with an annotation that somebody is to
// see; without one, those that have none.
func annotated(cmd *cobra.Command, annotation string) (flags []*pflag.Flag) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if inGroup(f, annotation) && !f.Hidden {
			flags = append(flags, f)
		}
	})
	return flags
}

// flagGroups are the flags of a command that have no annotation.
func flagGroups(cmd *cobra.Command) (groups []flagGroup) {
	width, placed := helpWidth(cmd.Root().OutOrStdout()), map[string]bool{}
	if cmd.CommandPath() == "a2sscan scan" {
		for _, of := range scanGroups {
			g := flagGroup{Title: of.title, width: width}
			for _, name := range strings.Fields(of.names) {
				g.flags = append(g.flags, cmd.Flag(name))
				placed[name] = true
			}
			groups = append(groups, g)
		}
	}
	rest := flagGroup{Title: "Flags", width: width}
	if len(groups) > 0 {
		rest.Title = "Other flags"
	}
	for _, f := range annotated(cmd, "") {
		if !placed[f.Name] {
			rest.flags = append(rest.flags, f)
		}
	}
	if len(rest.flags) > 0 {
		groups = append(groups, rest)
	}
	return groups
}
