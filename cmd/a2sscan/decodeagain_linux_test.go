package main

import (
	"bytes"
	"iter"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
)

// TestDecodeAgain: the records that scan --raw writes, for a bad network with hostile
// servers of all kinds, are the same when they are decoded again.
func TestDecodeAgain(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.68.0.0/24"), Seed: 7,
		Hostile: 0.3, Loss: 0.02, Duplicate: 0.02, Reorder: 0.02,
	})
	census := filepath.Join(t.TempDir(), "census.ndjson")
	ran(t, "scan", "127.68.0.0/24", "-p", port, "--allow-reserved", "--raw", "--unanswered",
		"--retries", "1", "--timeout", "300ms", "--cooldown", "0", "--scan-id", "s", "-o", census, "-q")
	want, err := os.ReadFile(census)
	check(t, err)
	again, err := exec.CommandContext(t.Context(), "a2sscan", "decode", "--raw", census).Output()
	check(t, err)
	lines := 0
	next, stop := iter.Pull(bytes.Lines(again))
	defer stop()
	for line := range bytes.Lines(want) {
		lines++
		if decoded, _ := next(); !bytes.Equal(decoded, line) {
			t.Errorf("%s decodes to %s", line, decoded)
		}
	}
	if lines != 256 || bytes.Count(again, []byte{'\n'}) != lines {
		t.Errorf("%d records, decoded to %d", lines, bytes.Count(again, []byte{'\n'}))
	}
}
