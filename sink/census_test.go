package sink

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/sink/duckdbtest"
	"github.com/a2sscan/a2sscan/sink/record"
)

// TestOtherPrograms checks that DuckDB and zstd read a census of 50 frames to its
// end.
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
	t.Run("zstd", func(t *testing.T) {
		zstd, err := exec.LookPath("zstd")
		if err != nil {
			t.Skip("SKIPPED, NOTHING WAS READ WITH ZSTD: there is no zstd in PATH (Debian: package zstd)")
		}
		text, err := exec.Command(zstd, "-dc", path).Output()
		if want := strings.Join(lines(0, frames*each), "\n") + "\n"; string(text) != want || err != nil {
			t.Errorf("%d bytes of %d: %v", len(text), len(want), err)
		}
	})
	t.Run("DuckDB", func(t *testing.T) {
		census := strings.TrimSuffix(strings.TrimSpace(record.DuckDB(path)), ";")
		answers := duckdbtest.Query(t, "SELECT count(*)::INTEGER AS n, count(DISTINCT ip)::INTEGER AS ips, "+
			"sum(len(players))::INTEGER AS players FROM ("+census+")")
		const n = float64(frames * each)
		want := map[string]any{"n": n, "ips": n, "players": 12 * n}
		if got := answers[0][0]; !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
