package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/sink/internal/sinktest"
	"github.com/a2sscan/a2sscan/sink/record"
)

var partStart = time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)

func TestPartName(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"census.ndjson.zst", "census-20261120T030000Z-00007.ndjson.zst"},
		{"a.b/census.zst", "a.b/census-20261120T030000Z-00007.zst"},
		{"a.b/census", "a.b/census-20261120T030000Z-00007"},
		{"census.eu.ndjson", "census.eu-20261120T030000Z-00007.ndjson"},
		{"a/.census", "a/.census-20261120T030000Z-00007"},
	} {
		if got := PartName(c.path, partStart, 7); got != c.want {
			t.Errorf("%s became %s, want %s", c.path, got, c.want)
		}
	}
}

func createSeries(t *testing.T, path string, o Options, r Rotation) *Series {
	t.Helper()
	r.Start = partStart
	s, err := CreateSeries(path, o, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func writeSeries(t *testing.T, s *Series, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := s.WriteAs("", sinktest.Typical(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// inFolder returns the names in the folder of a path, and all lines of these files
// in the order of their names.
func inFolder(t *testing.T, path string) (files, records []string) {
	t.Helper()
	dir, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range dir {
		files = append(files, f.Name())
		got, truncated := readFile(t, filepath.Join(filepath.Dir(path), f.Name()))
		if truncated != 0 {
			t.Errorf("%s: %d bytes truncated", f.Name(), truncated)
		}
		records = append(records, got...)
	}
	return files, records
}

func seriesLines(from, to int) []string {
	var e record.Encoder
	var all []string
	for i := from; i < to; i++ {
		all = append(all, strings.TrimSuffix(string(e.Append(nil, "", sinktest.Typical(i))), "\n"))
	}
	return all
}

// TestSeriesSize checks that all parts but the last are at least as long as
// requested, and that together they are the census, in order.
func TestSeriesSize(t *testing.T) {
	const size, n = 300_000, 4000
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		s := createSeries(t, path, Options{}, Rotation{Size: size})
		writeSeries(t, s, 0, n)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		files, records := inFolder(t, path)
		if !slices.Equal(records, seriesLines(0, n)) {
			t.Errorf("%s: %d records in the parts, or others", name, len(records))
		}
		parts, counted := s.Parts(), uint64(0)
		for i, p := range parts {
			want := PartName(path, partStart, i+1)
			info, err := os.Stat(want)
			if err != nil || p.Name != want || p.Bytes != info.Size() || filepath.Base(want) != files[i] {
				t.Errorf("part %d: %+v, %v", i, p, err)
			}
			if i < len(parts)-1 && p.Bytes < size {
				t.Errorf("part %d has only %d bytes", i, p.Bytes)
			}
			counted += p.Records
		}
		if counted != n || s.Count() != n || len(files) != len(parts) || len(parts) < 2 {
			t.Errorf("%s: %d records in %d parts, %d files", name, counted, len(parts), len(files))
		}
		if err := s.WriteAs("", sinktest.Typical(0)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("a record after Close: %v", err)
		}
	}
}

// TestSeriesEvery checks that a part ends when its time is over, and that no part
// is created before there is a record for it.
func TestSeriesEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), names[0])
		s := createSeries(t, path, Options{FlushEvery: -1}, Rotation{Every: time.Hour})
		for i := range 3 {
			writeSeries(t, s, 2*i, 2*i+1)
			time.Sleep(time.Hour)
			writeSeries(t, s, 2*i+1, 2*i+2)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if files, records := inFolder(t, path); len(files) != 3 || len(records) != 6 {
			t.Errorf("%d records in %v", len(records), files)
		}
	})
}

// TestSeriesResume checks that resuming removes everything written after a mark,
// whether or not the files have their final names, and leaves the parts before the
// mark unchanged.
func TestSeriesResume(t *testing.T) {
	const n = 600
	for _, name := range names {
		for _, hold := range []bool{false, true} {
			for at := 0; at <= n; at += 200 {
				t.Run(fmt.Sprint(name, hold, at), func(t *testing.T) { resumeSeries(t, name, hold, at, n) })
			}
		}
	}
}

func resumeSeries(t *testing.T, name string, hold bool, at, n int) {
	path := filepath.Join(t.TempDir(), name)
	r := Rotation{Size: 50_000, Hold: hold}
	s := createSeries(t, path, Options{}, r)
	writeSeries(t, s, 0, at)
	m, err := s.Mark()
	if err != nil {
		t.Fatal(err)
	}
	writeSeries(t, s, at, n) // is lost
	offset, err := m.Sync()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CommitBefore(m); err != nil {
		t.Fatal(err)
	}
	checkHeld(t, path, hold, m)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if at%400 == 0 { // it was almost complete
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
	}

	r.Whole, r.Records = m.Parts(), m.Records()
	s = createSeries(t, path, Options{Resume: true, Offset: offset}, r)
	writeSeries(t, s, at, n)
	err = errors.Join(s.Close(), s.Commit())
	files, records := inFolder(t, path)
	if err != nil || !slices.Equal(records, seriesLines(0, n)) {
		t.Errorf("%d records in %v, %v", len(records), files, err)
	}
	counted := uint64(0)
	for _, p := range s.Parts() {
		counted += p.Records
	}
	if counted != uint64(n) || s.Count() != uint64(n-at) {
		t.Errorf("%d records in parts, %d written", counted, s.Count())
	}
}

// checkHeld fails the test unless, with Rotation.Hold, exactly the files that were
// complete at the mark have their final names.
func checkHeld(t *testing.T, path string, hold bool, m *Mark) {
	t.Helper()
	if !hold {
		return
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), PartSuffix) {
			named = append(named, f.Name())
		}
	}
	for i, p := range m.Parts() {
		if i >= len(named) || p.Name != filepath.Join(filepath.Dir(path), named[i]) {
			t.Errorf("%s has no name yet", p.Name)
		}
	}
	if len(named) != len(m.Parts()) {
		t.Errorf("%v have their final names, %d are complete", named, len(m.Parts()))
	}
}

// TestSeriesThere checks that CheckSeries returns an error if a file has the name
// of the first part, and that CreateSeries returns one for Options.Append.
func TestSeriesThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), names[0])
	r := Rotation{Start: partStart}
	if err := os.WriteFile(PartName(path, partStart, 1), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := CheckSeries(path, Options{}, r); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if _, err := CreateSeries(path, Options{Append: true}, r); err == nil {
		t.Error("parts can't be appended to")
	}
}

// TestSeriesFails checks that WriteAs fails if a part can't be created, and keeps
// failing.
func TestSeriesFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", names[0])
	s := createSeries(t, path, Options{}, Rotation{Size: 1})
	err := s.WriteAs("", sinktest.Typical(0))
	if err == nil || s.WriteAs("", sinktest.Typical(1)) != err || s.Close() != err {
		t.Error(err)
	}
	if _, again := s.Mark(); again != err {
		t.Error(again)
	}
}
