package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/redact"
)

// These flags are about configuration files.
const (
	configFlag = "config"
	printFlag  = "print-config"
)

// configurable adds the flags for configuration files to every command that has
// flags.
func (a *app) configurable(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		a.configurable(c)
	}
	run := cmd.RunE
	if run == nil || !cmd.LocalFlags().HasFlags() {
		return
	}
	cmd.Flags().String(configFlag, "", "read flags from the TOML file `FILE`, where rate = \"20k\" under [scan] sets scan --rate; the command line overrides it")
	cmd.Flags().Bool(printFlag, false, "print the effective configuration as TOML, with the source of each value, then exit")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.configure(cmd, args)
		switch on, _ := cmd.Flags().GetBool(printFlag); {
		case err != nil:
			return err
		case on:
			return c.print(a.out)
		}
		return run(cmd, c.args)
	}
}

// setting holds the values that a flag was given, in their order.
type setting struct {
	texts   []string
	sources []string // as shown to the user: --rate, FILE:12
}

// configuration is the effective configuration of a command.
type configuration struct {
	cmd        *cobra.Command
	args       []string
	argsSource string
	settings   map[string]*setting // by the name of the flag
}

// configure reads the command line and, if --config names one, the configuration
// file.
func (a *app) configure(cmd *cobra.Command, args []string) (*configuration, error) {
	c := &configuration{cmd: cmd, args: args, argsSource: "arguments", settings: map[string]*setting{}}
	if err := c.readCommandLine(a.args); err != nil {
		return nil, err
	}
	path := cmd.Flags().Lookup(configFlag)
	if !path.Changed {
		return c, nil
	}
	file, err := flagfile.Read(path.Value.String(), describe(cmd.Root()))
	if err != nil {
		return nil, err
	}
	entries, err := file.For(cmd.Name())
	if err != nil {
		return nil, err
	}
	a.configFile = &ledger.ConfigFile{File: file.Path, SHA256: file.SHA256, Flags: []string{}}
	for _, e := range entries {
		if err := c.apply(file, e, a.configFile); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// readCommandLine records the flags as they were typed.
func (c *configuration) readCommandLine(line []string) error {
	_, rest, err := c.cmd.Root().Find(line)
	if err != nil {
		return err
	}
	return c.cmd.Flags().ParseAll(rest, func(flag *pflag.Flag, text string) error {
		s := c.settings[flag.Name]
		if s == nil || !repeatable(flag) {
			s = &setting{sources: []string{"--" + flag.Name}}
			c.settings[flag.Name] = s
		}
		s.texts = append(s.texts, text)
		return nil
	})
}

// apply applies an entry of the file, and adds what it has set to note. The command
// line takes precedence. But the values of flags that may be repeated are added:
// what a file excludes stays excluded.
func (c *configuration) apply(file *flagfile.File, e flagfile.Entry, note *ledger.ConfigFile) error {
	if e.Key == flagfile.TargetsKey && takesTargets(c.cmd) {
		return c.applyTargets(file, e, note)
	}
	flag := c.cmd.Flags().Lookup(e.Key)
	s := c.settings[e.Key]
	switch {
	case s == nil:
		s = &setting{}
		c.settings[e.Key] = s
	case !repeatable(flag):
		return nil
	}
	as := describeFlag(flag)
	texts, err := as.Texts(e.Value)
	if err != nil {
		return file.Bad(c.cmd.Name(), e, err)
	}
	s.texts, s.sources = append(s.texts, texts...), append(s.sources, file.At(e.Line))
	for _, text := range texts {
		if as.Unset && text == "false" {
			continue // the flag counts as not given
		}
		if err := flag.Value.Set(text); err != nil {
			return file.Bad(c.cmd.Name(), e, err)
		}
		flag.Changed = true
		note.Flags = append(note.Flags, "--"+flag.Name+"="+text)
	}
	return nil
}

// applyTargets takes the arguments from the file if none were typed.
func (c *configuration) applyTargets(file *flagfile.File, e flagfile.Entry, note *ledger.ConfigFile) error {
	if len(c.args) > 0 {
		return nil
	}
	targets, err := file.Targets(e)
	c.args, c.argsSource = targets, file.At(e.Line)
	note.Targets = slices.Clone(targets)
	return err
}

// onlyTyped maps the flags that a configuration file may not set to a hint.
var onlyTyped = map[string]string{
	"help":      "type --help",
	helpAllFlag: "type --help-all",
	"list":      "name it under targets",
	configFlag:  "a file names no other",
	printFlag:   "type --print-config",
	"fresh":     "in a file it would discard the checkpoint again and again",
}

// describe describes the commands to package flagfile.
func describe(root *cobra.Command) (all []flagfile.Command) {
	for _, cmd := range root.Commands() {
		c := flagfile.Command{Name: cmd.Name(), Targets: takesTargets(cmd)}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { c.Flags = append(c.Flags, describeFlag(f)) })
		all = append(all, c)
	}
	return all
}

func describeFlag(f *pflag.Flag) flagfile.Flag {
	kind := f.Value.Type()
	return flagfile.Flag{
		Name: f.Name, Short: f.Shorthand, Implied: f.NoOptDefVal,
		Bool:   kind == "bool",
		Number: strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint") || strings.HasPrefix(kind, "float"),
		Unset:  kind == "bool" && (f.DefValue == "" || f.Name == "fresh"),
		List:   isList(f), Repeatable: repeatable(f), OnlyTyped: onlyTyped[f.Name],
	}
}

// isList reports whether a flag takes several values separated by commas.
func isList(flag *pflag.Flag) bool {
	name, _ := pflag.UnquoteUsage(flag)
	return name == "LIST" || name == "TAGS" || strings.Contains(name, ",")
}

// repeatable reports whether a flag may be given several times and keeps all
// values.
func repeatable(flag *pflag.Flag) bool {
	if own, ok := flag.Value.(interface{ Repeatable() bool }); ok {
		return own.Repeatable()
	}
	_, slice := flag.Value.(pflag.SliceValue)
	return slice
}

// takesTargets reports whether a command's arguments are targets.
func takesTargets(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, "TARGET") }

