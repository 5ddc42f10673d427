// Package console handles what the program shows to its user: messages, hints, the
// status line, the log, exit codes, and formatted numbers. It imports no other
// package of this module.
package console

// The rules of the terminal:
//
//   - Results go to standard output, everything else to standard error.
//   - A message begins with "a2sscan: " and a lower-case letter, and has no full stop.
//   - An error names the problem, the place and the offending text. The remedy is on a
//     line of its own: "a2sscan: hint: …".
//   - Text from outside (names, paths, input lines, errors of the system) passes
//     through Plain before it reaches a terminal. The methods of Terminal pass each
//     complete line through Plain, so callers cannot forget it.
//   - On a terminal, the status line is rewritten in place, and wiped before another line
//     is printed. Elsewhere the status line is printed from time to time.

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// MaxLine is the maximum number of characters of a message. A message of this length fills
// half of a terminal with 24 lines of 80 columns.
const MaxLine = 1000

// Terminal prints messages for the user. Its methods may be called from several
// goroutines.
type Terminal struct {
	mu          sync.Mutex
	err         io.Writer
	out         io.Writer // a queue that writes to err
	logged      io.Writer // a queue that writes to the log file; nil: there is no log file
	Interactive bool      // err is a terminal
	Structured  bool      // each message is a line of JSON
	status      bool      // a status is shown
	below       bool      // the status has more than one line
	line        string    // the status that is shown
	shown       string    // the last printed line if it is a status line, else empty

	columns func() int   // returns the width in tests; nil: ask the terminal
	Log     *slog.Logger // discards everything without --log-file
}

// New returns a terminal that prints messages to w.
func New(w io.Writer) *Terminal {
	t := &Terminal{err: w, Interactive: IsTerminal(w), Log: slog.New(slog.DiscardHandler)}
	t.out = newQueue(w, func(n int) string {
		return t.wrapped(fmt.Sprintf("%s%s lost while nothing read standard error", speaker, Plural(n, "message")), len(speaker))
	})
	return t
}

// NewScreen returns a terminal that treats w as a screen. It calls columns() for the width
// of the screen, which may change between calls.
func NewScreen(w io.Writer, columns func() int) *Terminal {
	t := New(w)
	t.Interactive, t.columns = true, columns
	return t
}

// Messages returns the writer that messages go to.
func (t *Terminal) Messages() io.Writer { return t.err }

const speaker = "a2sscan: "

// Say prints a message of one line. On a terminal, Say wraps the line at words.
func (t *Terminal) Say(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = inOneLine(err)
		}
	}
	t.Line(speaker + fmt.Sprintf(format, args...))
}

// inOneLine returns the text of err. If err has joined errors, inOneLine puts semicolons
// between their texts, and omits a text that is the end of an earlier text.
func inOneLine(err error) string {
	text := err.Error()
	for joined := err; joined != nil; joined = errors.Unwrap(joined) {
		if _, several := joined.(interface{ Unwrap() []error }); several {
			var lines []string
			for line := range strings.SplitSeq(text, "\n") {
				if !slices.ContainsFunc(lines, func(earlier string) bool { return strings.HasSuffix(earlier, line) }) {
					lines = append(lines, line)
				}
			}
			return strings.Join(lines, "; ")
		}
	}
	return text
}

// Hint prints a message that begins with "hint: ".
func (t *Terminal) Hint(format string, args ...any) { t.Say("hint: "+format, args...) }

// Line prints one line without the program's name before it. On a terminal, Line wraps the
// line at words.
func (t *Terminal) Line(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.print(t.wrapped(s, len(speaker)))
}

// wrapped formats a line for output: it makes the line safe to show and, on a terminal,
// wraps the line at words. If messages are structured, wrapped returns JSON without the
// program's name.
func (t *Terminal) wrapped(s string, indent int) string {
	s = Plain(s, MaxLine)
	if t.Structured {
		line, _ := JSON(struct { // JSON can always encode this struct
			Time    time.Time `json:"time"`
			Message string    `json:"message"`
		}{time.Now().UTC(), strings.TrimPrefix(s, speaker)}, "")
		return string(line)
	}
	if t.Interactive {
		s = strings.Join(Wrap(s, t.Width(), indent), "\n")
	}
	return s + "\n"
}

// print wipes the status line and writes text unchanged. The caller must hold t.mu.
func (t *Terminal) print(text string) {
	t.wipe()
	t.shown = ""
	io.WriteString(t.out, text)
}

