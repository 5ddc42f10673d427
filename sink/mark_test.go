package sink

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
)

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

// TestMarkFails checks that a mark returns the error if the disk failed before
// reaching it.
func TestMarkFails(t *testing.T) {
	w, _ := brokenWriter(t, names[0], broken{})
	write(t, w, 0, 1)
	m, err := w.Mark()
	check(t, err)
	if _, err := m.Sync(); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	w.Close()
	w = create(t, filepath.Join(t.TempDir(), names[0]), Options{})
	closed(t, w)
	if _, err := w.Mark(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a mark after Close: %v", err)
	}
}
