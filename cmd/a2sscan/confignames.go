package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
		return configFailure(c.path, e.line, "%s is for the command line only", e.key).hinting("%s", hint)
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
	f := configFailure(c.path, e.line, "[%s]: no such command", plain(name, 60)).
		hinting("a table has the name of a command: [scan]")
	if like := nearest(e.table, names); like != "" {
		f.hinting("did you mean [%s]?", like)
	}
	return f
}

// noFlag is the error of a key that is no flag of a command, or of none if
// that is root.
func (c *configuration) noFlag(of *cobra.Command, e configEntry) error {
	f := configFailure(c.path, e.line, "%s: %s has no such flag", plain(e.key, 60), of.Name())
	names := keysOf(of)
	if of == c.cmd.Root() {
		f = configFailure(c.path, e.line, "%s: no command has such a flag", plain(e.key, 60))
		for _, cmd := range of.Commands() {
			names = append(names, keysOf(cmd)...)
		}
	}
	like, others := nearest(e.key, names), c.commandsWith(e.key)
	if short := of.Flags().ShorthandLookup(e.key[:min(1, len(e.key))]); len(e.key) == 1 && short != nil {
		like = short.Name
	}
	switch {
	case len(others) > 0:
		return f.hinting("%s has it: put it under [%s]", others[0], others[0])
	case like != "":
		return f.hinting("did you mean %s?", like)
	case strings.Contains(e.key, "key"):
		return f.hinting("the key of the Web API is not written here: key-file names its file, or the variable %s has it", keyVariable)
	}
	return f.hinting("%s --help lists the flags", of.CommandPath())
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

// nearest returns the name that was probably meant, "" if none comes near.
func nearest(word string, names []string) (best string) {
	word = strings.ToLower(strings.ReplaceAll(word, "_", "-"))
	least := min(len(word), 1+max(2, len(word)/4)) // something has to be the same
	for _, name := range names {
		d := distance(word, name)
		if strings.HasPrefix(name, word+"-") {
			d = min(d, 2)
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is how many letters have to be put in, taken out, changed or
// swapped with the next to make b of a.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
