package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

// configFlag is the flag that names the configuration file. In this file, targetsKey is
// the key of a command's targets.
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
	cmd.Flags().String(configFlag, "", "read flags from the TOML file `FILE`, where rate = \"20k\" under [scan] sets scan --rate; the command line overrides FILE")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args, err := a.configure(cmd, args)
		if err == nil {
			err = checkNames(cmd, args)
		}
		if err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// configure sets the flags of cmd to the values in the file of --config, if there is one.
// It returns the command's arguments, which may come from the file, too.
//
// The command line overrides the file. But a flag that may be repeated has the values of
// the command line and of the file, so a network that the file excludes stays excluded. A
// key in the table of a command, such as [scan], overrides the same key before the first
// table.
func (a *app) configure(cmd *cobra.Command, args []string) ([]string, error) {
	path := cmd.Flags().Lookup(configFlag)
	if !path.Changed {
		return args, nil
	}
	file, err := flags.ReadFile(path.Value.String())
	if err != nil {
		return nil, err
	}
	a.configFile = &ledger.ConfigFile{File: file.Path, SHA256: file.SHA256, Flags: []string{}}
	var shared, own []flags.Key
	owned := map[string]bool{}
	for _, k := range file.Keys {
		use, err := a.checkKey(cmd.Root(), file, k)
		switch {
		case err != nil:
			return nil, err
		case use && k.Table == cmd.Name():
			own, owned[k.Name] = append(own, k), true
		case use && k.Table == "" && hasKey(cmd, k.Name):
			shared = append(shared, k)
		}
	}
	typed := map[*pflag.Flag]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { typed[f] = true })
	named := len(args) > 0
	for _, k := range append(slices.DeleteFunc(shared, func(k flags.Key) bool { return owned[k.Name] }), own...) {
		flag := cmd.Flags().Lookup(k.Name)
		switch {
		case flag == nil && !named:
			args, a.configFile.Targets = k.Values, k.Values
		case flag != nil && (!typed[flag] || repeatable(flag)):
			texts, err := setFlag(flag, k)
			if err != nil {
				f := file.Fail(k.Line, "%s: %v", k.Name, err)
				if k.Table == "" && len(commandsWith(cmd.Root(), k.Name)) > 1 {
					return nil, f.WithHint("a key before the first table applies to every command that has --%s: "+
						"put a key for one command into the command's table, such as [%s]", k.Name, cmd.Name())
				}
				return nil, f.WithHint("to see which values --%s takes, run: a2sscan %s --help", k.Name, cmd.Name())
			}
			for _, text := range texts {
				a.configFile.Flags = append(a.configFile.Flags, "--"+flag.Name+"="+text)
			}
		}
	}
	return args, nil
}

// setFlag sets a flag to the value of a key. It returns the value as a user types it on a
// command line. For a flag that may be repeated, the result has an element for each value.
func setFlag(flag *pflag.Flag, k flags.Key) (texts []string, err error) {
	texts = k.Values
	switch {
	case k.Bool && flag.Value.Type() != "bool":
		if texts = []string{flag.NoOptDefVal}; flag.NoOptDefVal == "" || k.Values[0] == "false" {
			return nil, fmt.Errorf("use a string or a number, not %s", k.Values[0])
		}
	case k.List && !repeatable(flag) && !isList(flag):
		return nil, errors.New("use one value, not a list")
	case k.List && !repeatable(flag) && len(texts) > 0:
		texts = []string{strings.Join(texts, ",")}
	}
	for _, text := range texts {
		if err := flag.Value.Set(text); err != nil {
			return nil, explained(flag, err)
		}
		flag.Changed = true
	}
	return texts, nil
}

// onlyTyped has the flags that a configuration file must not set, each with a hint.
var onlyTyped = map[string]string{
	"help":      "type --help",
	helpAllFlag: "type --help-all",
	"list":      `to name lists in a file, write targets = ["servers.txt"]`,
	configFlag:  "a configuration file can't name another configuration file",
	"fresh":     "type --fresh: in a file, fresh = true would discard the checkpoint in every run",
}

// checkKey reports whether a key sets a flag or the targets. It returns an error for an
// unknown table or key, and for a key that is allowed only on the command line.
func (a *app) checkKey(root *cobra.Command, file *flags.File, k flags.Key) (use bool, err error) {
	commands := root.Commands()
	if k.Table != "" {
		i := slices.IndexFunc(commands, func(c *cobra.Command) bool { return c.Name() == k.Table })
		if i < 0 {
			f := file.Fail(k.Line, "[%s]: no such command", console.Plain(k.Table, 60)).
				WithHint("name a table after a command, such as [scan]")
			var names []string
			for _, c := range commands {
				names = append(names, c.Name())
			}
			if like := console.Nearest(k.Table, names); like != "" {
				f.WithHint("did you mean [%s]?", like)
			}
			return false, f
		}
		commands = commands[i : i+1]
	}
	name := console.Plain(k.Name, 60)
	switch {
	case k.Name == "":
		return false, nil
	case slices.ContainsFunc(commands, func(c *cobra.Command) bool { return hasKey(c, k.Name) }):
		if k.Name == "fresh" && k.Bool && k.Values[0] == "false" {
			return false, nil
		}
		if hint := onlyTyped[k.Name]; hint != "" {
			return false, file.Fail(k.Line, "%s is for the command line only", name).WithHint("%s", hint)
		}
		return true, nil
	}
	f := file.Fail(k.Line, "%s: no command has such a flag", name).WithHint("a2sscan --help lists the commands")
	if k.Table != "" {
		f = file.Fail(k.Line, "%s: %s has no such flag", name, k.Table).WithHint("a2sscan %s --help lists the flags", k.Table)
	}
	names := []string{targetsKey}
	for _, c := range commands {
		names = append(names, flagNames(c)...)
	}
	others, like := commandsWith(root, k.Name), console.Nearest(k.Name, names)
	switch {
	case len(others) > 0:
		f.WithHint("%s has this flag: put the key under [%s]", others[0], others[0])
	case like != "" && onlyTyped[like] == "":
		f.WithHint("did you mean %s?", like)
	case strings.Contains(k.Name, "key"):
		f.WithHint(`put the key of the Web API into a separate file, and name the file: key-file = "key.txt"`)
	}
	return false, f
}

// hasKey reports whether the command accepts the key: a flag of the command, or "targets"
// if the command takes targets.
func hasKey(cmd *cobra.Command, key string) bool {
	return cmd.Flags().Lookup(key) != nil || key == targetsKey && takesTargets(cmd)
}

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

// repeatable reports whether a flag may be repeated. All values of such a flag apply.
func repeatable(flag *pflag.Flag) bool {
	if own, ok := flag.Value.(interface{ Repeatable() bool }); ok {
		return own.Repeatable()
	}
	_, slice := flag.Value.(pflag.SliceValue)
	return slice
}

func takesTargets(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, "TARGET") }
