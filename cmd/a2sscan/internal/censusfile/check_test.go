package censusfile

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
)

// verified returns the problems that Check finds in files.
func verified(t *testing.T, want *census.Summary, files ...string) []string {
	t.Helper()
	var summaries []*census.Summary
	if want != nil {
		summaries = append(summaries, want)
	}
	_, problems, err := Check(files, summaries, nil)
	check(t, err)
	return problems
}

var names = []string{"census.ndjson", "census.ndjson.zst", "census.ndjson.gz"}

// put writes a file.
func put(t *testing.T, path, content string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(content), 0o666))
}

// wantProblems fails the test unless got has as many problems as want has strings,
// and each contains its string.
func wantProblems(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range got {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
}

// write writes a census of n records and returns what its summary would say.
func writeCensus(t *testing.T, path string, n int) *census.Summary {
	t.Helper()
	w, err := sink.Create(path, sink.Options{})
	for i := 0; i < n && err == nil; i++ {
		err = w.Write("s", &scanner.Result{Addr: netip.MustParseAddrPort(fmt.Sprintf("203.0.0.%d:27015", i)),
			Status: scanner.StatusOK, Sent: 4})
	}
	check(t, errors.Join(err, w.Close()))
	s := &census.Summary{Scan: "s", Records: uint64(n), Division: []sink.Part{w.File()}}
	s.Targets.ByStatus = map[string]uint64{"ok": uint64(n), "no_reply": 7}
	return s
}

// TestCheck checks that Check finds no problem in a census that an Output wrote, even if
// it was moved or has no summary.
func TestCheck(t *testing.T) {
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		want := writeCensus(t, path, 30)
		wantProblems(t, verified(t, nil, path))
		var read, size int64
		files, problems, err := Check([]string{path}, []*census.Summary{want}, func(n, of int64) { read, size = n, of })
		if err != nil || len(problems) > 0 || len(files) != 1 || files[0].Part != want.Division[0] {
			t.Errorf("%+v, %q, %v", files, problems, err)
		}
		if read != size || size == 0 {
			t.Errorf("%d bytes of %d were read", read, size)
		}
		moved := path + ".moved"
		check(t, os.Rename(path, moved))
		wantProblems(t, verified(t, want, moved))
	}
}

// TestCheckFlipped flips one bit at a time, at up to 500 places of a census.
// Check must find the change, if only by the hash in the summary.
func TestCheckFlipped(t *testing.T) {
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		want := writeCensus(t, path, 5)
		file, err := os.ReadFile(path)
		check(t, err)
		for i := 0; i < len(file); i += 1 + len(file)/150 {
			file[i] ^= 1 << (i % 8)
			put(t, path, string(file))
			_, problems, err := Check([]string{path}, []*census.Summary{want}, nil)
			if err == nil && len(problems) == 0 {
				t.Errorf("%s: byte %d changed", name, i)
			}
			file[i] ^= 1 << (i % 8)
		}
	}
}

