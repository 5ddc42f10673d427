package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInvisible: every command that shows a record on a terminal shows invisible
// characters as escapes, so that names which look the same are the same. In files
// and pipes these characters are unchanged.
func TestInvisible(t *testing.T) {
	hex := filepath.Join(t.TempDir(), "capture.hex")
	// The name of this rule is a, U+FEFF, U+200B, b.
	check(t, os.WriteFile(hex, []byte("ffffffff45 0100 61efbbbfe2808b6200 3100\n"), 0o600))
	const raw, shown = "\"a\ufeff\u200bb\"", `"a\ufeff\u200bb"`
	piped, err := exec.Command("a2sscan", "decode", hex).Output()
	if err != nil || !strings.Contains(string(piped), raw) {
		t.Errorf("piped: %v, %s", err, piped)
	}
	ours, tty := terminalPair(t, 400)
	cmd := exec.CommandContext(t.Context(), "a2sscan", "decode", hex)
	cmd.Stdout = tty
	check(t, cmd.Run())
	tty.Close()
	if got := watchFor(ours, "", nil); !strings.Contains(got, shown) || strings.Count(got, "\n") != 1 {
		t.Errorf("shown: %q", got)
	}
}
