package sink

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readColumns returns the lines of a file with columns.
func readColumns(t *testing.T, path string) (got []string) {
	t.Helper()
	r, err := Open(path)
	check(t, err)
	defer r.Close()
	r.KeepLines()
	for {
		line, err := r.Next()
		if err != nil {
			return got
		}
		got = append(got, string(line))
	}
}

// TestHeader checks that a file with columns begins with its header, exactly once,
// even if it is appended to or resumed, and that a file with other columns is not
// appended to.
func TestHeader(t *testing.T) {
	o := Options{Header: []byte("a,b\n"), Shown: func([]byte) []byte { return []byte("1,2") }}
	for _, name := range []string{"x.csv", "x.csv.zst", "x.csv.gz"} {
		path := filepath.Join(t.TempDir(), name)
		w := create(t, path, o)
		write(t, w, 0, 2)
		if w.Unwritten() != 0 || w.Count() != 2 {
			t.Errorf("%s: %d records, %d unwritten", name, w.Count(), w.Unwritten())
		}
		closed(t, w)
		again := o
		again.Append = true
		w = create(t, path, again)
		write(t, w, 0, 1)
		closed(t, w)
		resumed := o
		resumed.Resume = &Position{Offset: durable(w)}
		w = create(t, path, resumed)
		write(t, w, 0, 1)
		closed(t, w)
		if got := readColumns(t, path); !slices.Equal(got, []string{"a,b", "1,2", "1,2", "1,2", "1,2"}) {
			t.Errorf("%s: %q", name, got)
		}
		for _, header := range []string{"b,a\n", ""} {
			other := Options{Append: true, Header: []byte(header)}
			if header == "" {
				other.Header = nil
			}
			if w, err := Create(path, other); err == nil {
				t.Errorf("%s was appended to with the header %q", name, header)
				w.Close()
			}
		}
	}
}

// TestHeaderOfParts checks that each part of a file with columns begins with the
// header.
func TestHeaderOfParts(t *testing.T) {
	o := Options{Header: []byte("a,b\n"), Shown: func([]byte) []byte { return []byte("1,2") },
		Rotate: &Rotation{Size: 1}}
	s := create(t, filepath.Join(t.TempDir(), "x.csv"), o)
	for range 3 {
		write(t, s, 0, 1)
		check(t, syncNow(s))
	}
	closed(t, s)
	mustCommit(t, s)
	parts := s.Parts()
	for _, p := range parts {
		text, err := os.ReadFile(p.Name)
		if want := "a,b\n" + strings.Repeat("1,2\n", int(p.Records)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", p.Name, text, err)
		}
	}
	if len(parts) != 3 {
		t.Errorf("%d parts", len(parts))
	}
}
