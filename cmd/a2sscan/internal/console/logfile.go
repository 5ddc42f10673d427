package console

import (
	"fmt"
	"io"
	"log/slog"
	"os"
)

// The log's grammar.
//
//   - Each line describes one event. Its message is a few fixed words, and the
//     details are attributes. No packet has a line of its own: an event that repeats
//     is logged when it first occurs, and then at most once a minute, as a sum.
//   - A scan without trouble logs at info. warn is for what somebody should look at
//     one day, error for the reason why the scan ended. Messages on the terminal are
//     logged at debug.
//   - Foreign text passes through Plain, in every attribute (see harmless), so that
//     it can't forge a line or control a terminal.
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

// StandardError is the name of a log that goes to standard error. The program does
// not open it: under systemd it is a socket, which can't be opened by name.
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

// harmless makes an attribute safe to show: it escapes text, replaces an error by its
// text, and converts a time to UTC.
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
