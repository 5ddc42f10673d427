package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

// configFlag names the configuration file, and targetsKey is the key of such a file for
// the arguments of a command whose arguments are targets.
const (
	configFlag = "config"
	targetsKey = "targets"
)

// configurable adds --config to a command that has flags.
func (a *app) configurable(cmd *cobra.Command) {
	run := cmd.RunE
	if run == nil || !cmd.LocalFlags().HasFlags() {
		return
	}
	cmd.Flags().String(configFlag, "", "read flags from the TOML file `FILE`, where rate = \"20k\" under [scan] sets scan --rate; the command line overrides it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args, err := a.configure(cmd, args)
		if err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// configure sets the flags of cmd that the configuration file sets, if --config names
// one. It returns the arguments, which may come from the file too.
//
// The command line takes precedence. But the values of flags that may be repeated are
// added: what a file excludes stays excluded.
func (a *app) configure(cmd *cobra.Command, args []string) ([]string, error) {
	path := cmd.Flags().Lookup(configFlag)
	if !path.Changed {
		return args, nil
	}
	file, err := flagfile.Read(path.Value.String())
	if err != nil {
		return nil, err
	}
	keys, err := keysFor(a.term, cmd, file)
	if err != nil {
		return nil, err
	}
	a.configFile = &ledger.ConfigFile{File: file.Path, SHA256: file.SHA256, Flags: []string{}}
	typed := map[*pflag.Flag]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { typed[f] = true })
	for _, k := range keys {
		flag := cmd.Flags().Lookup(k.Name)
		switch {
		case k.Name == targetsKey && takesTargets(cmd):
			if len(args) > 0 {
				continue
			}
			if args = k.Strings(); slices.Contains(args, "") {
				return nil, file.Fail(k.Line, "%s: want texts", targetsKey).WithHint(`targets = ["servers.txt", "203.0.113.7:27015"]`)
			}
			a.configFile.Targets = slices.Clone(args)
		case !typed[flag] || repeatable(flag):
			texts, err := setFlag(flag, k)
			if err != nil {
				f := file.Fail(k.Line, "%s: %v", k.Name, err)
				if k.Table == "" && len(commandsWith(cmd.Root(), k.Name)) > 1 {
					return nil, f.WithHint("a key before the first table is for every command with --%s: "+
						"put what is for one under its name, such as [%s]", k.Name, cmd.Name())
				}
				return nil, f.WithHint("it takes what --%s takes: a2sscan %s --help", k.Name, cmd.Name())
			}
			for _, text := range texts {
				a.configFile.Flags = append(a.configFile.Flags, "--"+flag.Name+"="+text)
			}
		}
	}
	return args, nil
}

// keysFor checks all keys of a file, and returns those that apply to cmd. A key in the
// command's table overrides the same key before the first table.
func keysFor(t *console.Terminal, cmd *cobra.Command, file *flagfile.File) ([]flagfile.Key, error) {
	var shared, own []flagfile.Key
	for _, k := range file.Keys {
		left, err := checkKey(t, cmd.Root(), file, k)
		switch {
		case err != nil:
			return nil, err
		case left || k.Header:
		case k.Table == cmd.Name():
			own = append(own, k)
		case k.Table == "" && hasKey(cmd, k.Name):
			shared = append(shared, k)
		}
	}
	shared = slices.DeleteFunc(shared, func(k flagfile.Key) bool {
		return slices.ContainsFunc(own, func(o flagfile.Key) bool { return o.Name == k.Name })
	})
	return append(shared, own...), nil
}

// setFlag gives a flag the value of a key. It returns the value as typed on a command
// line, in one string for each time that the flag would be given.
func setFlag(flag *pflag.Flag, k flagfile.Key) (texts []string, err error) {
	off := ""
	if flag.Value.Type() == "bool" {
		off = "false"
	}
	if texts, err = k.Texts(flag.NoOptDefVal, off); err != nil {
		return nil, err
	}
	if _, ok := k.Value.([]any); ok && !repeatable(flag) {
		switch {
		case !isList(flag):
			return nil, errors.New("takes one value, and this is a list")
		case len(texts) == 0:
			return nil, nil
		}
		texts = []string{strings.Join(texts, ",")}
	}
	for _, text := range texts {
		if err := flag.Value.Set(text); err != nil {
			if forProgrammers(err) {
				err = errors.New(wanted[flag.Value.Type()])
			}
			return nil, err
		}
		flag.Changed = true
	}
	return texts, nil
}

// onlyTyped maps the flags that a configuration file may not set to a hint.
var onlyTyped = map[string]string{
	"help":      "type --help",
	helpAllFlag: "type --help-all",
	"list":      "name it under targets",
	configFlag:  "a file names no other",
	"fresh":     "in a file it would discard the checkpoint again and again",
}

// checkKey returns an error for a key that no command accepts, or that is allowed only
// on the command line. It warns of the key of a flag that has left, and reports it.
func checkKey(t *console.Terminal, root *cobra.Command, file *flagfile.File, k flagfile.Key) (left bool, err error) {
	name, commands := console.Plain(k.Name, 60), root.Commands()
	var of *cobra.Command
	var names []string
	for _, c := range commands {
		names = append(names, c.Name())
		if c.Name() == k.Table {
			of, commands = c, []*cobra.Command{c}
		}
	}
	if of == nil && (k.Header || k.Table != "") {
		f := file.Fail(k.Line, "[%s]: no such command", console.Plain(k.Table, 60)).WithHint("a table has the name of a command: [scan]")
		if like := console.Nearest(k.Table, names); like != "" {
			f.WithHint("did you mean [%s]?", like)
		}
		return false, f
	}
	if k.Header || slices.ContainsFunc(commands, func(c *cobra.Command) bool { return hasKey(c, k.Name) }) {
		if hint := onlyTyped[k.Name]; hint != "" && !(k.Name == "fresh" && k.Value == false) {
			return false, file.Fail(k.Line, "%s is for the command line only", name).WithHint("%s", hint)
		}
		return k.Name == "fresh", nil
	}
	for _, c := range commands {
		if was, ok := wasFlag(c.Name(), k.Name); ok {
			f := file.Fail(k.Line, "%s is no longer a flag of %s", name, c.Name()).WithHint("%s", was.instead)
			if was.matters {
				return true, f
			}
			t.Say("%v, and is ignored", f.Err)
			t.Hint("%s", was.instead)
			return true, nil
		}
	}
	return false, unknownKey(root, of, file, k)
}

// unknownKey returns the error for a key that is not a flag of the command of. If of is
// nil, no command has such a flag. The hint is a similar name, or where a secret belongs.
func unknownKey(root, of *cobra.Command, file *flagfile.File, k flagfile.Key) error {
	key, commands := console.Plain(k.Name, 60), root.Commands()
	f := file.Fail(k.Line, "%s: no command has such a flag", key).WithHint("a2sscan --help lists the commands")
	if of != nil {
		f = file.Fail(k.Line, "%s: %s has no such flag", key, of.Name()).WithHint("a2sscan %s --help lists the flags", of.Name())
		if others := commandsWith(root, k.Name); len(others) > 0 {
			return f.WithHint("%s has it: put it under [%s]", others[0], others[0])
		}
		if len(k.Name) == 1 {
			if short := of.Flags().ShorthandLookup(k.Name); short != nil {
				return f.WithHint("did you mean %s?", short.Name)
			}
		}
		commands = []*cobra.Command{of}
	}
	names := map[string]bool{}
	for _, c := range commands {
		for _, name := range flagNames(c) {
			names[name] = onlyTyped[name] == ""
		}
		names[targetsKey] = names[targetsKey] || takesTargets(c)
	}
	maps.DeleteFunc(names, func(_ string, allowed bool) bool { return !allowed })
	if like := console.Nearest(k.Name, slices.Sorted(maps.Keys(names))); like != "" {
		f.WithHint("did you mean %s?", like)
	} else if strings.Contains(k.Name, "key") {
		f.WithHint("the key of the Web API does not belong here: key-file names a file with it")
	}
	return f
}

// hasKey reports whether a configuration file may have a key for the command.
func hasKey(cmd *cobra.Command, key string) bool {
	return cmd.Flags().Lookup(key) != nil || key == targetsKey && takesTargets(cmd)
}

// commandsWith returns the names of the commands that have a key.
func commandsWith(root *cobra.Command, key string) (names []string) {
	for _, c := range root.Commands() {
		if hasKey(c, key) {
			names = append(names, c.Name())
		}
	}
	return names
}

// isList reports whether a flag takes several values separated by commas.
func isList(flag *pflag.Flag) bool {
	name, _ := pflag.UnquoteUsage(flag)
	return name == "LIST" || strings.Contains(name, ",")
}

// repeatable reports whether a flag may be given several times and keeps all values.
func repeatable(flag *pflag.Flag) bool {
	if own, ok := flag.Value.(interface{ Repeatable() bool }); ok {
		return own.Repeatable()
	}
	_, slice := flag.Value.(pflag.SliceValue)
	return slice
}

// takesTargets reports whether a command's arguments are targets.
func takesTargets(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, "TARGET") }
