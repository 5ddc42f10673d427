package main

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/transcript"
	"github.com/a2sscan/a2sscan/scanner"
)

// openTerminal opens a terminal that has the given number of columns.
func openTerminal(t *testing.T, columns uint16) *os.File {
	t.Helper()
	_, theirs := openScreen(t, columns)
	return theirs
}

// openScreen opens a terminal, and the end at which a person sees what it shows.
func openScreen(t *testing.T, columns uint16) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("SKIPPED, THE WIDTH OF HELP ON A TERMINAL WAS NOT CHECKED: %v", err)
	}
	t.Cleanup(func() { ours.Close() })
	fd := int(ours.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED, THE WIDTH OF HELP ON A TERMINAL WAS NOT CHECKED: %v", err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

// TestHelpWidth: on a terminal, help is as wide as the screen, up to a limit.
// Elsewhere it has the usual width.
func TestHelpWidth(t *testing.T) {
	for columns, want := range map[uint16]int{60: 60, 80: 80, 100: 100, 200: widestHelp, 0: 80} {
		a := &results{w: openTerminal(t, columns)}
		if got := helpWidth(a); got != want {
			t.Errorf("%d columns: %d", columns, got)
		}
		root := newTree()
		root.SetOut(a)
		scan, _, err := root.Find([]string{"scan"})
		if err != nil {
			t.Fatal(err)
		}
		if got := widestFlag(scan.UsageString()); got > want || got < want-20 {
			t.Errorf("%d columns: flags take %d", columns, got)
		}
	}
	if got := helpWidth(&bytes.Buffer{}); got != 80 {
		t.Errorf("without a terminal: %d", got)
	}
}

// widestFlag returns how many columns the flags of a help take.
func widestFlag(help string) (columns int) {
	for line := range strings.Lines(help) {
		if strings.HasPrefix(line, "      ") {
			columns = max(columns, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
		}
	}
	return columns
}

// TestVerdictLast: on a terminal, ask repeats the verdict below the datagrams and the
// record, behind which the first one has scrolled away.
func TestVerdictLast(t *testing.T) {
	target := netip.MustParseAddrPort("127.0.0.1:27015")
	s := &transcript.Session{Target: target, Width: 80, Result: &scanner.Result{Addr: target, Status: scanner.StatusNoReply},
		Verdict: transcript.Verdict{Word: "silent", Text: []string{"no answer at all"}}}
	ours, theirs := openScreen(t, 80)
	printSession(&app{out: &results{w: theirs}}, s, &askFlags{})
	theirs.Close()
	b, err := io.ReadAll(ours) // the terminal gives it in pieces, and then EIO
	shown := strings.ReplaceAll(string(b), "\r", "")
	if !strings.HasPrefix(shown, "verdict: silent\n- no answer") || !strings.HasSuffix(shown, "}\n\nverdict: silent\nno answer at all\n") {
		t.Errorf("%v: %s", err, shown)
	}
}
