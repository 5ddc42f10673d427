package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/manual"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scanrun"
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

// docFile is a generated file.
type docFile struct {
	name string // path below the output directory
	text []byte
}

// docs generates the man pages and the completion scripts.
func docs(root *cobra.Command) (files []docFile, err error) {
	for name, text := range manual.Pages(describePage(root), variables) {
		files = append(files, docFile{"man/" + name + ".1", []byte(text)})
	}
	var bash, zsh, fish bytes.Buffer
	err = errors.Join(root.GenBashCompletionV2(&bash, true), root.GenZshCompletion(&zsh), root.GenFishCompletion(&fish, true))
	return append(files,
		docFile{"completions/a2sscan.bash", bash.Bytes()},
		docFile{"completions/a2sscan.zsh", zsh.Bytes()},
		docFile{"completions/a2sscan.fish", fish.Bytes()}), err
}

// variables are the environment variables that the program reads, for the man page.
var variables = []manual.Fact{
	{What: masterlist.KeyVariable, Text: "the key of the Steam Web API, unless --key-file names a file with it"},
	{What: "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN", Text: "credentials for s3:// names; no output contains them"},
	{What: "AWS_PROFILE, AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE", Text: "where to find credentials, region and endpoint if variables do not have them"},
	{What: "AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL", Text: "URL of the store, such as http://127.0.0.1:9000 (default: that of AWS)"},
	{What: "AWS_REGION, AWS_DEFAULT_REGION", Text: "region of the store"},
	{What: "NO_COLOR", Text: "if it is set, text on a terminal has no colours, unless --color always"},
	{What: "JOB_COMPLETION_INDEX, SLURM_ARRAY_TASK_ID", Text: "the part that --shard auto/N takes, from 0; Kubernetes sets the first in an indexed job, Slurm the second in a job array"},
	{What: "GOMEMLIMIT", Text: "the memory limit of the Go runtime; without it scan sets " + strconv.Itoa(scanrun.MemoryLimit>>20) + " MiB"},
}

// describePage describes a command and its visible subcommands to package manual.
func describePage(cmd *cobra.Command) *manual.Command {
	cmd.InitDefaultHelpFlag()
	_, args, _ := strings.Cut(cmd.Use, " ")
	c := &manual.Command{
		Path: cmd.CommandPath(), Short: cmd.Short, Arguments: args, Long: cmd.Long, Example: cmd.Example,
		Filters: pageFlags(annotated(cmd, forMaster)),
	}
	for _, g := range flagGroups(cmd) {
		c.Groups = append(c.Groups, manual.Group{Title: g.Title, Flags: pageFlags(g.flags)})
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() && below.Name() != "completion" && below.Name() != "help" {
			c.Commands = append(c.Commands, *describePage(below))
		}
	}
	return c
}

func pageFlags(flags []*pflag.Flag) (all []manual.Flag) {
	for _, f := range flags {
		value, usage := pflag.UnquoteUsage(f)
		all = append(all, manual.Flag{
			Name: f.Name, Short: f.Shorthand, Value: value, Optional: f.NoOptDefVal != "",
			Usage: usage, Default: f.DefValue,
		})
	}
	return all
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
