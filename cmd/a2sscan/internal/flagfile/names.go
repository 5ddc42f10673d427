package flagfile

import (
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Command is a command that may have a table in the file.
type Command struct {
	Name    string
	Flags   []Flag
	Targets bool // its arguments are targets
}

// Flag is a flag that may be set in the file.
type Flag struct {
	Name       string
	Short      string // one letter, or empty
	Bool       bool
	Number     bool
	Implied    string // value of a flag that is given without a value; empty: the flag needs a value
	Unset      bool   // the value false means that the flag is not given
	List       bool   // takes several values separated by commas
	Repeatable bool   // if it is given several times, all values are kept
	OnlyTyped  string // why the flag is allowed only on the command line; empty: it is allowed in the file
}

// flag returns the flag with this name.
func (c *Command) flag(name string) (Flag, bool) {
	i := slices.IndexFunc(c.Flags, func(f Flag) bool { return f.Name == name })
	if i < 0 {
		return Flag{}, false
	}
	return c.Flags[i], true
}

// has reports whether the command has a flag with the name key, or takes targets
// and key is TargetsKey.
func (c *Command) has(key string) bool {
	_, ok := c.flag(key)
	return ok || key == TargetsKey && c.Targets
}

// keys returns the keys that a file may have for the command.
func (c *Command) keys() (all []string) {
	for _, f := range c.Flags {
		if f.OnlyTyped == "" {
			all = append(all, f.Name)
		}
	}
	if c.Targets {
		all = append(all, TargetsKey)
	}
	return all
}

// command returns the command with this name; nil if there is none.
func (f *File) command(name string) *Command {
	i := slices.IndexFunc(f.commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &f.commands[i]
}

// commandsWith returns the names of the commands that have a key.
func (f *File) commandsWith(key string) (names []string) {
	for i := range f.commands {
		if f.commands[i].has(key) {
			names = append(names, f.commands[i].Name)
		}
	}
	return names
}

// For returns the entries that apply to the command called name, in the order of
// the file. It returns an error if any entry is wrong, even for another command.
func (f *File) For(name string) (chosen []Entry, err error) {
	own := f.command(name)
	for _, e := range f.entries {
		if err := f.check(e); err != nil {
			return nil, err
		}
		if e.header || e.table != name && (e.table != "" || !own.has(e.Key)) {
			continue
		}
		was := slices.IndexFunc(chosen, func(c Entry) bool { return c.Key == e.Key })
		switch {
		case was < 0:
			chosen = append(chosen, e)
		case chosen[was].table == "":
			chosen[was] = e // the key in the command's table overrides the key before the first table
		}
	}
	return chosen, nil
}

// check returns an error for an entry that no command accepts, or that is allowed
// only on the command line.
func (f *File) check(e Entry) error {
	of := f.command(e.table)
	list, isList := e.Value.([]any)
	switch {
	case (e.header || e.table != "") && of == nil:
		return f.noCommand(e)
	case e.header:
		return nil
	case isList && e.table == "" && f.command(e.Key) != nil && len(list) > 0:
		return f.Fail(e.Line, "[[%s]]: a command has one table", e.Key).WithHint("write [%s]", e.Key)
	}
	if hint := f.onlyTyped(e); hint != "" {
		return f.Fail(e.Line, "%s is for the command line only", e.Key).WithHint("%s", hint)
	}
	if e.table == "" && len(f.commandsWith(e.Key)) > 0 || of != nil && of.has(e.Key) {
		return nil
	}
	return f.noFlag(of, e)
}

// onlyTyped explains why an entry is not allowed in a file. It returns "" if the
// entry is allowed; an entry that only unsets the flag always is.
func (f *File) onlyTyped(e Entry) string {
	for i := range f.commands {
		if flag, ok := f.commands[i].flag(e.Key); ok && !(flag.Unset && e.Value == false) {
			return flag.OnlyTyped
		}
	}
	return ""
}

// noCommand returns the error for a table whose name is not the name of a command.
func (f *File) noCommand(e Entry) error {
	var names []string
	for _, c := range f.commands {
		names = append(names, c.Name)
	}
	err := f.Fail(e.Line, "[%s]: no such command", console.Plain(e.table, 60)).
		WithHint("a table has the name of a command: [scan]")
	if like := console.Nearest(e.table, names); like != "" {
		err.WithHint("did you mean [%s]?", like)
	}
	return err
}

// noFlag returns the error for a key that is not a flag of the command of. If of is
// nil, no command has such a flag.
func (f *File) noFlag(of *Command, e Entry) error {
	key := console.Plain(e.Key, 60)
	help := "a2sscan --help lists the commands"
	err, names := f.Fail(e.Line, "%s: no command has such a flag", key), []string(nil)
	for i := range f.commands {
		names = append(names, f.commands[i].keys()...)
	}
	if of != nil {
		err, names = f.Fail(e.Line, "%s: %s has no such flag", key, of.Name), of.keys()
		help = "a2sscan " + of.Name + " --help lists the flags"
	}
	like := console.Nearest(e.Key, names)
	if of != nil {
		like = cmpShort(of.Flags, e.Key, like)
	}
	switch others := f.commandsWith(e.Key); {
	case len(others) > 0:
		return err.WithHint("%s has it: put it under [%s]", others[0], others[0])
	case like != "":
		return err.WithHint("did you mean %s?", like)
	case strings.Contains(e.Key, "key"):
		return err.WithHint("the key of the Web API does not belong here: key-file names a file with it")
	}
	return err.WithHint("%s", help)
}

// cmpShort returns the name of the flag with this short letter, or like if there is
// none.
func cmpShort(flags []Flag, letter, like string) string {
	i := slices.IndexFunc(flags, func(f Flag) bool { return f.Short != "" && f.Short == letter })
	if i < 0 {
		return like
	}
	return flags[i].Name
}

// Bad returns the error for a value that the flag does not accept.
func (f *File) Bad(command string, e Entry, err error) error {
	bad := f.Fail(e.Line, "%s: %v", console.Plain(e.Key, 60), err)
	if e.table == "" && len(f.commandsWith(e.Key)) > 1 {
		return bad.WithHint("a key before the first table is for every command with --%s: "+
			"put what is for one under its name, such as [%s]", e.Key, command)
	}
	return bad.WithHint("it takes what --%s takes: a2sscan %s --help", e.Key, command)
}

// Targets returns the arguments in the value of TargetsKey.
func (f *File) Targets(e Entry) (targets []string, err error) {
	for _, v := range listOf(e.Value) {
		text, ok := v.(string)
		if !ok || text == "" {
			return nil, f.Fail(e.Line, "%s: want texts", TargetsKey).
				WithHint(`targets = ["servers.txt", "203.0.113.7:27015"]`)
		}
		targets = append(targets, text)
	}
	return targets, nil
}