// TestCheckProblems checks that each fault is described once.
func TestCheckProblems(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, names[0])
	want := writeCensus(t, path, 3)
	b, err := os.ReadFile(path)
	check(t, err)
	good := string(b)
	tests := []struct {
		name, file string
		change     func(e *census.Summary)
		want       []string
	}{
		{"two scans", good + strings.ReplaceAll(good, `"scan":"s"`, `"scan":"t"`), nil, nil},
		{"no such scan", good, func(e *census.Summary) { e.Scan, e.Targets.ByStatus = "u", nil }, []string{"found 3 records of scan s, but no summary", "found 0 records of scan u, but"}},
		{"status", good, func(e *census.Summary) { e.Targets.ByStatus = map[string]uint64{"ok": 2, "partial": 1} },
			[]string{"found 3 records of scan s with status ok, but its summary says 2", "found 0 records of scan s with status partial, but its summary says 1"}},
		{"silent", strings.ReplaceAll(good, `"status":"ok"`, `"status":"no_reply"`),
			func(e *census.Summary) { e.Targets.ByStatus, e.Division = map[string]uint64{"no_reply": 4}, nil },
			[]string{"found 3 records of scan s with status no_reply, but its summary says 4"}},
		{"a large number", strings.Replace(good, `"schema":1`, `"schema":1,"x":[1e400]`, 1),
			func(e *census.Summary) { e.Division = nil }, []string{"record 1: the number 1e400 is too large", "found 2 records of scan s, but", "found 2 records of scan s with status ok"}},
		{"records of a part", good, func(e *census.Summary) { e.Division = []sink.Part{{Name: path, Records: 4, Bytes: int64(len(good))}} },
			[]string{"it has 3 of the 4 records that the summary counts"}},
		{"more records in a part", good, func(e *census.Summary) { e.Division = []sink.Part{{Name: path, Records: 2, Bytes: int64(len(good))}} },
			[]string{"has 3 records, but the summary says 2"}},
		{"unknown status", good, func(e *census.Summary) { e.Targets.ByStatus = map[string]uint64{} }, []string{"found 3 records of scan s with status ok"}},
		{"no status", strings.ReplaceAll(good, `"status":"ok",`, ""), func(e *census.Summary) { e.Targets.ByStatus, e.Division = nil, nil }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			put(t, path, tt.file)
			if tt.change == nil {
				wantProblems(t, verified(t, nil, path), tt.want...)
				return
			}
			e := *want
			tt.change(&e)
			wantProblems(t, verified(t, &e, path), tt.want...)
		})
	}
}

// TestCheckEveryCut checks that a compressed census that ends anywhere but behind a frame
// or a member is never found complete, although no summary says how long it was.
func TestCheckEveryCut(t *testing.T) {
	for _, name := range names[1:] {
		path := filepath.Join(t.TempDir(), name)
		writeCensus(t, path, 2)
		first, err := os.ReadFile(path)
		check(t, err)
		second := filepath.Join(t.TempDir(), name)
		writeCensus(t, second, 1)
		more, err := os.ReadFile(second)
		check(t, err)
		both := string(first) + string(more)
		for cut := 1; cut < len(both); cut++ {
			put(t, path, both[:cut])
			_, problems, err := Check([]string{path}, nil, nil)
			isCut := slices.ContainsFunc(problems, func(s string) bool { return strings.Contains(s, "truncated") })
			if err != nil || isCut == (cut == len(first)) {
				t.Errorf("%s, %d of %d bytes: %q, %v", name, cut, len(both), problems, err)
			}
			lost := census.Lost([]census.Reading{reading(t, path)}, nil, false)
			if len(lost) == 0 && cut != len(first) {
				t.Errorf("%s, %d of %d bytes: nothing is lost", name, cut, len(both))
			}
		}
	}
}

func reading(t *testing.T, path string) census.Reading {
	t.Helper()
	count := func() func(*sink.Block) int {
		return func(b *sink.Block) (n int) {
			for range b.Lines() {
				n++
			}
			return n
		}
	}
	read, err := pipe(path, count, func(_ *sink.Block, n int) (int, error) { return n, nil })
	check(t, err)
	return read
}

// TestCheckMany checks that all problems are counted, and the first ones described, and
// that files that can't be read are an error.
func TestCheckMany(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, names[0])
	put(t, path, strings.Repeat(`{"schema":1,"port":-1}`+"\n", maxProblems+5))
	if got := verified(t, nil, path); len(got) != maxProblems+1 || got[maxProblems] != "5 more problems" {
		t.Errorf("%d problems: %q", len(got), got)
	}
	if _, _, err := Check([]string{filepath.Join(dir, "missing")}, nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	put(t, path, "text\n")
	if _, _, err := Check([]string{path}, nil, nil); !errors.Is(err, sink.ErrNotCensus) {
		t.Error(err)
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
