package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
)

// hasKey reports whether a command understands a key of a file.
func hasKey(cmd *cobra.Command, key string) bool {
	return key == targetsKey && takesTargets(cmd) || cmd.Flag(key) != nil
}

// known returns an error for an entry that no command understands.
func (c *configuration) known(e configEntry) error {
	of := c.cmd.Root()
	if e.table != "" || e.named {
		var rest []string
		of, rest, _ = c.cmd.Root().Find(strings.Fields(e.table))
		if of == c.cmd.Root() || len(rest) > 0 {
			return c.noCommand(e)
		}
	}
	switch hint := onlyTyped[e.key]; {
	case e.named:
		return nil
	case hint != "" && e.key != "fresh":
		return configFailure(c.path, e.line, "%s is for the command line only", e.key).WithHint("%s", hint)
	case e.table == "" && anyCommand(of, e.key), e.table != "" && hasKey(of, e.key):
		return nil
	}
	return c.noFlag(of, e)
}

// anyCommand reports whether a command below root understands a key.
func anyCommand(root *cobra.Command, key string) bool {
	for _, cmd := range root.Commands() {
		if hasKey(cmd, key) || anyCommand(cmd, key) {
			return true
		}
	}
	return false
}

// noCommand is the error of a table that is no command's.
func (c *configuration) noCommand(e configEntry) error {
	var names []string
	for _, cmd := range c.cmd.Root().Commands() {
		names = append(names, cmd.Name())
	}
	name := strings.ReplaceAll(e.table, " ", ".")
	f := configFailure(c.path, e.line, "[%s]: no such command", console.Plain(name, 60)).
		WithHint("a table has the name of a command: [scan]")
	if like := console.Nearest(e.table, names); like != "" {
		f.WithHint("did you mean [%s]?", like)
	}
	return f
}

// noFlag is the error of a key that is no flag of a command, or of none if
// that is root.
func (c *configuration) noFlag(of *cobra.Command, e configEntry) error {
	f := configFailure(c.path, e.line, "%s: %s has no such flag", console.Plain(e.key, 60), of.Name())
	names := keysOf(of)
	if of == c.cmd.Root() {
		f = configFailure(c.path, e.line, "%s: no command has such a flag", console.Plain(e.key, 60))
		for _, cmd := range of.Commands() {
			names = append(names, keysOf(cmd)...)
		}
	}
	like, others := console.Nearest(e.key, names), c.commandsWith(e.key)
	if short := of.Flags().ShorthandLookup(e.key[:min(1, len(e.key))]); len(e.key) == 1 && short != nil {
		like = short.Name
	}
	switch {
	case len(others) > 0:
		return f.WithHint("%s has it: put it under [%s]", others[0], others[0])
	case like != "":
		return f.WithHint("did you mean %s?", like)
	case strings.Contains(e.key, "key"):
		return f.WithHint("the key of the Web API is not written here: key-file names its file, or the variable %s has it", masterlist.KeyVariable)
	}
	return f.WithHint("%s --help lists the flags", of.CommandPath())
}

// commandsWith are the names of the commands that understand a key.
func (c *configuration) commandsWith(key string) (names []string) {
	for _, cmd := range c.cmd.Root().Commands() {
		if hasKey(cmd, key) {
			names = append(names, cmd.Name())
		}
	}
	return names
}

// keysOf are the keys that a command understands.
func keysOf(cmd *cobra.Command) (keys []string) {
	add := func(f *pflag.Flag) {
		if onlyTyped[f.Name] == "" {
			keys = append(keys, f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	if takesTargets(cmd) {
		keys = append(keys, targetsKey)
	}
	return keys
}
