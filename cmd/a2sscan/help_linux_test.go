package main

import (
	"bytes"
	"io"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/transcript"
	"github.com/a2sscan/a2sscan/scanner"
)

// TestHelpWidth: on a terminal, help is as wide as the screen, up to a limit.
// Elsewhere it has the usual width.
func TestHelpWidth(t *testing.T) {
	for columns, want := range map[uint16]int{60: 60, 80: 80, 100: 100, 200: widestHelp, 0: 80} {
		_, tty := terminalPair(t, columns)
		defer tty.Close()
		a := &results{w: tty}
		if got := helpWidth(a); got != want {
			t.Errorf("%d columns: %d", columns, got)
		}
		root := newTree()
		root.SetOut(a)
		scan, _, err := root.Find([]string{"scan"})
		if err != nil {
			t.Fatal(err)
		}
		widest := 0
		for line := range strings.Lines(scan.UsageString()) {
			if strings.HasPrefix(line, "      ") {
				widest = max(widest, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
			}
		}
		if widest > want || widest < want-20 {
			t.Errorf("%d columns: flags take %d", columns, widest)
		}
	}
	if got := helpWidth(&bytes.Buffer{}); got != 80 {
		t.Errorf("without a terminal: %d", got)
	}
}

// TestVerdictLast: on a terminal, ask repeats the verdict below the datagrams and the
// record, behind which the first one has scrolled away.
func TestVerdictLast(t *testing.T) {
	target := netip.MustParseAddrPort("127.0.0.1:27015")
	s := &transcript.Session{Target: target, Width: 80, Result: &scanner.Result{Addr: target, Status: scanner.StatusNoReply},
		Verdict: transcript.Verdict{Word: "silent", Text: []string{"no answer at all"}}}
	ours, theirs := terminalPair(t, 80)
	printSession(&app{out: &results{w: theirs}}, s, &askFlags{})
	theirs.Close()
	b, err := io.ReadAll(ours) // the terminal gives it in pieces, and then EIO
	shown := strings.ReplaceAll(string(b), "\r", "")
	if !strings.HasPrefix(shown, "verdict: silent\n- no answer") || !strings.HasSuffix(shown, "}\n\nverdict: silent\nno answer at all\n") {
		t.Errorf("%v: %s", err, shown)
	}
}
