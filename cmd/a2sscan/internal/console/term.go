// Package console handles what the program shows to its user: messages, hints, the
// status line, the log, exit codes, and formatted numbers. It imports no other
// package of this module.
package console

// The rules of the terminal:
//
//   - Results go to standard output, everything else to standard error.
//   - Each line on standard error begins with "a2sscan: ", is in lower case and has no
//     full stop.
//   - An error names the problem, the place and the offending text. The remedy is on a
//     line of its own: "a2sscan: hint: …".
//   - Text from outside (names, paths, input lines, errors of the system) passes
//     through Plain before it reaches a terminal. The functions below do that for
//     complete lines, so callers cannot forget it.
//   - A status line is rewritten in place on a terminal. Elsewhere it is printed from
//     time to time. It is wiped before any other line is printed.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxLine is the maximum number of characters of a line on standard error: enough
// for a list of words, but too few to fill a screen.
const MaxLine = 1000

// Terminal prints messages for the user. Its methods may be called from several
// goroutines.
type Terminal struct {
	mu          sync.Mutex
	err         io.Writer
	Interactive bool   // err is a terminal, so a line can be rewritten
	status      bool   // the screen shows a status line
	line        string // the status line that the screen shows
	shown       string // the last line printed, if that was a status line

	columns func() int   // width of the screen, in tests; nil: ask the system
	Log     *slog.Logger // the log of --log-file; without that flag it discards everything
}

// New returns a terminal that prints messages to w.
func New(w io.Writer) *Terminal {
	return &Terminal{err: w, Interactive: IsTerminal(w), Log: slog.New(slog.DiscardHandler)}
}

// NewScreen returns a terminal that treats w as a screen. columns returns its
// width, which may change between calls.
func NewScreen(w io.Writer, columns func() int) *Terminal {
	t := New(w)
	t.Interactive, t.columns = true, columns
	return t
}

// Messages returns the writer that messages go to.
func (t *Terminal) Messages() io.Writer { return t.err }

// speaker is the prefix of every message. It shows which program wrote the message.
const speaker = "a2sscan: "

// Say prints one line on standard error. On a terminal it is wrapped at words.
func (t *Terminal) Say(format string, args ...any) { t.Line(speaker + fmt.Sprintf(format, args...)) }

// Hint prints one line with a hint.
func (t *Terminal) Hint(format string, args ...any) { t.Say("hint: "+format, args...) }

// Line prints one line without the program's name before it. On a terminal it is
// wrapped.
func (t *Terminal) Line(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lineLocked(s)
}

func (t *Terminal) lineLocked(s string) {
	t.wipe()
	t.shown = ""
	rows := []string{Plain(s, MaxLine)}
	if t.Interactive {
		rows = Wrap(rows[0], t.Width(), len(speaker))
	}
	fmt.Fprintln(t.err, strings.Join(rows, "\n"))
}

// Command prints a line that ends with a command. The line is not wrapped, so that
// the command can be copied.
func (t *Terminal) Command(s string) {
	t.mu.Lock()
	t.wipe()
	t.shown = ""
	fmt.Fprintln(t.err, Plain(speaker+s, MaxLine))
	t.mu.Unlock()
}

// FinalStatus prints s as the last status line, unless the previous line is the
// same.
func (t *Terminal) FinalStatus(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s != t.shown {
		t.lineLocked(speaker + s)
	}
}

// ShowStatus shows s as the status line. On a terminal it rewrites the line in
// place and cuts it to the width. Elsewhere it prints an ordinary line, unless the
// previous line is the same.
func (t *Terminal) ShowStatus(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.Interactive {
		if s != t.shown {
			t.lineLocked(speaker + s)
			t.shown = s
		}
		return
	}
	fmt.Fprint(t.err, "\r\x1b[K"+Plain(s, t.StatusWidth()))
	t.status, t.line = true, s
}

// StatusWidth returns the maximum width of a status line, or 0 without a terminal.
// The last column stays free, because some terminals wrap when it is written.
func (t *Terminal) StatusWidth() int {
	if !t.Interactive {
		return 0
	}
	return t.Width() - 1
}

// LogWidth is the width of a line that does not go to a terminal.
const LogWidth = 120

// Width returns the current width of a line.
func (t *Terminal) Width() int {
	switch {
	case !t.Interactive:
		return LogWidth
	case t.columns != nil:
		return t.columns()
	}
	return WidthOf(t.err)
}

// ClearStatus removes the status line.
func (t *Terminal) ClearStatus() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
}

func (t *Terminal) wipe() {
	if t.status {
		fmt.Fprint(t.err, "\r\x1b[K")
		t.status = false
	}
}

// Plain returns s in a form that is safe to show. The result has at most width
// characters; if it is cut, it ends with "…". Everything but visible characters and
// spaces is escaped: control and C1 characters, bidirectional and invisible
// characters, line separators, and bytes that are not UTF-8.
func Plain(s string, width int) string {
	var b strings.Builder
	left := width
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		shown := escaped(r, s[i:i+n])
		cells := utf8.RuneCountInString(shown)
		i += n
		if cells > left || cells == left && i < len(s) {
			b.WriteString("…")
			break
		}
		b.WriteString(shown)
		left -= cells
	}
	return b.String()
}

// escaped returns the visible form of the character r. raw has its bytes.
func escaped(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case unicode.IsPrint(r):
		return raw
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Quoted returns a string from outside in quotes and in a form that is safe to
// show. It cuts the string to width characters, as Plain does. Then it escapes the
// quotes in it, so that the string can't be mistaken for the text that follows it.
func Quoted(s string, width int) string {
	return `"` + strings.ReplaceAll(Plain(s, width), `"`, `\"`) + `"`
}

// OpenFailure returns the error for an input that can't be opened.
func OpenFailure(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	f := Fail(ExitInput, "can't open %s: %w", Plain(name, 200), err)
	if errors.Is(err, syscall.ENOENT) {
		f.WithHint("check its name")
	}
	return f
}

// RepeatStatus shows the result of line as the status line at intervals, until stop
// is called.
func (t *Terminal) RepeatStatus(every time.Duration, line func() string) (stop func()) {
	end := Every(every, func() { t.ShowStatus(line()) })
	return func() {
		end()
		t.ClearStatus()
	}
}

// JSON prints v as a line of JSON, without the program's name before it.
func (t *Terminal) JSON(v any) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return // this never happens: every v can be encoded
	}
	t.writeLine(append(Visible([]byte(strings.TrimSuffix(b.String(), "\n"))), '\n'))
}

// writeLine wipes the status line and writes a line unchanged.
func (t *Terminal) writeLine(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	t.shown = ""
	return t.err.Write(line)
}
