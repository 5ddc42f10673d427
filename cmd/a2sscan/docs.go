package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// docsCommand returns the command that generates the man pages and completions for Linux
// packages of a2sscan. The help does not list it, because users of a package already have
// these files.
func (a *app) docsCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "docs DIR",
		Short:  "Write the man pages and the shell completions",
		Hidden: true,
		Long: `Writes the man pages into DIR/man, and scripts that complete commands, flags and
values in bash, zsh and fish into DIR/completions. Both are generated from the
commands themselves; a version of a2sscan always writes the same bytes.`,
		Example: `  a2sscan docs packaging
  a2sscan docs .
  a2sscan docs "$HOME/.local/share"`,
		Args: wantArgs(1, 1, "docs needs one directory", "a2sscan docs packaging"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := docs(cmd.Root())
			old, _ := filepath.Glob(filepath.Join(args[0], "man", "a2sscan*.1"))
			for _, name := range old { // also removes the pages of commands that no longer exist
				err = errors.Join(err, os.Remove(name))
			}
			for _, f := range files {
				path := filepath.Join(args[0], filepath.FromSlash(f.name))
				if err == nil {
					err = os.MkdirAll(filepath.Dir(path), 0o777)
				}
				if err == nil {
					err = os.WriteFile(path, f.text, 0o666)
				}
			}
			if err != nil {
				return console.Fail(console.ExitOutput, "docs: %w", err)
			}
			return nil
		},
	}
}

type docFile struct {
	name string // path below the output directory
	text []byte
}

func docs(root *cobra.Command) (files []docFile, err error) {
	commands := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" && c.Name() != "help" {
			commands = append(commands, c)
		}
	}
	var names []string
	for _, c := range commands {
		names = append(names, strings.ReplaceAll(c.CommandPath(), " ", "-"))
	}
	for i, c := range commands {
		others := slices.Delete(slices.Clone(names), i, i+1)
		files = append(files, docFile{"man/" + names[i] + ".1", []byte(manPage(c, names[i], others, commands[1:]))})
	}
	var bash, zsh, fish bytes.Buffer
	err = errors.Join(root.GenBashCompletionV2(&bash, true), root.GenZshCompletion(&zsh), root.GenFishCompletion(&fish, true))
	return append(files,
		docFile{"completions/a2sscan.bash", bash.Bytes()},
		docFile{"completions/a2sscan.zsh", zsh.Bytes()},
		docFile{"completions/a2sscan.fish", fish.Bytes()}), err
}
