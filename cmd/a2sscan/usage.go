package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

func init() {
	cobra.AddTemplateFunc("flagGroups", flagGroups)
	cobra.AddTemplateFunc("exits", func() any { return console.Exits })
}

// usageTemplate is like cobra's template, but has the examples before the flags, the
// flags in groups, and the exit codes.
const usageTemplate = `Usage:{{if .Runnable}}{{if not .HasAvailableSubCommands}}
  {{.UseLine}}{{end}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}{{range flagGroups .}}

{{.Title}}:
{{.Usages | trimTrailingWhitespaces}}{{end}}{{if not .HasParent}}

Exit codes:{{range exits}}
  {{printf "%-3d  %s" .Code .When}}{{end}}{{end}}
`

type flagGroup struct {
	Title string
	flags []*pflag.Flag
	width int // width of the help in columns
}

// Usages returns the help of the flags, wrapped at words.
func (g flagGroup) Usages() string {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	for _, f := range g.flags {
		set.AddFlag(f)
	}
	return set.FlagUsagesWrapped(g.width)
}

// widestHelp is the maximum number of columns of help and other text on standard
// output, because longer lines are hard to read.
const widestHelp = 100

func helpWidth(w io.Writer) int {
	if r, ok := w.(*results); ok {
		w = r.w
	}
	return min(console.WidthOf(w), widestHelp)
}

// usualFlags are the flags in the short help of scan, which fits on one screen. Their
// texts are shorter than those of --help-all.
var usualFlags = []struct{ name, text string }{
	{"output", "write to `PATH`, such as a.ndjson.zst, a.csv or a.tsv"},
	{"append", "add to an existing output"},
	{"force", "replace an existing output"},
	{"format", "record format: `WORD` is json, text, csv or tsv"},
	{"fields", "only these fields: a `LIST` such as addr,info.name"},
	{"port", "`LIST` of ports for targets that have no port"},
	{"list", "also read targets from `FILE`"},
	{"query", "a `LIST` of info, players, rules (default all)"},
	{"rate", "send `N` datagrams per second, or auto (default 5k)"},
	{"bandwidth", "limit the rate to `BITS` per second, such as 10M"},
	{"timeout", "wait `D` for a reply, such as 800ms (default auto)"},
	{"retries", "repeat an unanswered request `N` times (default 2)"},
	{"exclude-file", "send nothing to the networks in `FILE`"},
	{"allow-reserved", "also query private and loopback networks"},
	{"max-targets", "query at most `N` targets"},
	{"max-results", "stop when `N` servers have answered"},
	{"master", "get targets from the master at `HOST:PORT`, or from Steam's Web API with --master web"},
	{"checkpoint", "save progress in `FILE`; the same command resumes"},
	{"unanswered", "also write records for silent targets"},
	{"max-runtime", "stop after `D`, such as 6h"},
	{"min-hitrate", "stop if less than this `SHARE` of targets answers, such as 2%"},
	{"mmdb", "add locations from the database in `FILE`"},
	{"dry-run", "show what would be queried; send nothing"},
	{"verbose", "print all counts at the end"},
	{"quiet", "print no status and no closing summary"},
}

// helpOf prints the help of a command. For scan it shows only the usual flags, on one
// screen, unless --help-all is given.
func helpOf(cmd *cobra.Command, _ []string) {
	out := cmd.OutOrStdout()
	all, err := cmd.Flags().GetBool(helpAllFlag)
	if all || err != nil { // other commands have no such flag
		fmt.Fprintf(out, "%s\n\n%s", strings.TrimSpace(cmd.Long), cmd.UsageString())
		return
	}
	g := flagGroup{width: helpWidth(cmd.Root().OutOrStdout())}
	for _, usual := range usualFlags {
		short := *cmd.Flag(usual.name)
		short.Usage = usual.text
		if short.Value.Type() != "bool" { // show neither the default nor the type
			set := pflag.NewFlagSet("", pflag.ContinueOnError)
			set.String("word", "", "")
			short.Value, short.DefValue = set.Lookup("word").Value, ""
		}
		g.flags = append(g.flags, &short)
	}
	fmt.Fprintf(out, `Queries every target and writes a record for each server that answers. A TARGET
is a file, - for standard input, ip:port, ip, a host, a range, or a network.

Usage:
  %s

Examples:
%s

Flags:
%s
%s --help-all shows all flags; man a2sscan-scan explains them.
`, cmd.UseLine(), cmd.Example, g.Usages(), cmd.CommandPath())
}

const helpAllFlag = "help-all"

// helpCommand returns a command like cobra's help command, but with an error for a word
// that is not a command.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command", Long: "Shows the help of a command.", Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return a.anyCommand(cmd.Root(), args)
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// scanGroups divides scan's flags into groups, because one list of all flags is too long.
// flagGroups adds a group with the flags that scanGroups omits.
var scanGroups = []struct{ title, names string }{
	{"Targets", "port list order seed shard strict resolve max-targets max-results max-per-address exclude exclude-file " +
		"allow-reserved master keep-master"},
	{"Questions", "query timeout retries second-look fallback cooldown"},
	{"Speed", "rate bandwidth rate-total per-address-rate in-flight source no-gso"},
	{"Output", "output append force format fields rotate " +
		"summary on-complete scan-id unanswered raw no-player-names player-key mmdb"},
	{"Resuming and stopping", "checkpoint fresh min-hitrate max-send-errors max-outage max-runtime"},
	{"Watching", "status verbose quiet dry-run metrics log-file"},
}

func flagGroups(cmd *cobra.Command) (groups []flagGroup) {
	width, placed := helpWidth(cmd.Root().OutOrStdout()), map[string]bool{}
	group := func(title string, names []string) flagGroup {
		g := flagGroup{Title: title, width: width}
		for _, name := range names {
			g.flags = append(g.flags, cmd.Flag(name))
			placed[name] = true
		}
		return g
	}
	rest := flagGroup{Title: "Flags", width: width}
	if cmd.CommandPath() == "a2sscan scan" {
		rest.Title = "Other flags"
		for _, of := range scanGroups {
			groups = append(groups, group(of.title, strings.Fields(of.names)))
		}
	}
	var last []flagGroup
	if cmd.Flag("master") != nil && cmd.Flag(ofMasters[0]) != nil {
		last = append(last, group("With --master (a server must match all filters)", ofMasters))
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !placed[f.Name] && !f.Hidden && len(f.Annotations) == 0 { // omit --help, which cobra annotates
			rest.flags = append(rest.flags, f)
		}
	})
	if len(rest.flags) > 0 {
		groups = append(groups, rest)
	}
	return append(groups, last...)
}
