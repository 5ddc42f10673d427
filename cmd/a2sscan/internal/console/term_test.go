package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	tests := []struct {
		name, in string
		width    int
		want     string
	}{
		{"as it is", "Dust II [EU] #1", 80, "Dust II [EU] #1"},
		{"other scripts", "Сервер 服务器 🎮", 80, "Сервер 服务器 🎮"},
		{"escape sequence", "\x1b[2Jgone", 80, `\x1b[2Jgone`},
		{"title", "\x1b]0;mine\a", 80, `\x1b]0;mine\x07`},
		{"newline and tab", "a\nb\tc\r", 80, `a\nb\tc\x0d`},
		{"C1: CSI", "\u009b31m", 80, `\x9b31m`},
		{"C1: a lone byte", "\x9b31m", 80, `\x9b31m`},
		{"bidirectional", "abc\u202egpj", 80, `abc\u202egpj`},
		{"isolate", "\u2066x\u2069", 80, `\u2066x\u2069`},
		{"marks", "\u200e\u200f\u061c", 80, `\u200e\u200f\u061c`},
		{"line separator", "a\u2028b", 80, `a\u2028b`},
		{"invisible", "a\u200bb\ufeff", 80, `a\u200bb\ufeff`},
		{"delete", "\x7f", 80, `\x7f`},
		{"tag", "\U000e0041", 80, `\ue0041`},
		{"empty", "", 80, ""},
		{"fits exactly", "12345", 5, "12345"},
		{"cut", "123456", 5, "1234…"},
		{"cut before an escape", "123\x1b5", 5, "123…"},
		{"cut by characters", "éééééé", 4, "ééé…"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Plain(test.in, test.width); got != test.want {
				t.Errorf("plain(%q, %d) = %q, want %q", test.in, test.width, got, test.want)
			}
		})
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("\x1b[31m\u202e\xff", 10)
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = width&0xFF + 1
		got := Plain(s, width)
		if n := utf8.RuneCountInString(got); n > width {
			t.Errorf("plain(%q, %d) is %d characters wide", s, width, n)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("plain(%q, %d) = %q", s, width, got)
		}
	})
}

func TestVisible(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"name":"plain é 服"}`, `{"name":"plain é 服"}`},
		{"{\"name\":\"\u009b\u202e\x7f\"}", `{"name":"\u009b\u202e\u007f"}`},
		{"\x1b", `\u001b`},
		{"\U000e0041", `\udb40\udc41`},
		{"\xff", `\ufffd`},
	}
	for _, test := range tests {
		if got := string(Visible([]byte(test.in))); got != test.want {
			t.Errorf("visible(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// TestQuoted: a name can't end its quotes early and pretend to be part of the
// message.
func TestQuoted(t *testing.T) {
	if got, want := Quoted(`x", map "\y`, 60), `"x\", map \"\y"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestGrammar: every line on standard error begins with the program's name,
// whatever its text is. A message wipes the status line first.
func TestGrammar(t *testing.T) {
	var b bytes.Buffer
	tm := New(&b)
	tm.Say("%s: no such file", "a\nb\x1b[2J")
	tm.Report(Fail(ExitInput, "what is wrong").WithHint("what to do"))
	tm.ShowStatus("on its way")
	want := `a2sscan: a\nb\x1b[2J: no such file
a2sscan: what is wrong
a2sscan: hint: what to do
a2sscan: on its way
`
	tm.ShowStatus("on its way") // the same status line is not printed again
	tm.FinalStatus("on its way")
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}

	b.Reset()
	tm.FinalStatus("on its way")
	tm.Say("something else")
	tm.FinalStatus("on its way")
	if n := strings.Count(b.String(), "on its way"); n != 1 {
		t.Errorf("said %d times:\n%s", n, b.String())
	}

	b.Reset()
	tm = NewScreen(&b, nil) // the width is unknown, so it is 80 columns
	tm.ShowStatus(strings.Repeat("x", 200))
	tm.Say("done")
	want = "\r\x1b[K" + strings.Repeat("x", 78) + "…\r\x1b[Ka2sscan: done\n"
	if b.String() != want {
		t.Errorf("on a terminal: got\n%q want\n%q", b.String(), want)
	}
}

