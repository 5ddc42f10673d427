package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Configuration files have flags' names as keys. A command has a table of its
// name; keys before the first table are for each command that has such a flag,
// and those of its table win over them. What is typed wins over the file,
// but flags that may be repeated are added to: an exclusion in the file holds
// whatever is typed. Which flags there are is taken from the commands.

// The flags that have to do with configuration files.
const (
	configFlag = "config"
	printFlag  = "print-config"
)

// targetsKey stands in a file for the arguments of a command.
const targetsKey = "targets"

// configNote is what a configuration file had to do with a run. Its JSON is
// part of the summary.
type configNote struct {
	File    string   `json:"file"`
	SHA256  string   `json:"sha256"`
	Flags   []string `json:"flags"`             // what was taken from it, as one would type it
	Targets []string `json:"targets,omitempty"` // what was taken from it
}

// configurable gives every command with flags those for configuration files.
func (a *app) configurable(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		a.configurable(c)
	}
	if run := cmd.RunE; run != nil && cmd.LocalFlags().HasFlags() {
		cmd.Flags().String(configFlag, "", "take flags from `FILE`, TOML such as rate = \"20k\" under [scan]; what is typed wins")
		cmd.Flags().Bool(printFlag, false, "print what holds and whence, as such a file, and do nothing")
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			c, err := a.configure(cmd, args)
			switch {
			case err != nil:
				return err
			case isSet(cmd, printFlag):
				return c.print(a.out)
			}
			return run(cmd, c.args)
		}
	}
}

func isSet(cmd *cobra.Command, flag string) bool {
	on, err := cmd.Flags().GetBool(flag)
	return err == nil && on
}

// setting is what a flag was given, each time.
type setting struct {
	texts  []string
	whence []string // for a person: --rate, FILE:12
}

// configuration is what holds in a run of a command.
type configuration struct {
	cmd     *cobra.Command
	path    string
	args    []string
	argsBy  string // whence the arguments are; empty: there are none
	set     map[string]*setting
	entries map[string]configEntry // for this command
	order   []string               // keys of entries
}

