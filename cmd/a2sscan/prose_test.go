package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// screen is the minimum width in columns for which the help is written.
const screen = 80

// TestProse: no line of the help is wider than screen.
func TestProse(t *testing.T) {
	var visit func(cmd *cobra.Command)
	lines := 0
	visit = func(cmd *cobra.Command) {
		for _, text := range []string{cmd.Short, cmd.Long, cmd.Example, cmd.UsageString()} {
			for line := range strings.Lines(text) {
				lines++
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > screen {
					t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
				}
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(newTree())
	for _, e := range console.Exits {
		if n := utf8.RuneCountInString(e.When) + 7; n > screen {
			t.Errorf("exit codes: %d columns: %s", n, e.When)
		}
	}
	if lines < 100 {
		t.Errorf("only %d lines", lines)
	}
}

// TestFlagGroups: the help of scan and its man page list each flag once, in the
// same groups.
func TestFlagGroups(t *testing.T) {
	scan, _, err := newTree().Find([]string{"scan"})
	if err != nil {
		t.Fatal(err)
	}
	help := scan.UsageString()
	scan.LocalFlags().VisitAll(func(f *pflag.Flag) {
		line := regexp.MustCompile(`(?m)^ {2,6}(-., )?--` + f.Name + `\b[^-]`)
		if n := len(line.FindAllString(help, -1)); n != 1 && !f.Hidden {
			t.Errorf("--%s is listed %d times", f.Name, n)
		}
	})
	groups := flagGroups(scan)
	if last := groups[len(groups)-2]; strings.Count(last.Usages(), "--") > 5 {
		t.Errorf("in no group:\n%s", last.Usages())
	}
	page := ""
	for _, p := range manPages(newTree()) {
		if p.name == "man/a2sscan-scan.1" {
			page = string(p.text)
		}
	}
	for _, g := range groups {
		if !strings.Contains(page, ".SS "+g.Title+"\n.TP\n") || !strings.Contains(help, "\n"+g.Title+":\n  ") {
			t.Errorf("the page or the help lacks the group %s", g.Title)
		}
	}
}
