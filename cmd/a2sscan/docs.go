package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/manual"
)

// docsCommand generates the files that packages ship with the program. The help
// does not list it, because users of a package already have these files.
func (a *app) docsCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "docs DIR",
		Short:  "Write the man pages and the shell completions",
		Hidden: true,
		Long: `Writes the man pages into DIR/man, and scripts that complete commands, flags and
values in bash, zsh and fish into DIR/completions. Both are generated from the
commands themselves; the same program writes the same bytes.`,
		Example: `  a2sscan docs packaging
  a2sscan docs .
  a2sscan docs "$HOME/.local/share"`,
		Args: wantArgs(1, 1, "docs needs one directory", "a2sscan docs packaging"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := docs(cmd.Root())
			if err != nil {
				return err
			}
			return writeDocs(args[0], files)
		},
	}
}

// docFile is a generated file.
type docFile struct {
	name string // path below the output directory
	text []byte
}

// docs generates the man pages and the completion scripts.
func docs(root *cobra.Command) (files []docFile, err error) {
	for _, page := range manPages(root) {
		files = append(files, docFile{"man/" + page.name + ".1", page.text})
	}
	var bash, zsh, fish bytes.Buffer
	err = errors.Join(root.GenBashCompletionV2(&bash, true), root.GenZshCompletion(&zsh), root.GenFishCompletion(&fish, true))
	return append(files,
		docFile{"completions/a2sscan.bash", bash.Bytes()},
		docFile{"completions/a2sscan.zsh", zsh.Bytes()},
		docFile{"completions/a2sscan.fish", fish.Bytes()}), err
}

// manPages returns the man pages of the program and its commands, by their names.
func manPages(root *cobra.Command) (pages []docFile) {
	commands := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" && c.Name() != "help" {
			commands = append(commands, c)
		}
	}
	var names []string
	for _, c := range commands {
		names = append(names, manual.PageName(c.CommandPath()))
	}
	for i, c := range commands {
		c.InitDefaultHelpFlag()
		_, args, _ := strings.Cut(c.Use, " ")
		page := &manual.Command{Path: c.CommandPath(), Short: c.Short, Arguments: args, Long: c.Long, Example: c.Example}
		if c == root {
			page.Arguments = "COMMAND …"
			for _, below := range commands[1:] {
				page.Commands = append(page.Commands, manual.Item{Tag: "**" + below.Name() + "**", Text: below.Short})
			}
			page.Commands = append(page.Commands, manual.Item{Tag: "**completion bash**, **zsh**, **fish**",
				Text: "Print a script that completes commands, flags and their values"})
		}
		groups := flagGroups(c)
		if ofMaster := annotated(c, forMaster); len(ofMaster) > 0 {
			groups = append(groups, flagGroup{Title: "With --master: filters (a server must match all), and how to fetch the list", flags: ofMaster})
		}
		for _, g := range groups {
			group := manual.Group{Title: g.Title}
			for _, f := range g.flags {
				group.Flags = append(group.Flags, manualItem(f))
			}
			page.Groups = append(page.Groups, group)
		}
		pages = append(pages, docFile{names[i], []byte(manual.Page(page, names))})
	}
	return pages
}

// manualItem describes a flag in a man page.
func manualItem(f *pflag.Flag) manual.Item {
	value, usage := pflag.UnquoteUsage(f)
	tag := "**--" + f.Name + "**"
	if f.Shorthand != "" {
		tag = "**-" + f.Shorthand + "**, " + tag
	}
	switch {
	case value != "" && f.NoOptDefVal != "":
		tag += "[=*" + value + "*]"
	case value != "":
		tag += " *" + value + "*"
	}
	if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
		usage += " (default " + f.DefValue + ")"
	}
	return manual.Item{Tag: tag, Text: usage}
}

// writeDocs writes the files and removes the pages of commands that no longer exist.
func writeDocs(dir string, files []docFile) error {
	old, err := filepath.Glob(filepath.Join(dir, "man", "a2sscan*.1"))
	if err != nil {
		return console.Fail(console.ExitUsage, "%w", err)
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return console.Fail(console.ExitOutput, "%w", err)
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return console.Fail(console.ExitOutput, "%w", err)
		}
		if err := os.WriteFile(path, f.text, 0o666); err != nil {
			return console.Fail(console.ExitOutput, "%w", fmt.Errorf("docs: %w", err))
		}
	}
	return nil
}
