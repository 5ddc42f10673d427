// Package console is how the program speaks to a person: messages, hints, the status
// line, the log, exit codes, and numbers as text. It imports nothing of ours.
package console

// The terminal's grammar.
//
//   - Results go to standard output, everything else to standard error.
//   - Each line of standard error begins with "a2sscan: ", is lower case and has
//     no full stop.
//   - An error names the problem, the place and the offending text. What to do about
//     it stands on a line of its own: "a2sscan: hint: …".
//   - Text that is not ours (names, paths, input lines, errors of the system)
//     passes through plain before a terminal sees it. The helpers below do that
//     for whole lines, so that callers cannot forget it.
//   - A status line is rewritten in place on a terminal, and printed now and
//     then elsewhere. It is wiped before anything else is said.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// MaxLine is the number of characters after which a line of standard error is
// cut: enough for a list of words, too little to scroll a screen away.
const MaxLine = 1000

// Terminal is where the program speaks to a person. Its methods may be called
// from several goroutines.
type Terminal struct {
	mu          sync.Mutex
	err         io.Writer
	fd          int    // of err, if that is a terminal
	Interactive bool   // err is a terminal, so that a line can be rewritten
	status      bool   // a status line stands on the screen
	line        string // the status line that stands there
	shown       string // the last line said, if that was a status line

	columns func() int   // how wide the screen is, in tests; nil: as the system says
	Log     *slog.Logger // what --log-file wants; else it goes nowhere
}

// New returns the terminal that messages go to.
func New(w io.Writer) *Terminal {
	t := &Terminal{err: w, Log: slog.New(slog.DiscardHandler)}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t.fd, t.Interactive = int(f.Fd()), true
	}
	return t
}

// NewScreen returns a terminal that treats w as a screen of that width, which
// may change between calls.
func NewScreen(w io.Writer, columns func() int) *Terminal {
	t := New(w)
	t.Interactive, t.columns, t.fd = true, columns, -1
	return t
}

// Messages is where the program's messages go.
func (t *Terminal) Messages() io.Writer { return t.err }

// speaker begins every message, so that a reader sees which program wrote it.
const speaker = "a2sscan: "

// Say writes one line to standard error, on a terminal broken at words.
func (t *Terminal) Say(format string, args ...any) { t.write(fmt.Sprintf(format, args...)) }

// Hint writes one line that suggests a remedy.
func (t *Terminal) Hint(format string, args ...any) {
	t.write("hint: " + fmt.Sprintf(format, args...))
}

func (t *Terminal) write(text string) {
	t.Line(speaker + text)
	t.Log.Debug("said", "text", text)
}

// Line writes one line as it is given, wrapped to the screen.
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

// Command writes a line that ends with a command. It is not wrapped, so that it can be
// copied.
func (t *Terminal) Command(s string) {
	t.mu.Lock()
	t.wipe()
	t.shown = ""
	fmt.Fprintln(t.err, Plain(speaker+s, MaxLine))
	t.mu.Unlock()
	t.Log.Debug("said", "text", s)
}

// FinalStatus writes the last status line, unless the line above is the same.
func (t *Terminal) FinalStatus(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s != t.shown {
		t.lineLocked("a2sscan: " + s)
	}
}

// ShowStatus shows s as the status line: in place and cut to the width on a terminal, as
// an ordinary line elsewhere, unless the line above is the same.
func (t *Terminal) ShowStatus(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.Interactive {
		if s != t.shown {
			t.lineLocked("a2sscan: " + s)
			t.shown = s
		}
		return
	}
	fmt.Fprint(t.err, "\r\x1b[K"+Plain(s, t.StatusWidth()))
	t.status, t.line = true, s
}

// StatusWidth is the width of a status line, 0 without a terminal.
// The last column stays free: some terminals wrap when it is written.
func (t *Terminal) StatusWidth() int {
	if !t.Interactive {
		return 0
	}
	return t.Width() - 1
}

// LogWidth is the width of a line where there is no screen.
const LogWidth = 120

// Width is the current width of a line.
func (t *Terminal) Width() int {
	switch {
	case !t.Interactive:
		return LogWidth
	case t.columns != nil:
		return t.columns()
	}
	width, _, err := term.GetSize(t.fd)
	if err != nil || width < 2 {
		return 80
	}
	return width
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

// Plain returns s as it may be shown to a person: at most width characters (a
// cut shows as …), and whatever is not a visible character or a space escaped.
// That covers control and C1 characters, the bidirectional ones, invisible
// ones, line separators and bytes that are not UTF-8.
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

// escaped returns the visible form of one character, of which raw are the
// bytes.
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

// Quoted returns text that is not ours as a person may see it, at most width
// characters of it: between quotes, with those in it escaped, so that it can't
// pretend to be what follows it.
func Quoted(s string, width int) string {
	return `"` + strings.ReplaceAll(Plain(s, width), `"`, `\"`) + `"`
}

// OpenFailure is the error of an input that can't be opened.
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

// RepeatStatus shows a line at intervals until stop is called.
func (t *Terminal) RepeatStatus(every time.Duration, line func() string) (stop func()) {
	end := Every(every, func() { t.ShowStatus(line()) })
	return func() {
		end()
		t.ClearStatus()
	}
}

// JSON writes a line of JSON, which begins with { and not with the program's
// name.
func (t *Terminal) JSON(v any) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return // there is nothing in it that JSON has not
	}
	t.writeLine(append(Visible([]byte(strings.TrimSuffix(b.String(), "\n"))), '\n'))
}

// writeLine writes a line as it is, after clearing a status line.
func (t *Terminal) writeLine(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	t.shown = ""
	return t.err.Write(line)
}
