package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// docsCommand writes what packages ship beside the program. It is of no use to
// who has them, so the help does not list it.
func (a *app) docsCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "docs DIR",
		Short:  "Write the pages for man and the completions for shells",
		Hidden: true,
		Long: `Writes the pages for man into DIR/man, and what makes bash, zsh and fish
complete commands, flags and their values into DIR/completions. Both are made
of the commands themselves, and the same program writes the same bytes.`,
		Example: `  a2sscan docs packaging
  a2sscan docs .
  a2sscan docs "$HOME/.local/share"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return console.Fail(console.ExitUsage, "docs needs one directory").WithHint("a2sscan docs packaging")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := docs(cmd.Root())
			if err != nil {
				return err
			}
			return writeDocs(args[0], files)
		},
	}
}

// docFile is a file that the commands describe themselves in.
type docFile struct {
	name string // below packaging
	text []byte
}

// docs returns all of them.
func docs(root *cobra.Command) (files []docFile, err error) {
	for _, cmd := range manCommands(root) {
		files = append(files, docFile{"man/" + manName(cmd) + ".1", []byte(manPage(cmd))})
	}
	var bash, zsh, fish bytes.Buffer
	for _, err := range []error{
		root.GenBashCompletionV2(&bash, true), root.GenZshCompletion(&zsh), root.GenFishCompletion(&fish, true),
	} {
		if err != nil {
			return nil, err
		}
	}
	return append(files,
		docFile{"completions/a2sscan.bash", bash.Bytes()},
		docFile{"completions/a2sscan.zsh", zsh.Bytes()},
		docFile{"completions/a2sscan.fish", fish.Bytes()}), nil
}

// writeDocs writes them, and removes pages of commands that are gone.
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
