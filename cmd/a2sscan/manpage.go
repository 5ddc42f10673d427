package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

const manTitle = "Game server scanner"

// manName is the name of a command's page.
func manName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// manPage returns a command's page for man.
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	p := &roff{}
	p.title(manName(cmd), "1", manDate, manTitle)
	p.section("NAME")
	p.line(manName(cmd) + " - " + lowerFirst(cmd.Short))
	p.section("SYNOPSIS")
	p.manSynopsis(cmd)
	p.section("DESCRIPTION")
	p.text(cmd.Long)
	if cmd.HasAvailableSubCommands() {
		p.manCommands(cmd)
	}
	p.manOptions(cmd)
	if !cmd.HasParent() {
		p.section("CONFIGURATION")
		p.text(manConfig)
	}
	p.manExits(cmd)
	p.manFacts(cmd)
	p.section("EXAMPLES")
	p.example(cmd.Example)
	p.manSeeAlso(cmd)
	return p.String()
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// manSynopsis shows how a command is called.
func (p *roff) manSynopsis(cmd *cobra.Command) {
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(p, "%s %s %s\n", strong(cmd.CommandPath()), placeholder("COMMAND"), placeholder("…"))
		return
	}
	_, args, _ := strings.Cut(cmd.Use, " ")
	flags := ""
	if !cmd.DisableFlagsInUseLine {
		flags = " [" + placeholder("FLAG…") + "]"
	}
	fmt.Fprintf(p, "%s\n", strings.TrimRight(strong(cmd.CommandPath())+flags+" "+roffText(args), " "))
}

// manCommands lists the commands below one.
func (p *roff) manCommands(cmd *cobra.Command) {
	p.section("COMMANDS")
	for _, c := range cmd.Commands() {
		if hasPage(c) {
			p.item(strong(c.Name()), c.Short)
		}
	}
	p.item(strong("completion bash")+", "+strong("zsh")+", "+strong("fish"),
		"Print what makes the shell complete commands, flags and their values")
	p.paragraph()
	p.line("Each command has a page of its own, and --help.")
}

// manOptions lists the flags as the help does, in the same groups.
func (p *roff) manOptions(cmd *cobra.Command) {
	groups := flagGroups(cmd)
	if len(groups) > 0 {
		p.section("OPTIONS")
	}
	for _, g := range groups {
		if len(groups) > 1 {
			p.subsection(g.Title)
		}
		p.manFlags(g.flags)
	}
	if flags := annotated(cmd, forMaster); len(flags) > 0 {
		p.section("OPTIONS WITH --MASTER")
		p.line("Only servers that meet all of these are asked for.")
		p.manFlags(flags)
	}
}

func (p *roff) manFlags(flags []*pflag.Flag) {
	for _, flag := range flags {
		p.manFlag(flag)
	}
}

// manFlag writes a flag with its value, its help and its default.
func (p *roff) manFlag(flag *pflag.Flag) {
	name, usage := pflag.UnquoteUsage(flag)
	tag := strong("--" + flag.Name)
	if flag.Shorthand != "" {
		tag = strong("-"+flag.Shorthand) + ", " + tag
	}
	switch {
	case name != "" && flag.NoOptDefVal != "":
		tag += "[=" + placeholder(name) + "]"
	case name != "":
		tag += " " + placeholder(name)
	}
	if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, flag.DefValue) {
		usage += " (default " + flag.DefValue + ")"
	}
	p.item(tag, usage)
}

// manExits lists the exit codes that a command may have.
func (p *roff) manExits(cmd *cobra.Command) {
	p.section("EXIT STATUS")
	own := manFacts[cmd.Name()].exits
	for _, e := range console.Exits {
		when, may := own[e.Code]
		if when == "" {
			when = e.When
		}
		if may || !cmd.HasParent() || slices.Contains(exitAlways, e.Code) {
			p.item(strong(fmt.Sprint(e.Code)), when)
		}
	}
}

// manFacts lists files, variables and signals, and what a scan tells programs.
func (p *roff) manFacts(cmd *cobra.Command) {
	facts := manFacts[cmd.Name()]
	p.manList("FILES", facts.files)
	if !cmd.HasParent() {
		p.manList("ENVIRONMENT", manVariables)
	}
	p.manList("SIGNALS", facts.signals)
	if cmd.Name() == "scan" {
		p.manExplain("STATUS", manStatus, manStatusKeys)
		p.manExplain("SUMMARY", manSummary, manSummaryKeys)
		p.manExplain("FAULTS", manFaults, manFaultWords)
	}
}

// manExplain is a section with prose before its list.
func (p *roff) manExplain(section, text string, facts []fact) {
	p.section(section)
	p.text(text)
	for _, f := range facts {
		p.item(strong(f.what), f.text)
	}
}

func (p *roff) manList(section string, facts []fact) {
	if len(facts) > 0 {
		p.section(section)
	}
	for _, f := range facts {
		p.item(strong(f.what), f.text)
	}
}

// manSeeAlso names the other pages.
func (p *roff) manSeeAlso(cmd *cobra.Command) {
	p.section("SEE ALSO")
	var names []string
	for _, page := range manCommands(cmd.Root()) {
		if page != cmd {
			names = append(names, strong(manName(page))+"(1)")
		}
	}
	p.WriteString(strings.Join(names, ",\n") + "\n")
}

// manCommands are the commands that have a page: root and all that the help
// shows.
func manCommands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, cmd := range root.Commands() {
		if hasPage(cmd) {
			all = append(all, manCommands(cmd)...)
		}
	}
	return all
}

// hasPage reports whether a command has a page: those of the library have none.
func hasPage(cmd *cobra.Command) bool {
	return cmd.IsAvailableCommand() && cmd.Name() != "completion" && cmd.Name() != "help"
}
