package console

import (
	"fmt"
	"io"
	"log/slog"
	"os"
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

// OpenLog opens the log: a file, or standard error under its name. A file is
// appended to, so that a tool that copies and truncates it needs no signal.
func (t *Terminal) OpenLog(name string, asJSON bool, level slog.Level) error {
	if name == StandardError {
		t.Log = slog.New(NewLogHandler(&screenLog{t}, asJSON, level))
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return Fail(ExitUsage, "--log-file %s: %w", Plain(name, 200), WithoutPath(err)).
			WithHint("name a file that may be written, in a folder that is there")
	}
	t.Log = slog.New(NewLogHandler(&logFile{terminal: t, w: file, name: name}, asJSON, level))
	return nil
}

func NewLogHandler(w io.Writer, asJSON bool, level slog.Level) slog.Handler {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: harmless}
	if asJSON {
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

// StandardError is the name of a log that goes where the program speaks. It is
// not opened: that does not go well where it is a socket, as under systemd.
const StandardError = "/dev/stderr"

// screenLog writes lines between those of the terminal.
type screenLog struct{ t *Terminal }

// Write writes one line.
func (l *screenLog) Write(line []byte) (int, error) {
	return l.t.writeLine(line)
}

// logFile is where lines go. A log that can't be written any more is said once
// and ends nothing: the scan is worth more.
type logFile struct {
	terminal *Terminal
	w        io.WriteCloser
	name     string
	lost     bool
}

// Write writes one line. slog calls it once at a time.
func (l *logFile) Write(line []byte) (int, error) {
	n, err := l.w.Write(line)
	if err != nil && !l.lost {
		l.lost = true
		l.terminal.Line("a2sscan: " + fmt.Sprintf("log %s: can't be written: %v; the scan goes on",
			Plain(l.name, 200), WithoutPath(err)))
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
		a.Value = slog.StringValue(Plain(a.Value.String(), maxLogged))
	case slog.KindTime:
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	case slog.KindAny:
		if _, level := a.Value.Any().(slog.Level); !level {
			a.Value = slog.StringValue(Plain(fmt.Sprint(a.Value.Any()), maxLogged))
		}
	}
	return a
}
