package main

import (
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/transcript"
	"github.com/a2sscan/a2sscan/scanner"
)

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
