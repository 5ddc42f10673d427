package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
)

// logFlags choose the log file and its format.
type logFlags struct {
	file   string
	format flagvalue.LogFormat
	level  flagvalue.LogLevel
}

func (f *logFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.file, "log-file", "", "append one line per notable event to `FILE`; /dev/stderr: to standard error, beside the usual messages")
	fs.Var(&f.format, "log-format", "format of the log: text or json")
	fs.Var(&f.level, "log-level", "log events of this level and above: debug, info, warn or error")
}

// check returns an error for a format or level without a log file, for a log on
// standard output, and for a log in the file of another flag. others are the files of
// those flags.
func (f *logFlags) check(others ...string) error {
	shared := func(other string) bool { return other != "" && inputs.SamePath(f.file, other) }
	switch {
	case f.file == "" && f.format.Given:
		return console.Fail(console.ExitUsage, "--log-format without --log-file").WithHint("name the file with --log-file FILE")
	case f.file == "" && f.level.Given:
		return console.Fail(console.ExitUsage, "--log-level without --log-file").WithHint("name the file with --log-file FILE")
	case f.file == "-":
		return console.Fail(console.ExitUsage, "--log-file can't be standard output").
			WithHint("records have that for themselves; standard error is --log-file %s, best with -q", console.StandardError)
	case slices.ContainsFunc(others, shared):
		return console.Fail(console.ExitUsage, "--log-file names the file of another flag").WithHint("the log is a file of its own")
	}
	return nil
}

// openLog opens the log that the flags name.
func (a *app) openLog(f *logFlags) error {
	if f.file == "" {
		return nil
	}
	return a.term.OpenLog(f.file, f.format.JSON, f.level.Level)
}
