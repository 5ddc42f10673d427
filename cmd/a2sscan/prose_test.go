package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// screen is the width of the narrowest screen that help is written for.
const screen = 80

// TestProse: no line of the help's prose is broken by a usual screen.
func TestProse(t *testing.T) {
	var look func(cmd *cobra.Command)
	lines := 0
	look = func(cmd *cobra.Command) {
		for _, text := range []string{cmd.Short, cmd.Long, cmd.Example, cmd.UseLine()} {
			for line := range strings.Lines(text) {
				lines++
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > screen {
					t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
				}
			}
		}
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	look(newTree())
	for line := range strings.Lines(exitCodes()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > screen {
			t.Errorf("exit codes: %d columns: %s", n, line)
		}
	}
	if lines < 100 {
		t.Errorf("only %d lines", lines)
	}
}
