package sink

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherPrograms checks that zstd, and other readers of its format, read a census of 50
// frames to its end.
func TestOtherPrograms(t *testing.T) {
	const frames, each = 50, 20
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	w := create(t, path, Options{})
	for i := range frames {
		write(t, w, i*each, (i+1)*each)
		check(t, syncNow(w))
	}
	closed(t, w)
	file, err := os.ReadFile(path)
	if n := countFrames(file); n != frames || err != nil {
		t.Fatalf("%d frames: %v", n, err)
	}
	wantWhole(t, path, frames*each)
	zstd, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("SKIPPED, NOTHING WAS READ WITH ZSTD: there is no zstd in PATH (Debian: package zstd)")
	}
	text, err := exec.Command(zstd, "-dc", path).Output()
	if want := strings.Join(lines(0, frames*each), "\n") + "\n"; string(text) != want || err != nil {
		t.Errorf("%d bytes of %d: %v", len(text), len(want), err)
	}
}
