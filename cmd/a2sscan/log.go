package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The log's grammar.
//
//   - A line is one notable thing: what happened as its message, a few fixed
//     words, and the particulars as attributes. Never one a packet: what repeats
//     is told when it is first seen, and then at most once a minute, as a sum.
//   - info is what an untroubled scan tells, warn what somebody should look at
//     one day, error why it ended. What is said on the terminal stands in the log
//     at debug.
//   - Text that is not ours passes through plain, whichever attribute it is in
//     (see harmless), so that no line can be forged and no terminal painted by
//     it.
//   - Times are UTC.

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
		return fail(exitUsage, "--log-format without --log-file").hinting("name the file with --log-file FILE")
	case f.file == "" && f.level.said:
		return fail(exitUsage, "--log-level without --log-file").hinting("name the file with --log-file FILE")
	case f.file == "-":
		return fail(exitUsage, "--log-file can't be standard output").
			hinting("records have that for themselves; standard error is --log-file %s, best with -q", standardError)
	case slices.ContainsFunc(others, shared):
		return fail(exitUsage, "--log-file names the file of another flag").hinting("the log is a file of its own")
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

// openLog begins the log that the flags name. It is appended to, so that a
// tool that copies and truncates it needs no signal.
func (a *app) openLog(f *logFlags) error {
	if f.file == "" {
		return nil
	}
	if f.file == standardError {
		a.log = slog.New(newLogHandler(&screenLog{a.terminal}, f))
		return nil
	}
	file, err := os.OpenFile(f.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fail(exitUsage, "--log-file %s: %w", plain(f.file, 200), pathless(err)).
			hinting("name a file that may be written, in a folder that is there")
	}
	a.log = slog.New(newLogHandler(&logFile{terminal: a.terminal, w: file, name: f.file}, f))
	return nil
}

func newLogHandler(w io.Writer, f *logFlags) slog.Handler {
	o := &slog.HandlerOptions{Level: f.level.Level, ReplaceAttr: harmless}
	if f.format.json {
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

// standardError is the name of a log that goes where the program speaks. It is
// not opened: that does not go well where it is a socket, as under systemd.
const standardError = "/dev/stderr"

// screenLog writes lines between those of the terminal.
type screenLog struct{ *terminal }

// Write writes one line.
func (l *screenLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wipe()
	l.shown = ""
	return l.err.Write(line)
}

// logFile is where lines go. A log that can't be written any more is said once
// and ends nothing: the scan is worth more.
type logFile struct {
	*terminal
	w    io.WriteCloser
	name string
	lost bool
}

// Write writes one line. slog calls it once at a time.
func (l *logFile) Write(line []byte) (int, error) {
	n, err := l.w.Write(line)
	if err != nil && !l.lost {
		l.lost = true
		l.line("a2sscan: " + fmt.Sprintf("log %s: can't be written: %v; the scan goes on",
			plain(l.name, 200), pathless(err)))
	}
	return n, err
}

// maxLogged is the number of characters after which a text of the log is cut.
const maxLogged = 1000

// harmless makes an attribute one that can be shown: text is plain, an error
// its text, a time UTC.
func harmless(_ []string, a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(plain(a.Value.String(), maxLogged))
	case slog.KindTime:
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	case slog.KindAny:
		if _, level := a.Value.Any().(slog.Level); !level {
			a.Value = slog.StringValue(plain(fmt.Sprint(a.Value.Any()), maxLogged))
		}
	}
	return a
}

// logEnd logs the error with which the program ends, if there is one.
func (a *app) logEnd(err error) {
	if err == nil {
		return
	}
	attrs := []any{"error", err, "exit_code", exitCode(err)}
	if f, ok := errors.AsType[*failure](err); ok && f.hint != "" {
		attrs = append(attrs, "hint", f.hint)
	}
	a.log.Error("ended with an error", attrs...)
}
