package main

// The terminal's grammar.
//
//   - Results go to standard output, everything else to standard error.
//   - Each line of standard error begins with "a2sscan: ", is lower case and has
//     no full stop.
//   - An error says what is wrong, where, and with which text. What to do about
//     it stands on a line of its own: "a2sscan: hint: …".
//   - Text that is not ours (names, paths, input lines, errors of the system)
//     passes through plain before a terminal sees it. The helpers below do that
//     for whole lines, so that nobody can forget it.
//   - A status line is rewritten in place on a terminal, and printed now and
//     then elsewhere. It is wiped before anything else is said.

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// maxLine is the number of characters after which a line of standard error is
// cut: enough for a long path, too little to scroll a screen away.
const maxLine = 400

// terminal is where the program speaks to a person. Its methods may be called
// from several goroutines.
type terminal struct {
	mu     sync.Mutex
	err    io.Writer
	fd     int    // of err, if that is a terminal
	live   bool   // err is a terminal, so that a line can be rewritten
	status bool   // a status line stands on the screen
	shown  string // the last line said, if that was a status line

	columns func() int   // how wide the screen is, in tests; nil: as the system says
	log     *slog.Logger // what --log-file wants; else it goes nowhere
}

func newTerminal(w io.Writer) *terminal {
	t := &terminal{err: w, log: slog.New(slog.DiscardHandler)}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t.fd, t.live = int(f.Fd()), true
	}
	return t
}

// speaker begins what is said, so that it is seen who says it.
const speaker = "a2sscan: "

// say writes one line to standard error, on a terminal broken at words.
func (t *terminal) say(format string, args ...any) { t.tell(fmt.Sprintf(format, args...)) }

// hint writes one line that says what can be done.
func (t *terminal) hint(format string, args ...any) {
	t.tell("hint: " + fmt.Sprintf(format, args...))
}

func (t *terminal) tell(text string) {
	t.line(speaker + text)
	t.log.Debug("said", "text", text)
}

func (t *terminal) line(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lineLocked(s)
}

func (t *terminal) lineLocked(s string) {
	t.wipe()
	t.shown = ""
	rows := []string{plain(s, maxLine)}
	if t.live {
		rows = wrap(rows[0], t.width(), len(speaker))
	}
	fmt.Fprintln(t.err, strings.Join(rows, "\n"))
}

// command writes a line that ends with a command, which is not broken: somebody
// is to copy it.
func (t *terminal) command(s string) {
	t.mu.Lock()
	t.wipe()
	t.shown = ""
	fmt.Fprintln(t.err, plain(speaker+s, maxLine))
	t.mu.Unlock()
	t.log.Debug("said", "text", s)
}

// last says what a status line said until now, for the last time: not again,
// where that stands right above.
func (t *terminal) last(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s != t.shown {
		t.lineLocked("a2sscan: " + s)
	}
}

// show puts s on the status line: in place on a terminal, cut to its width,
// and as a line like any other elsewhere, unless that stands right above.
func (t *terminal) show(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.live {
		if s != t.shown {
			t.lineLocked("a2sscan: " + s)
			t.shown = s
		}
		return
	}
	fmt.Fprint(t.err, "\r\x1b[K"+plain(s, t.room()))
	t.status = true
}

// room is how many characters a status line may have, 0 if that is no matter.
// The last column stays free: some terminals wrap when it is written.
func (t *terminal) room() int {
	if !t.live {
		return 0
	}
	return t.width() - 1
}

// logWidth is how many characters a line may have where that is not a matter of
// a screen's width.
const logWidth = 120

// width is how many characters a line has, now: somebody may change it.
func (t *terminal) width() int {
	switch {
	case !t.live:
		return logWidth
	case t.columns != nil:
		return t.columns()
	}
	width, _, err := term.GetSize(t.fd)
	if err != nil || width < 2 {
		return 80
	}
	return width
}

// clear takes the status line away.
func (t *terminal) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
}

func (t *terminal) wipe() {
	if t.status {
		fmt.Fprint(t.err, "\r\x1b[K")
		t.status = false
	}
}

// plain returns s as it may be shown to a person: at most width characters (a
// cut shows as …), and whatever is not a visible character or a space escaped.
// That covers control and C1 characters, the bidirectional ones, invisible
// ones, line separators and bytes that are not UTF-8.
func plain(s string, width int) string {
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

// quoted returns text that is not ours as a person may see it, at most width
// characters of it: between quotes, with those in it escaped, so that it can't
// pretend to be what follows it.
func quoted(s string, width int) string {
	return `"` + strings.ReplaceAll(plain(s, width), `"`, `\"`) + `"`
}
