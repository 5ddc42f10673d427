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

	"github.com/a2sscan/a2sscan/sink/disk"
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

// inFolder returns the names in the folder of a path, and all lines of these files
// in the order of their names.
func inFolder(t *testing.T, path string) (files, records []string) {
	t.Helper()
	dir, err := os.ReadDir(filepath.Dir(path))
	check(t, err)
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

// TestPartsSize checks that all parts but the last are at least as long as
// requested, and that together they are the census, in order.
func TestPartsSize(t *testing.T) {
	const size, n = 100_000, 1500
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		s := create(t, path, Options{Rotate: &Rotation{Start: partStart, Size: size}})
		write(t, s, 0, n)
		check(t, s.Close())
		files, records := inFolder(t, path)
		if !slices.Equal(records, lines(0, n)) {
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
		if err := s.Write("", typical(0)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("a record after Close: %v", err)
		}
	}
}

// TestPartsEvery checks that a part ends when its time is over, and that no part
// is created before there is a record for it.
func TestPartsEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), names[0])
		s := create(t, path, Options{Rotate: &Rotation{Start: partStart, Every: time.Hour}})
		for i := range 3 {
			write(t, s, 2*i, 2*i+1)
			time.Sleep(time.Hour + time.Minute)
			write(t, s, 2*i+1, 2*i+2)
			time.Sleep(time.Hour + time.Minute)
		}
		closed(t, s)
		if files, records := inFolder(t, path); len(files) != 3 || len(records) != 6 {
			t.Errorf("%d records in %v", len(records), files)
		}
	})
}

// TestPartsResume checks that resuming removes everything written after a mark,
// whether or not the files have their final names, and leaves the parts before the
// mark unchanged.
func TestPartsResume(t *testing.T) {
	const n = 240
	for _, name := range names {
		for _, hold := range []bool{false, true} {
			for at := 0; at <= n; at += n / 3 {
				t.Run(fmt.Sprint(name, hold, at), func(t *testing.T) { resumeParts(t, name, hold, at, n) })
			}
		}
	}
}

func resumeParts(t *testing.T, name string, hold bool, at, n int) {
	path := filepath.Join(t.TempDir(), name)
	rotate := &Rotation{Start: partStart, Size: 50_000, Hold: hold}
	s := create(t, path, Options{Rotate: rotate})
	write(t, s, 0, at)
	m, err := s.Mark()
	check(t, err)
	write(t, s, at, n) // is lost
	resume, err := m.Sync()
	check(t, err)
	check(t, m.Commit())
	if hold {
		checkHeld(t, path, partsOf(m.before))
	}
	end := s.Keep
	if at%400 == 0 { // it was almost complete
		end = s.Commit
	}
	check(t, end())

	s = create(t, path, Options{Resume: &resume, Rotate: rotate})
	write(t, s, at, n)
	err = errors.Join(s.Close(), s.Commit())
	files, records := inFolder(t, path)
	if err != nil || !slices.Equal(records, lines(0, n)) {
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

// checkHeld fails the test unless exactly the parts that were complete at a mark have
// their final names.
func checkHeld(t *testing.T, path string, whole []Part) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	check(t, err)
	var named []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), disk.PartSuffix) {
			named = append(named, f.Name())
		}
	}
	for i, p := range whole {
		if i >= len(named) || p.Name != filepath.Join(filepath.Dir(path), named[i]) {
			t.Errorf("%s has no name yet", p.Name)
		}
	}
	if len(named) != len(whole) {
		t.Errorf("%v have their final names, %d are complete", named, len(whole))
	}
}

// TestPartsThere checks that Check returns an error if a file has the name of the first
// part, and that Open returns one for Options.Append.
func TestPartsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), names[0])
	r := &Rotation{Start: partStart}
	check(t, os.WriteFile(PartName(path, partStart, 1), nil, 0o666))
	if err := New(path, Options{Rotate: r}).Check(); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if _, err := Create(path, Options{Append: true, Rotate: r}); err == nil {
		t.Error("parts can't be appended to")
	}
}

// TestPartsFails checks that Close and Mark return the error of a part that can't be
// created, and that Options.Failed is called.
func TestPartsFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", names[0])
	failed := make(chan bool, 1)
	s := create(t, path, Options{Rotate: &Rotation{Size: 1}, FlushEvery: time.Millisecond, Failed: func() { failed <- true }})
	write(t, s, 0, 1)
	<-failed
	err := s.Write("", typical(1))
	if err == nil || s.Close() != err {
		t.Error(err)
	}
	if _, again := s.Mark(); again != err {
		t.Error(again)
	}
}