// Command prints a message that ends with a shell command. The message is not wrapped, so
// that users can copy the command.
func (t *Terminal) Command(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Structured {
		t.print(t.wrapped(s, 0))
	} else {
		t.print(Plain(speaker+s, MaxLine) + "\n")
	}
}

// FinalStatus prints s as the last status line, unless the previous line was the same.
func (t *Terminal) FinalStatus(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s != t.shown {
		t.print(t.wrapped(speaker+s, len(speaker)))
	}
}

// ShowStatus shows s as the status. On a terminal, s replaces the previous status and may
// have several lines, which ShowStatus cuts to the width. Elsewhere ShowStatus prints the
// first line of s like a message, unless the previous line was the same.
func (t *Terminal) ShowStatus(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.Interactive {
		if s, _, _ = strings.Cut(s, "\n"); s != t.shown {
			t.print(t.wrapped(speaker+s, len(speaker)))
			t.shown = s
		}
		return
	}
	t.draw(s)
}

// draw replaces the status on the screen. If the new status has several lines, draw leaves
// the cursor at the beginning of the first line. The caller must hold t.mu.
func (t *Terminal) draw(s string) {
	if t.below {
		t.wipe()
	}
	lines := strings.Split(s, "\n")
	text := "\r\x1b[K" + Plain(lines[0], t.StatusWidth())
	if t.below = len(lines) > 1; t.below {
		text = "\x1b[?7l" + text // a line with wide characters must not wrap
		for _, line := range lines[1:] {
			text += "\r\n\x1b[K" + Plain(line, t.StatusWidth())
		}
		text += fmt.Sprintf("\r\x1b[%dA\x1b[?7h", len(lines)-1)
	}
	fmt.Fprint(t.out, text)
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

// Width returns the current maximum width of a line.
func (t *Terminal) Width() int {
	switch {
	case !t.Interactive:
		return LogWidth
	case t.columns != nil:
		return t.columns()
	}
	return WidthOf(t.err)
}

// Height returns the current number of lines of the terminal, or 24 if it is unknown.
func (t *Terminal) Height() int {
	if f, ok := t.err.(*os.File); ok {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil && height >= 2 {
			return height
		}
	}
	return 24
}

// ClearStatus removes the status line.
func (t *Terminal) ClearStatus() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
}

func (t *Terminal) wipe() {
	switch {
	case t.status && t.below:
		fmt.Fprint(t.out, "\r\x1b[J") // down to the end of the screen
	case t.status:
		fmt.Fprint(t.out, "\r\x1b[K")
	}
	t.status, t.below = false, false
}

