package main

import (
	"net/netip"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
)

// TestCheck: the records that scan --raw writes, for a bad network with hostile
// servers of all kinds, are the same when they are decoded again.
func TestCheck(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.68.0.0/24"), Seed: 7,
		Hostile: 0.3, Loss: 0.02, Duplicate: 0.02, Reorder: 0.02,
	})
	census := filepath.Join(t.TempDir(), "census.ndjson.zst")
	ran(t, "scan", "127.68.0.0/24", "-p", port, "--allow-reserved", "--raw", "--unanswered",
		"--retries", "1", "--timeout", "300ms", "--cooldown", "0", "--scan-id", "s", "-o", census, "-q")
	said, err := exec.CommandContext(t.Context(), "a2sscan", "decode", "--check", census).CombinedOutput()
	const want = "a2sscan: 256 records unchanged, 0 differ, 0 without all their datagrams, 0 bad lines\n"
	if err != nil || string(said) != want {
		t.Errorf("decode --check: %v %s", err, said)
	}
}
