package console

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode"
)

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
	if want := "a2sscan: log log\\x1b: can't be written: no space left on device; the scan goes on\n"; said.String() != want {
		t.Errorf("said %q", said.String())
	}
}
