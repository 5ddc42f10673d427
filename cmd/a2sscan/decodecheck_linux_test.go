package main

import (
	"bytes"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// TestCheck: the records that scan --raw writes, for a bad network with hostile
// servers of all kinds, are the same when they are decoded again.
func TestCheck(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.68.0.0/22"), Seed: 7,
		Hostile: 0.3, Loss: 0.02, Duplicate: 0.02, Reorder: 0.02,
	})
	census := filepath.Join(t.TempDir(), "census.ndjson.zst")
	var stdout, stderr bytes.Buffer
	code := run([]string{"scan", "127.68.0.0/22", "-p", port, "--allow-reserved", "--raw", "--unanswered",
		"--retries", "1", "--timeout", "300ms", "--cooldown", "0", "--scan-id", "s", "-o", census, "-q"},
		strings.NewReader(""), &stdout, &stderr)
	if code != console.ExitOK {
		t.Fatalf("scan: %d %s", code, stderr.String())
	}
	stderr.Reset()
	code = run([]string{"decode", "--check", census}, strings.NewReader(""), &stdout, &stderr)
	const want = "a2sscan: 1,024 records unchanged, 0 differ, 0 without all their datagrams, 0 bad lines\n"
	if code != console.ExitOK || stderr.String() != want {
		t.Errorf("decode --check: %d %s", code, stderr.String())
	}
}