// print prints the configuration as a configuration file.
func (c *configuration) print(out *results) error {
	var lines []flagfile.Line
	if takesTargets(c.cmd) {
		l := flagfile.Line{Flag: flagfile.Flag{Name: flagfile.TargetsKey}, Texts: c.args, Source: c.argsSource}
		if l.Comment = len(c.args) == 0; l.Comment {
			l.Source = "default: standard input"
		}
		lines = append(lines, l)
	}
	var err error
	c.cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if onlyTyped[flag.Name] == "" || flag.Name == "fresh" {
			l, bad := c.line(flag)
			lines, err = append(lines, l), errors.Join(err, bad)
		}
	})
	if err != nil {
		return err
	}
	return flagfile.Write(out, c.cmd.Name(), lines)
}

// mistakenForKey are the flags that users give the Web API's key by mistake.
var mistakenForKey = []string{"key-file", "master", "udp", "url"}

// line returns the line of a flag. If the flag was not given, the line is a
// comment, because some flags have an effect by being given, whatever their value.
// A flag that is not allowed in a file is a comment too.
func (c *configuration) line(flag *pflag.Flag) (flagfile.Line, error) {
	l := flagfile.Line{Flag: describeFlag(flag)}
	if s := c.settings[flag.Name]; s != nil {
		l.Texts, l.Source = s.texts, strings.Join(s.sources, ", ")
	} else {
		l.Texts, l.Source, l.Comment = defaults(flag), defaultSource(flag), true
	}
	if onlyTyped[flag.Name] != "" && !l.Comment {
		l.Source, l.Comment = l.Source+", and only there", true
	}
	if slices.Contains(mistakenForKey, flag.Name) && slices.ContainsFunc(l.Texts, redact.LooksLikeKey) {
		return l, masterlist.KeyShown(flag.Name)
	}
	return l, nil
}

// defaults returns the values of a flag that is not given.
func defaults(flag *pflag.Flag) []string {
	if v, ok := flag.Value.(pflag.SliceValue); ok {
		return v.GetSlice()
	}
	return []string{flag.DefValue}
}

// helpDefault matches a default that is described in the help.
var helpDefault = regexp.MustCompile(`\((default[^()]*)\)$`)

// defaultSource returns the text that is shown in place of the source if a flag was not
// given: the default as the help describes it, or "default".
func defaultSource(flag *pflag.Flag) string {
	words := helpDefault.FindStringSubmatch(flag.Usage)
	if words != nil && (flag.DefValue == "" || flag.DefValue == "0s") {
		return words[1]
	}
	return "default"
}
