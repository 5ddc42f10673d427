// Package manual writes man pages from plain descriptions of commands.
package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

const title = "Game server scanner"

// Command describes a command for its man page.
type Command struct {
	Path      string // such as "a2sscan scan"
	Short     string // one line, without a full stop
	Arguments string // as in the usage line
	Long      string
	Groups    []Group   // groups of flags, in the order of the help
	Filters   []Flag    // flags that select servers, for --master
	Commands  []Command // subcommands; only the root has any
	Example   string
}

// Group is a titled group of flags.
type Group struct {
	Title string
	Flags []Flag
}

// Flag describes a flag.
type Flag struct {
	Name     string
	Short    string // one letter, or empty
	Value    string // placeholder of the value; empty: the flag takes no value
	Optional bool   // the value may be omitted
	Usage    string
	Default  string // default value; not shown if it is empty, zero or false
}

// Name returns the name of the command's man page.
func (c *Command) Name() string { return strings.ReplaceAll(c.Path, " ", "-") }

// word returns the last word of the path.
func (c *Command) word() string { return c.Path[strings.LastIndexByte(c.Path, ' ')+1:] }

func (c *Command) isRoot() bool { return len(c.Commands) > 0 }

// Pages returns the man pages of the root command and its subcommands, by name.
// variables describes the environment variables that the program reads.
func Pages(root *Command, variables []Fact) map[string]string {
	names := []string{root.Name()}
	for i := range root.Commands {
		names = append(names, root.Commands[i].Name())
	}
	pages := map[string]string{root.Name(): page(root, names, variables)}
	for i := range root.Commands {
		c := &root.Commands[i]
		pages[c.Name()] = page(c, names, nil)
	}
	return pages
}

// page returns the man page of one command. names has the names of all pages.
func page(c *Command, names []string, variables []Fact) string {
	p := &roff{}
	p.title(c.Name(), "1", date, title)
	p.section("NAME")
	p.line(c.Name() + " - " + strings.ToLower(c.Short[:1]) + c.Short[1:])
	p.section("SYNOPSIS")
	p.synopsis(c)
	p.section("DESCRIPTION")
	p.text(c.Long)
	if c.isRoot() {
		p.commands(c.Commands)
	}
	p.options(c)
	if c.isRoot() {
		p.section("CONFIGURATION")
		p.text(configText)
	}
	p.exits(c)
	p.facts(c, variables)
	p.section("EXAMPLES")
	p.example(c.Example)
	p.seeAlso(c, names)
	return p.String()
}

// synopsis writes how a command is called.
func (p *roff) synopsis(c *Command) {
	if c.isRoot() {
		fmt.Fprintf(p, "%s %s %s\n", Strong(c.Path), Placeholder("COMMAND"), Placeholder("…"))
		return
	}
	flags := ""
	if len(c.Groups) > 0 {
		flags = " [" + Placeholder("FLAG…") + "]"
	}
	fmt.Fprintf(p, "%s\n", strings.TrimRight(Strong(c.Path)+flags+" "+roffText(c.Arguments), " "))
}

// commands lists the subcommands of the root.
func (p *roff) commands(all []Command) {
	p.section("COMMANDS")
	for i := range all {
		p.item(Strong(all[i].word()), all[i].Short)
	}
	p.item(Strong("completion bash")+", "+Strong("zsh")+", "+Strong("fish"),
		"Print a script that completes commands, flags and their values")
	p.paragraph()
	p.line("Each command has a page of its own, and --help.")
}

// options lists the flags, in the groups of the help.
func (p *roff) options(c *Command) {
	if len(c.Groups) > 0 {
		p.section("OPTIONS")
	}
	for _, g := range c.Groups {
		if len(c.Groups) > 1 {
			p.subsection(g.Title)
		}
		p.flags(g.Flags)
	}
	if len(c.Filters) > 0 {
		p.section("OPTIONS WITH --MASTER")
		p.line("Only servers that meet all of these are fetched.")
		p.flags(c.Filters)
	}
}

// flags lists flags with their values, help and defaults.
func (p *roff) flags(all []Flag) {
	for _, f := range all {
		tag := Strong("--" + f.Name)
		if f.Short != "" {
			tag = Strong("-"+f.Short) + ", " + tag
		}
		switch {
		case f.Value != "" && f.Optional:
			tag += "[=" + Placeholder(f.Value) + "]"
		case f.Value != "":
			tag += " " + Placeholder(f.Value)
		}
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.Default) {
			f.Usage += " (default " + f.Default + ")"
		}
		p.item(tag, f.Usage)
	}
}

// exits lists the exit codes that a command may return.
func (p *roff) exits(c *Command) {
	p.section("EXIT STATUS")
	own := facts[c.word()].exits
	for _, e := range console.Exits {
		when, may := own[e.Code]
		if when == "" {
			when = e.When
		}
		if may || c.isRoot() || slices.Contains(exitAlways, e.Code) {
			p.item(Strong(fmt.Sprint(e.Code)), when)
		}
	}
}

// facts lists files, variables and signals. For scan it also lists the keys of
// status lines and of the summary, and the faults.
func (p *roff) facts(c *Command, variables []Fact) {
	of := facts[c.word()]
	p.list("FILES", "", of.files)
	p.list("ENVIRONMENT", "", variables)
	p.list("SIGNALS", "", of.signals)
	if c.word() == "scan" {
		p.list("STATUS", statusText, StatusKeys)
		p.list("SUMMARY", summaryText, SummaryKeys)
		p.list("FAULTS", faultsText, FaultWords)
	}
}

// list writes a section with an optional introduction and a list. It writes nothing
// if the list is empty.
func (p *roff) list(section, text string, all []Fact) {
	if len(all) == 0 {
		return
	}
	p.section(section)
	if text != "" {
		p.text(text)
	}
	for _, f := range all {
		p.item(Strong(f.What), f.Text)
	}
}

// seeAlso lists the other pages.
func (p *roff) seeAlso(c *Command, names []string) {
	p.section("SEE ALSO")
	var others []string
	for _, name := range names {
		if name != c.Name() {
			others = append(others, Strong(name)+"(1)")
		}
	}
	p.WriteString(strings.Join(others, ",\n") + "\n")
}
