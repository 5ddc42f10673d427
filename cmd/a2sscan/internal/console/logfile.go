package console

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"
)

// The rules of the log:
//
//   - A line is one notable event: the message says in a few fixed words what happened, and
//     the attributes have the details. There is never a line per packet.
//   - Level info is for events of a scan without trouble, warn for events that somebody
//     should look into, error for bugs and for the error that ended the program.
//   - All strings in attributes pass through Plain (see harmless). So text from outside can
//     neither forge a line nor control the terminal.
//   - Times are UTC.

// OpenLog opens the log, which is a file or standard error. It opens a file for appending,
// so a program that rotates logs may copy the file and then truncate it.
func (t *Terminal) OpenLog(name string) error {
	if name == StandardError {
		t.Log = slog.New(NewLogHandler(&beside{t, t.out}))
		return nil
	}
	// Without O_NONBLOCK, opening a named pipe would wait for a reader.
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o666)
	if errors.Is(err, syscall.ENXIO) {
		return Fail(ExitUsage, "--log-file %s: no program reads the pipe", Plain(name, 200)).
			WithHint("start the program that reads the pipe first")
	}
	if err != nil {
		return Fail(ExitUsage, "--log-file %s: %w", Plain(name, 200), WithoutPath(err)).
			WithHint("name a writable file in an existing directory")
	}
	t.logged = newQueue(file, func(n int) string {
		return fmt.Sprintf("time=%s level=WARN msg=\"lines lost while nothing read the log\" lines=%d\n", time.Now().UTC().Format(time.RFC3339Nano), n)
	})
	t.Log = slog.New(NewLogHandler(&logFile{terminal: t, w: t.logged, name: name}))
	return nil
}

// NewLogHandler returns a handler that writes each event to w as a line of key=value pairs.
func NewLogHandler(w io.Writer) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: harmless})
}

// StandardError is the file name that means standard error. OpenLog does not open this
// file, because opening fails if standard error is a socket, as under systemd.
const StandardError = "/dev/stderr"

// logFile writes the lines of the log to a file. It prints only the first error, because
// the program continues without a log.
type logFile struct {
	terminal *Terminal
	w        io.Writer
	name     string
	lost     bool
}

// Write writes one line. The handlers of slog never call Write concurrently.
func (l *logFile) Write(line []byte) (int, error) {
	n, err := l.w.Write(line)
	if err != nil && !l.lost {
		l.lost = true
		l.terminal.Say("the program continues, but can't write to the log %s: %v", Plain(l.name, 200), WithoutPath(err))
	}
	return n, err
}

// maxLogged is the maximum number of characters of a string in the log.
const maxLogged = 1000

// harmless makes an attribute safe to show. It escapes strings, and converts times to UTC.
// Errors and other values for which slog has no kind become escaped strings.
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
