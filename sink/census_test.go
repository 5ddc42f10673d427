package sink

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/sink/duckdbtest"
	"github.com/a2sscan/a2sscan/sink/record"
)

// frames50 writes a census of 50 frames, each of which ends at a mark, as at the
// checkpoints that a scan makes every second. It returns the lines.
func frames50(t *testing.T, path string) []string {
	t.Helper()
	w := create(t, path, Options{FlushEvery: -1})
	var ends []int64
	for i := range 50 {
		write(t, w, i*20, (i+1)*20)
		m, err := w.Mark()
		if err != nil {
			t.Fatal(err)
		}
		at, err := m.Sync()
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, at.Offset)
	}
	closed(t, w)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, end := range ends[:len(ends)-1] {
		if !bytes.HasPrefix(b[end:], []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			t.Fatalf("no frame begins after mark %d", i)
		}
	}
	return lines(0, 1000)
}

// TestFrames50 checks that a Reader reads a census of many frames to its end.
func TestFrames50(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	want := frames50(t, path)
	if got, truncated := readFile(t, path); !slices.Equal(got, want) || truncated != 0 {
		t.Errorf("%d lines of %d, %d bytes truncated", len(got), len(want), truncated)
	}
}

// TestFrames50Zstd checks that the zstd command reads a census of many frames to
// its end, as in a shell pipe.
func TestFrames50Zstd(t *testing.T) {
	zstd, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("SKIPPED, NOTHING WAS READ WITH ZSTD: there is no zstd in PATH (Debian: package zstd)")
	}
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	want := frames50(t, path)
	out, err := exec.Command(zstd, "-dc", path).Output()
	if err != nil || string(out) != strings.Join(want, "\n")+"\n" {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// TestFrames50DuckDB checks that DuckDB reads a census of many frames to its end,
// with the query that record.DuckDB returns.
func TestFrames50DuckDB(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	want := frames50(t, path)
	census := strings.TrimSuffix(strings.TrimSpace(record.DuckDB(path)), ";")
	answers := duckdbtest.Query(t, "SELECT count(*)::INTEGER AS n, count(DISTINCT ip)::INTEGER AS ips FROM ("+census+")")
	if got := fmt.Sprint(answers[0][0]["n"]); got != fmt.Sprint(len(want)) {
		t.Errorf("%s records, want %d", got, len(want))
	}
}

// TestOtherPrograms checks that DuckDB and zstd read a census of 50 frames to its
// end.
func TestOtherPrograms(t *testing.T) {
	const frames, each = 50, 20
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	w := create(t, path, Options{})
	for i := range frames {
		write(t, w, i*each, (i+1)*each)
		if _, err := w.Sync(); err != nil {
			t.Fatal(err)
		}
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
