package sink

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cespare/xxhash/v2"
)

// sumOf returns the hash of a file's first n bytes, or of all if n is negative.
func sumOf(t *testing.T, path string, n int64) string {
	t.Helper()
	b, err := os.ReadFile(path)
	check(t, err)
	if n >= 0 {
		b = b[:n]
	}
	d := xxhash.New()
	d.Write(b)
	return sumText(d)
}

// TestSum checks that a mark's hash is that of the file up to the mark, and that
// the final hash is that of the whole file, even if an earlier run wrote its
// beginning.
func TestSum(t *testing.T) {
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		var at Position
		for part := range 3 {
			o := Options{Resume: &Position{Offset: at.Offset, Sum: at.Sum}}
			if part == 2 {
				o = Options{Append: true}
			}
			var read int64
			o.Progress = func(n, size int64) {
				if read = n; n > size {
					t.Errorf("%d bytes of %d were read", n, size)
				}
			}
			before := int64(0)
			if part > 0 {
				before = size(t, path)
			}
			w := create(t, path, o)
			if part == 1 && read != at.Offset || part == 2 && read != before {
				t.Errorf("%s: %d bytes were read of %d", name, read, before)
			}
			write(t, w, 0, 30)
			m, err := w.Mark()
			check(t, err)
			write(t, w, 30, 40)
			if at, err = m.Sync(); err != nil {
				t.Fatal(err)
			}
			closed(t, w)
			if want := sumOf(t, path, at.Offset); at.Sum != want {
				t.Errorf("%s: mark %d has hash %s, want %s", name, part, at.Sum, want)
			}
			if got, want := w.File().Sum, sumOf(t, path, -1); got != want {
				t.Errorf("%s: part %d has hash %s, want %s", name, part, got, want)
			}
		}
	}
}

// TestResumeChanged flips one bit at a time before the checkpoint. Create must
// return ErrChanged and must not truncate the file.
func TestResumeChanged(t *testing.T) {
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		w := create(t, path, Options{})
		write(t, w, 0, 30)
		m, err := w.Mark()
		check(t, err)
		at, err := m.Sync()
		check(t, err)
		write(t, w, 30, 40)
		closed(t, w)
		whole, err := os.ReadFile(path)
		check(t, err)
		resume := Options{Resume: &at}
		for i := int64(0); i < at.Offset; i += 1 + at.Offset/20 {
			whole[i] ^= 4
			put(t, path, string(whole))
			whole[i] ^= 4
			_, err := Create(path, resume)
			if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), at.Sum) {
				t.Fatalf("%s: byte %d changed: %v", name, i, err)
			}
			if size(t, path) != int64(len(whole)) {
				t.Fatalf("%s: it was refused, and cut", name)
			}
		}
		put(t, path, string(whole))
		whole[at.Offset] ^= 4 // is cut off
		closed(t, create(t, path, resume))
		wantLines(t, path, lines(0, 30))
	}
}

// TestResumeOffset checks that Create returns an error for an offset beyond the end of
// the file, and for a negative one, as a damaged checkpoint may have.
func TestResumeOffset(t *testing.T) {
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		put(t, path, "")
		_, err := Create(path, Options{Resume: &Position{Offset: 1}})
		if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "0 of 1 bytes are left") {
			t.Errorf("%s: a file that is too short: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), names[0])
	put(t, path, tinyLines(1))
	if _, err := Create(path, Options{Resume: &Position{Offset: -1}}); err == nil {
		t.Error("a file was cut to a negative length")
	}
	if _, err := Create(path, Options{Resume: &Position{Offset: -1}, Rotate: &Rotation{Start: partStart}}); err == nil {
		t.Error("a part was cut to a negative length")
	}
}

// TestPartsChanged checks that Create rejects a complete part that has
// changed before it modifies any file, and accepts that a part was removed.
func TestPartsChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), names[0])
	rotate := &Rotation{Start: partStart, Size: 200_000}
	s := create(t, path, Options{Rotate: rotate, FlushEvery: -1}) // a flush could end a part elsewhere
	var at Position
	for i := range 5 {
		write(t, s, 150*i, 150*(i+1))
		var err error
		if at, err = s.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	write(t, s, 750, 900)
	check(t, s.Close())
	for _, p := range s.Parts() {
		if p.Sum != sumOf(t, p.Name, -1) {
			t.Errorf("%s has hash %s", p.Name, p.Sum)
		}
	}
	resume := Options{Resume: &at, Rotate: rotate}
	if len(at.Parts) < 2 {
		t.Fatalf("%d parts", len(at.Parts))
	}
	files, _ := inFolder(t, path)
	for _, p := range append(at.Parts, Part{Name: PartName(path, partStart, len(at.Parts)+1)}) {
		whole, err := os.ReadFile(p.Name)
		check(t, err)
		whole[10] ^= 1
		put(t, p.Name, string(whole))
		if _, err := Create(path, resume); !errors.Is(err, ErrChanged) {
			t.Errorf("%s changed: %v", p.Name, err)
		}
		whole[10] ^= 1
		put(t, p.Name, string(whole))
	}
	if now, _ := inFolder(t, path); len(now) != len(files) {
		t.Errorf("the files were %v, and are %v", files, now)
	}
	check(t, os.Remove(at.Parts[0].Name))
	var read, total int64
	resume.Progress = func(n, size int64) { read, total = n, size }
	s, err := Create(path, resume)
	check(t, err)
	if err := s.Close(); err != nil || read != total || total == 0 {
		t.Errorf("%d bytes of %d were read: %v", read, total, err)
	}
}

// TestMark checks that a mark returns the length of the file after the records
// before it, whatever is written later. A census that is cut back to that length
// has exactly those records.
func TestMark(t *testing.T) {
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		w := create(t, path, Options{FlushEvery: -1})
		var marks []*Mark
		for i := range 5 {
			write(t, w, i*100, (i+1)*100)
			m, err := w.Mark()
			check(t, err)
			marks = append(marks, m)
		}
		write(t, w, 500, 600)
		var offsets []int64
		for _, m := range marks {
			at, err := m.Sync()
			offset := at.Offset
			if err != nil || offset > durable(w) {
				t.Errorf("%s: %d of %d synced, %v", name, offset, durable(w), err)
			}
			offsets = append(offsets, offset)
		}
		closed(t, w)
		for i := 4; i >= 0; i-- {
			w := create(t, path, Options{Resume: &Position{Offset: offsets[i]}})
			closed(t, w)
			got, truncated := readFile(t, path)
			if !slices.Equal(got, lines(0, (i+1)*100)) || truncated != 0 {
				t.Errorf("%s: %d records up to mark %d, %d bytes truncated", name, len(got), i, truncated)
			}
		}
	}
}

// TestMarkSlow checks that making a mark does not wait for the disk.
func TestMarkSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		w := memoryOutput(m, Options{FlushEvery: -1})
		write(t, w, 0, 1)
		first, err := w.Mark()
		check(t, err)
		write(t, w, 1, 2)
		second, err := w.Mark()
		check(t, err)
		close(m.gate)
		one, err1 := first.Sync()
		two, err2 := second.Sync()
		if err1 != nil || err2 != nil || one.Offset <= 0 || two.Offset <= one.Offset || durable(w) != two.Offset {
			t.Errorf("marks at %+v and %+v, %v, %v, synced to %d", one, two, err1, err2, durable(w))
		}
		closed(t, w)
		if again, err := first.Sync(); again.Offset != one.Offset || err != nil {
			t.Errorf("after Close: %+v, %v", again, err)
		}
	})
}
