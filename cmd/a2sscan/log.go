package main

import (
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/spf13/cobra"
)

// logFlags say where the log goes.
type logFlags struct {
	file   string
	format logFormat
	level  logLevel
}

func (f *logFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.file, "log-file", "", "append a line to `FILE` for each notable thing; /dev/stderr: standard error; what is said there stays the same")
	fs.Var(&f.format, "log-format", "of the log: text, or json")
	fs.Var(&f.level, "log-level", "least that is logged: debug, info, warn or error")
}

// check refuses a format of no log, and a log in one of those other files.
func (f *logFlags) check(others ...string) error {
	shared := func(other string) bool { return other != "" && same(f.file, other) }
	switch {
	case f.file == "" && f.format.said:
		return console.Fail(console.ExitUsage, "--log-format without --log-file").WithHint("name the file with --log-file FILE")
	case f.file == "" && f.level.said:
		return console.Fail(console.ExitUsage, "--log-level without --log-file").WithHint("name the file with --log-file FILE")
	case f.file == "-":
		return console.Fail(console.ExitUsage, "--log-file can't be standard output").
			WithHint("records have that for themselves; standard error is --log-file %s, best with -q", console.StandardError)
	case slices.ContainsFunc(others, shared):
		return console.Fail(console.ExitUsage, "--log-file names the file of another flag").WithHint("the log is a file of its own")
	}
	return nil
}

// logFormat is a flag's form of lines.
type logFormat struct{ json, said bool }

// Set reads "text" or "json".
func (f *logFormat) Set(s string) error {
	if s != "text" && s != "json" {
		return errors.New("want text or json")
	}
	*f = logFormat{s == "json", true}
	return nil
}

func (f *logFormat) String() string {
	if f.json {
		return "json"
	}
	return "text"
}

// Type is the word that stands for the value in the help.
func (f *logFormat) Type() string { return "FORMAT" }

// logLevel is a flag's least level.
type logLevel struct {
	slog.Level
	said bool
}

// Set reads one of slog's words.
func (l *logLevel) Set(s string) error {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if s == strings.ToLower(level.String()) {
			*l = logLevel{level, true}
			return nil
		}
	}
	return errors.New("want debug, info, warn or error")
}

func (l *logLevel) String() string { return strings.ToLower(l.Level.String()) }

// Type is the word that stands for the value in the help.
func (l *logLevel) Type() string { return "LEVEL" }

// openLog opens the log that the flags name.
func (a *app) openLog(f *logFlags) error {
	if f.file == "" {
		return nil
	}
	return a.OpenLog(f.file, f.format.json, f.level.Level)
}

// logEnd logs the error with which the program ends, if there is one.
func (a *app) logEnd(err error) {
	if err == nil {
		return
	}
	attrs := []any{"error", err, "exit_code", console.ExitCode(err)}
	if f, ok := errors.AsType[*console.Failure](err); ok && f.Hint != "" {
		attrs = append(attrs, "hint", f.Hint)
	}
	a.Log.Error("ended with an error", attrs...)
}