// TestSayWraps: on a terminal, lines are wrapped at words. Commands are not,
// because the user may copy them.
// TestSayJoined: errors that were joined are one line, in which each text occurs once.
func TestSayJoined(t *testing.T) {
	gone := errors.New("the file was moved")
	for want, err := range map[string]error{
		"can't write x: the file was moved":                    errors.Join(fmt.Errorf("can't write x: %w", gone), gone),
		"state: the file was moved; the disk is full":          fmt.Errorf("state: %w", errors.Join(gone, errors.New("the disk is full"), gone)),
		`a name with \n is shown with an escape`:               errors.New("a name with \n is shown with an escape"),
		"the file was moved; the disk is full; it is too late": Fail(3, "%w", errors.Join(errors.Join(gone, errors.New("the disk is full")), errors.New("it is too late"))),
	} {
		var b bytes.Buffer
		New(&b).Report(err)
		if b.String() != "a2sscan: "+want+"\n" {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}

// TestStructured: every message is a line of JSON.
func TestStructured(t *testing.T) {
	var b bytes.Buffer
	term := New(&b)
	term.Structured = true
	term.Say("a %q", "x\x1b")
	term.Hint("do it")
	term.Command("run: it")
	block := term.NewBlock()
	block.Say("found: %d", 5)
	block.Hint("more")
	block.Print()
	want := []string{`a "x\x1b"`, "hint: do it", "run: it", "found: 5", "hint: more"}
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		var got struct {
			Time    time.Time
			Message string
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Time.IsZero() || i >= len(want) || got.Message != want[i] {
			t.Errorf("%s, %v", line, err)
		}
	}
}

func TestSayWraps(t *testing.T) {
	tm, written := terminalOf(t, 30)
	tm.Say("the quick brown fox jumps over it")
	tm.Command("to go on: a2sscan scan list.txt -o out")
	want := "a2sscan: the quick brown fox\n         jumps over it\na2sscan: to go on: a2sscan scan list.txt -o out\n"
	if got := written(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// terminalOf returns a terminal of this width, and a function that returns what was
// written to it.
func terminalOf(t *testing.T, columns int) (tm *Terminal, written func() string) {
	t.Helper()
	var b bytes.Buffer
	return NewScreen(&b, func() int { return columns }), b.String
}

// TestBeside: results on the same terminal as the messages wipe the status line,
// which is then shown again below them.
func TestBeside(t *testing.T) {
	var screen bytes.Buffer
	term := NewScreen(&screen, func() int { return 40 })
	out := term.Beside(&screen)
	fmt.Fprintln(out, "one")
	term.ShowStatus("50%")
	fmt.Fprintln(out, "two")
	term.ClearStatus()
	fmt.Fprintln(out, "three")
	if want := "one\n\r\x1b[K50%\r\x1b[Ktwo\n\r\x1b[K50%\r\x1b[Kthree\n"; screen.String() != want {
		t.Errorf("%q, want %q", screen.String(), want)
	}
}

// TestStatusLines: a status of several lines leaves the cursor at its first line, so that the
// next text replaces all of it; without a terminal, only the first line is shown.
func TestStatusLines(t *testing.T) {
	var screen, log bytes.Buffer
	term := NewScreen(&screen, func() int { return 9 })
	for _, s := range []string{"two up", "one up\nlong line", "one up\na\nb", "two up"} {
		term.ShowStatus(s)
	}
	term.ShowStatus("one up\na")
	term.Line("done")
	const first, last = "\r\x1b[K", "\x1b[?7h"
	want := first + "two up" +
		"\x1b[?7l" + first + "one up\r\n\x1b[Klong li…\r\x1b[1A" + last +
		"\r\x1b[J\x1b[?7l" + first + "one up\r\n\x1b[Ka\r\n\x1b[Kb\r\x1b[2A" + last +
		"\r\x1b[J" + first + "two up" +
		"\x1b[?7l" + first + "one up\r\n\x1b[Ka\r\x1b[1A" + last + "\r\x1b[Jdone\n"
	if screen.String() != want {
		t.Errorf("%q\nwant %q", screen.String(), want)
	}
	term = New(&log)
	term.ShowStatus("one up\na")
	if log.String() != "a2sscan: one up\n" {
		t.Errorf("%q", log.String())
	}
}

// TestQueue: messages to a reader that stalls are kept up to a limit, in order, and the others are
// counted. Nobody waits for them.
func TestQueue(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	term := New(w)
	term.Say("%s", strings.Repeat("x", MaxLine))
	const many = 2000 // more than the pipe and the queue take
	for i := range many {
		term.Say("%d %s", i, strings.Repeat("y", 300))
	}
	lines, next := bufio.NewScanner(r), 0
	lines.Scan()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() && !strings.Contains(lines.Text(), "the end") {
			if want := fmt.Sprintf("a2sscan: %d y", next); strings.HasPrefix(lines.Text(), want) {
				next++
			} else if want := fmt.Sprintf("a2sscan: %s lost while nothing read standard error", Plural(many-next, "message")); lines.Text() == want {
				next = many
			} else {
				t.Errorf("after %d: %.60q", next, lines.Text())
			}
		}
	}()
	q := term.out.(*queue)
	<-q.add(w, nil) // all that waited is written
	term.Say("the end")
	<-ended
	if next != many {
		t.Errorf("%d of %d lines were written or counted", next, many)
	}
}

// hostileText has everything that must not reach a terminal or a program that reads
// lines: control and C1 characters, bidirectional characters, line separators,
// bytes that are not UTF-8, and a forged line.
const hostileText = "a\x1b[2J\r\n\x9b31m\u009b\u202e\u2066\u2028\u200b\x00\xff level=ERROR msg=\"forged\" =\t{"

type hostileStringer struct{}

func (hostileStringer) String() string { return hostileText }

// TestLogHostile: whichever attribute has hostile text, the line stays one line and
// all of its characters are visible.
func TestLogHostile(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(NewLogHandler(&b))
	log.Info("text", "text", hostileText, "error", errors.New(hostileText), "wrapped", fmt.Errorf("x: %w", errors.New(hostileText)),
		"stringer", hostileStringer{}, "list", []string{hostileText}, "any", struct{ S string }{hostileText},
		slog.Group("group", "text", hostileText))
	log.Info(hostileText)
	out := b.String()
	if n := strings.Count(out, "\n"); n != 2 {
		t.Errorf("%d lines:\n%q", n, out)
	}
	for _, r := range strings.ReplaceAll(out, "\n", "") {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			t.Errorf("%U in\n%q", r, out)
		}
	}
	if n := strings.Count(out, `\\u202e`); n != 8 {
		t.Errorf("shown %d times:\n%s", n, out)
	}
}

// TestLogLong: the log cuts a long string in an attribute.
func TestLogLong(t *testing.T) {
	var b bytes.Buffer
	slog.New(NewLogHandler(&b)).Info("text", "text", strings.Repeat("x", 1e6))
	if n := b.Len(); n > maxLogged+200 {
		t.Errorf("%d bytes", n)
	}
}

// failing is a writer to a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestLogLost: if the log can't be written, the terminal shows that once.
func TestLogLost(t *testing.T) {
	var said bytes.Buffer
	term := New(&said)
	log := slog.New(NewLogHandler(&logFile{terminal: term, w: failing{}, name: "log\x1b"}))
	log.Info("a")
	log.Info("b")
	if want := "a2sscan: the program continues, but can't write to the log log\\x1b: no space left on device\n"; said.String() != want {
		t.Errorf("said %q", said.String())
	}
}
