package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
)

// logFlag is the flag that names the log file.
type logFlag struct{ file string }

func (f *logFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "log-file", "",
		"append one line per notable event to `FILE`; /dev/stderr: to standard error, beside the usual messages")
}

// check returns an error for a log on standard output, or in the file of another flag.
// others are the files of those flags.
func (f *logFlag) check(others ...string) error {
	switch {
	case f.file == "-":
		return console.Fail(console.ExitUsage, "--log-file can't be standard output").
			WithHint("records have that for themselves; standard error is --log-file %s, best with -q", console.StandardError)
	case slices.ContainsFunc(others, func(other string) bool { return other != "" && inputs.SamePath(f.file, other) }):
		return console.Fail(console.ExitUsage, "--log-file names the file of another flag").WithHint("the log is a file of its own")
	}
	return nil
}

// openLog opens the log that the flag names.
func (a *app) openLog(f *logFlag) error {
	if f.file == "" {
		return nil
	}
	return a.term.OpenLog(f.file)
}