// Plain returns s in a form that is safe to show. The result has at most width
// characters; if it is cut, it ends with "…". Everything but visible characters and
// the ASCII space is escaped: control and C1 characters, bidirectional and invisible
// characters, other spaces, line separators, and bytes that are not UTF-8.
func Plain(s string, width int) string {
	if len(s) <= width && isVisible(s) {
		return s
	}
	var b strings.Builder
	left := width
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		shown := s[i : i+n]
		switch {
		case r == utf8.RuneError && n == 1:
			shown = fmt.Sprintf(`\x%02x`, s[i])
		case unicode.IsPrint(r):
		case r == '\n':
			shown = `\n`
		case r == '\t':
			shown = `\t`
		case r < 0x100:
			shown = fmt.Sprintf(`\x%02x`, r)
		default:
			shown = fmt.Sprintf(`\u%04x`, r)
		}
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

// isVisible reports whether s has only visible characters and ASCII spaces. It returns false
// for U+FFFD too, because a loop over s has this character in place of bytes that are not
// UTF-8.
func isVisible(s string) bool {
	for _, r := range s {
		if ' ' <= r && r <= '~' { // much faster than IsPrint
			continue
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// Quoted returns a string from outside in quotation marks and in a form that is safe to
// show. Quoted cuts the string to width characters, as Plain does, and then escapes the
// quotation marks in the string, so that readers see where the string ends.
func Quoted(s string, width int) string {
	return `"` + strings.ReplaceAll(Plain(s, width), `"`, `\"`) + `"`
}

// OpenFailure returns the error for an input that can't be opened.
func OpenFailure(name string, err error) error {
	f := Fail(ExitInput, "can't open %s: %w", Plain(name, 200), WithoutPath(err))
	if errors.Is(err, syscall.ENOENT) {
		f.WithHint("check the name of the file")
	}
	return f
}

// These are the times between two status lines. On a terminal the time is short, because
// each line replaces the previous one.
const (
	StatusOnTerminal = time.Second
	statusInLog      = 10 * time.Second
)

// StatusInterval returns the time between two status lines.
func (t *Terminal) StatusInterval() time.Duration {
	if t.Interactive {
		return StatusOnTerminal
	}
	return statusInLog
}

// RepeatStatus calls line() at intervals, and shows the result as the status line. The
// returned function ends this and clears the status line.
func (t *Terminal) RepeatStatus(every time.Duration, line func() string) (stop func()) {
	end := Every(every, func() { t.ShowStatus(line()) })
	return func() {
		end()
		t.ClearStatus()
	}
}

// JSON prints v as a line of JSON, without the program's name before it.
func (t *Terminal) JSON(v any) {
	line, _ := JSON(v, "") // callers pass only values that can be encoded
	t.mu.Lock()
	defer t.mu.Unlock()
	t.print(string(line))
}

// Block is a report of several aligned lines. Only the first line begins with the
// program's name.
type Block struct {
	t    *Terminal
	rows [][2]string // label and text
}

// NewBlock returns an empty block.
func (t *Terminal) NewBlock() *Block { return &Block{t: t} }

// Say adds a line. The text before the first colon is its label.
func (b *Block) Say(format string, args ...any) {
	label, text, _ := strings.Cut(fmt.Sprintf(format, args...), ": ")
	b.rows = append(b.rows, [2]string{label, text})
}

// Hint adds a line with the label "hint".
func (b *Block) Hint(format string, args ...any) { b.Say("hint: "+format, args...) }

// These are the minimum and maximum width of the label column. A longer label is not cut.
const (
	leastLabel = 7
	mostLabel  = 14
)

// Print prints the block. On a terminal it wraps the lines.
func (b *Block) Print() {
	width := leastLabel
	for _, row := range b.rows {
		width = min(max(width, len(row[0])), mostLabel)
	}
	b.t.mu.Lock()
	defer b.t.mu.Unlock()
	head := speaker
	for _, row := range b.rows {
		if b.t.Structured {
			b.t.print(b.t.wrapped(row[0]+": "+row[1], 0))
			continue
		}
		b.t.print(b.t.wrapped(fmt.Sprintf("%s%-*s  %s", head, width, row[0], row[1]), len(speaker)+width+2))
		head = strings.Repeat(" ", len(speaker))
	}
}

// Beside returns a writer for results that go to w. If w is the terminal that shows the
// messages, the writer wipes the status line before it writes results, and shows the
// status line again below the results.
func (t *Terminal) Beside(w io.Writer) io.Writer {
	x, isFile := t.err.(*os.File)
	y, isFileToo := w.(*os.File)
	same := true
	if isFile && isFileToo {
		first, err1 := x.Stat()
		second, err2 := y.Stat()
		same = err1 != nil || err2 != nil || os.SameFile(first, second)
	}
	if !t.Interactive || !same {
		return w // without the queue, so that messages never wait for w
	}
	return &beside{t, w}
}

type beside struct {
	t *Terminal
	w io.Writer
}

func (b *beside) Write(p []byte) (n int, err error) {
	b.t.mu.Lock()
	again := b.t.status
	b.t.wipe()
	var written <-chan error
	if q, ok := b.t.out.(*queue); ok && b.w != b.t.out {
		written = q.add(b.w, p)
	} else {
		n, err = b.w.Write(p)
	}
	if again && err == nil && len(p) > 0 && p[len(p)-1] == '\n' {
		b.t.draw(b.t.line)
	}
	b.t.mu.Unlock()
	if written == nil {
		return n, err
	}
	return len(p), <-written // after Unlock, so that messages need not wait for this write
}

// IsTerminal reports whether r is a terminal.
func IsTerminal(r any) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// WidthOf returns the number of columns of the terminal w, or 80 if the number is unknown.
func WidthOf(w any) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 2 {
			return width
		}
	}
	return 80
}

// Colors are the values of --color.
var Colors = []string{"auto", "always", "never"}

// UseColor reports whether output to w has colours. Its first argument is the value of
// --color. If this value is auto or empty, output to a terminal has colours, unless the
// environment has NO_COLOR or TERM=dumb.
func UseColor(when string, w any) bool {
	if when != "auto" && when != "" {
		return when == "always"
	}
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