// configure sets the flags that a configuration file names, if there is one.
func (a *app) configure(cmd *cobra.Command, args []string) (*configuration, error) {
	c := &configuration{cmd: cmd, args: args, set: map[string]*setting{}, entries: map[string]configEntry{}}
	if len(args) > 0 {
		c.argsBy = "arguments"
	}
	if err := c.typed(a.args); err != nil {
		return nil, err
	}
	if f := cmd.Flags().Lookup(configFlag); !f.Changed {
		return c, nil
	} else {
		c.path = f.Value.String()
	}
	text, err := readConfig(c.path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	a.configFile = &configNote{File: c.path, SHA256: hex.EncodeToString(sum[:]), Flags: []string{}}
	entries, err := parseConfig(c.path, text)
	if err != nil {
		return nil, err
	}
	if err := c.choose(entries); err != nil {
		return nil, err
	}
	return c, c.apply(a.configFile)
}

// typed remembers what the command line says, in its own words.
func (c *configuration) typed(line []string) error {
	_, rest, err := c.cmd.Root().Find(line)
	if err != nil {
		return err
	}
	return c.cmd.Flags().ParseAll(rest, func(flag *pflag.Flag, text string) error {
		s := c.set[flag.Name]
		if s == nil || !repeatable(flag) {
			s = &setting{whence: []string{"--" + flag.Name}}
			c.set[flag.Name] = s
		}
		s.texts = append(s.texts, text)
		return nil
	})
}

// choose picks the entries that are for the command, and makes sure that all
// others are for some command.
func (c *configuration) choose(entries []configEntry) error {
	own := strings.TrimPrefix(c.cmd.CommandPath(), c.cmd.Root().Name()+" ")
	for _, e := range entries {
		if err := c.known(e); err != nil {
			return err
		}
		was, twice := c.entries[e.key]
		switch {
		case e.named:
		case e.table != own && (e.table != "" || !hasKey(c.cmd, e.key)):
		case twice && was.table != "": // the command's own wins
		case twice:
			c.entries[e.key] = e
		default:
			c.entries[e.key] = e
			c.order = append(c.order, e.key)
		}
	}
	return nil
}

// apply sets the flags.
func (c *configuration) apply(note *configNote) error {
	for _, key := range c.order {
		e := c.entries[key]
		if key == targetsKey && takesTargets(c.cmd) {
			if err := c.takeTargets(e, note); err != nil {
				return err
			}
			continue
		}
		flag := c.cmd.Flags().Lookup(key)
		was := c.set[key]
		if was != nil && !repeatable(flag) {
			continue
		}
		texts, err := e.value.texts(flag)
		if err != nil {
			return c.bad(e, err)
		}
		if err := c.takeFlag(flag, e, texts, note); err != nil {
			return err
		}
	}
	return nil
}

// takeFlag sets a flag, just as if it was typed.
func (c *configuration) takeFlag(flag *pflag.Flag, e configEntry, texts []string, note *configNote) error {
	s := c.set[flag.Name]
	if s == nil {
		s = &setting{}
		c.set[flag.Name] = s
	}
	s.texts = append(s.texts, texts...)
	s.whence = append(s.whence, c.at(e))
	for _, text := range texts {
		if isOff(flag, text) {
			continue
		}
		if onlyTyped[flag.Name] != "" {
			return c.bad(e, errors.New("is for the command line only")).WithHint("%s", onlyTyped[flag.Name])
		}
		if err := flag.Value.Set(text); err != nil {
			return c.bad(e, err)
		}
		flag.Changed = true
		note.Flags = append(note.Flags, "--"+flag.Name+"="+text)
	}
	return nil
}

// onlyTyped are flags that make no sense in a file, and why.
var onlyTyped = map[string]string{
	"help":     "type --help",
	configFlag: "a file names no other",
	printFlag:  "type --print-config",
	"fresh":    "in a file it would discard the checkpoint again and again",
}

// at says where an entry stands.
func (c *configuration) at(e configEntry) string {
	return fmt.Sprintf("%s:%d", console.Plain(c.path, 200), e.line)
}

// lineError is an error of one value among several.
type lineError struct {
	line int
	error
}

// bad is the error of a value.
func (c *configuration) bad(e configEntry, err error) *console.Failure {
	line := e.line
	if in, ok := errors.AsType[lineError](err); ok {
		line = in.line
	}
	f := configFailure(c.path, line, "%s: %v", console.Plain(e.key, 60), err)
	if e.table == "" && len(c.commandsWith(e.key)) > 1 {
		return f.WithHint("a key before the first table is for every command with --%s: "+
			"what is for one stands under its name, such as [%s]", e.key, c.cmd.Name())
	}
	return f.WithHint("it takes what --%s takes: %s --help", e.key, c.cmd.CommandPath())
}

// takeTargets takes the arguments from the file, if none were typed.
func (c *configuration) takeTargets(e configEntry, note *configNote) error {
	if len(c.args) > 0 {
		return nil
	}
	for _, v := range e.value.list() {
		if v.kind != unstable.String || v.text == "" {
			return configFailure(c.path, v.line, "%s: want texts", targetsKey).
				WithHint(`targets = ["servers.txt", "203.0.113.7:27015"]`)
		}
		c.args = append(c.args, v.text)
	}
	if len(c.args) > 0 {
		c.argsBy = c.at(e)
	}
	note.Targets = slices.Clone(c.args)
	return nil
}

// list is the value as a list: itself, if it is none.
func (v configValue) list() []configValue {
	if v.kind == unstable.Array {
		return v.items
	}
	return []configValue{v}
}

// texts are what a flag is to be given, each time.
func (v configValue) texts(flag *pflag.Flag) ([]string, error) {
	if v.kind != unstable.Array {
		text, err := v.scalar(flag)
		return []string{text}, err
	}
	nested := slices.ContainsFunc(v.items, func(i configValue) bool { return i.kind == unstable.Array })
	switch {
	case nested && repeatable(flag), repeatable(flag) && !isList(flag):
		return eachOf(v.items, flag)
	case nested || !isList(flag):
		return nil, errors.New("takes one value, and this is a list")
	case len(v.items) == 0:
		return nil, nil
	}
	text, err := joined(v.items, flag)
	return []string{text}, err
}

// eachOf are the values of a flag that is given several times.
func eachOf(items []configValue, flag *pflag.Flag) (texts []string, err error) {
	for _, item := range items {
		text, err := joined(item.list(), flag)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// joined is a list as a flag takes it.
func joined(items []configValue, flag *pflag.Flag) (string, error) {
	var words []string
	for _, item := range items {
		word, err := item.scalar(flag)
		if err != nil {
			return "", err
		}
		words = append(words, word)
	}
	return strings.Join(words, ","), nil
}

// scalar is a single value as the flag would take it.
func (v configValue) scalar(flag *pflag.Flag) (string, error) {
	switch v.kind {
	case unstable.String, unstable.Integer, unstable.Float:
		return v.text, nil
	case unstable.Bool:
		return v.truth(flag)
	case unstable.Array:
		return "", lineError{v.line, errors.New("a list in a list in a list")}
	case unstable.InlineTable:
		return "", lineError{v.line, errors.New("a table is no value of a flag")}
	}
	return "", lineError{v.line, errors.New("a date is no value of a flag: put it in quotes")}
}

// truth is true or false as the flag would take it.
func (v configValue) truth(flag *pflag.Flag) (string, error) {
	switch {
	case flag.NoOptDefVal != "" && v.text == "true":
		return flag.NoOptDefVal, nil
	case flag.Value.Type() == "bool":
		return v.text, nil
	}
	return "", lineError{v.line, fmt.Errorf("takes a value, not %s", v.text)}
}

// isOff reports whether a text says that a flag is not given, as nobody would
// type it: linux = false.
func isOff(flag *pflag.Flag, text string) bool {
	return text == "false" && flag.Value.Type() == "bool" &&
		(flag.DefValue == "" || onlyTyped[flag.Name] != "")
}

// isList reports whether a flag's value is a list with commas.
func isList(flag *pflag.Flag) bool {
	name, _ := pflag.UnquoteUsage(flag)
	return name == "LIST" || name == "TAGS" || strings.Contains(name, ",")
}

// repeatable reports whether a flag that is given twice has two values.
func repeatable(flag *pflag.Flag) bool {
	if own, ok := flag.Value.(interface{ Repeatable() bool }); ok {
		return own.Repeatable()
	}
	_, slice := flag.Value.(pflag.SliceValue)
	return slice
}

// takesTargets reports whether a command's arguments are targets.
func takesTargets(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, "TARGET") }
