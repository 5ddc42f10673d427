package sink

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// memory is a file that is none. What waits on gate can be held up.
type memory struct {
	mu     sync.Mutex
	data   []byte
	writes int
	gate   chan struct{} // nil: always open
}

func (m *memory) Write(p []byte) (int, error) {
	if m.gate != nil {
		<-m.gate
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = append(m.data, p...)
	m.writes++
	return len(p), nil
}

func (m *memory) Sync() error          { return nil }
func (m *memory) Truncate(int64) error { return nil }
func (m *memory) Close() error         { return nil }

func (m *memory) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.data)
}

func memoryDest(f file) *dest {
	return &dest{f: f, output: &output{name: "memory", regular: true, ours: true}}
}

// TestFlush: a record is in the file after FlushEvery at the latest, without
// another record or a Sync, and not before unless there is a reason.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		w := newWriter(memoryDest(m), Options{})
		for range 3 {
			before := m.len()
			write(t, w, 0, 1)
			time.Sleep(DefaultFlush / 2)
			synctest.Wait()
			early := m.len()
			time.Sleep(DefaultFlush / 2)
			synctest.Wait()
			if early != before || m.len() != int(w.Bytes()) {
				t.Errorf("%d bytes, then %d, then %d of %d", before, early, m.len(), w.Bytes())
			}
		}
		time.Sleep(time.Minute)
		if m.writes != 3 {
			t.Errorf("%d writes of 3 records", m.writes)
		}
		if w.Offset() != 0 {
			t.Errorf("offset %d was never promised", w.Offset())
		}
		closeWriter(t, w)
	})
}

func TestFlushNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		w := newWriter(memoryDest(m), Options{FlushEvery: -1})
		write(t, w, 0, 1)
		time.Sleep(time.Hour)
		synctest.Wait()
		if m.len() != 0 {
			t.Errorf("%d bytes were written", m.len())
		}
		closeWriter(t, w)
		if m.len() != int(w.Bytes()) {
			t.Errorf("%d bytes of %d", m.len(), w.Bytes())
		}
	})
}

// TestSlowDisk: while the disk stands still, Write takes a few blocks and then
// waits; when it goes on, nothing is lost.
func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		w := newWriter(memoryDest(m), Options{FlushEvery: -1})
		const n = 2000
		go func() {
			for i := range n {
				if err := w.Write(typical(i)); err != nil {
					t.Error(err)
				}
			}
		}()
		synctest.Wait()
		held := w.Bytes()
		if held < (numBlocks-1)*blockSize || held > numBlocks*(blockSize+blockRoom) {
			t.Errorf("%d bytes were taken while nothing could be written", held)
		}
		close(m.gate)
		synctest.Wait()
		closeWriter(t, w)
		want := strings.Join(lines(0, n), "\n") + "\n"
		if string(m.data) != want || w.Count() != n {
			t.Errorf("%d bytes of %d, %d records", len(m.data), len(want), w.Count())
		}
	})
}

// TestManyWriters: records of several goroutines are all there and whole, in
// the order of each, while others sync.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.zst")
	w := create(t, path, Options{FlushEvery: time.Millisecond})
	const each = 300
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range each {
				if err := w.Write(typical(g*each + i)); err != nil {
					t.Error(err)
				}
				if i%50 == 0 {
					if err := w.Sync(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	closeWriter(t, w)
	got, torn := readFile(t, path)
	want := lines(0, 4*each)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || torn != 0 {
		t.Errorf("%d lines, want %d or others", len(got), len(want))
	}
}

func TestClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.ndjson")
	w := create(t, path, Options{})
	closeWriter(t, w)
	closeWriter(t, w)
	if err := w.Write(typical(0)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
	if err := w.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Sync after Close: %v", err)
	}
	if size(t, path) != 0 {
		t.Error("the file is not empty")
	}
}

// TestLongBlock: the memory of a block that a giant record made longer is
// given back.
func TestLongBlock(t *testing.T) {
	if b := emptied(make([]byte, 9, 2*maxKept)); len(b) != 0 || cap(b) > maxKept {
		t.Errorf("a block of %d bytes is kept", cap(b))
	}
	if b := emptied(make([]byte, 9, maxKept)); len(b) != 0 || cap(b) != maxKept {
		t.Errorf("a block of %d bytes is not kept", maxKept)
	}
}

// broken is a file on a disk that is full after so many bytes.
type broken struct {
	*os.File
	room        int
	sync, close error
	uncut       bool
	heals       bool // once it was full, there is room again
}

func (b *broken) Write(p []byte) (int, error) {
	n, err := b.File.Write(p[:min(len(p), b.room)])
	b.room -= n
	if err == nil && n < len(p) {
		err = &os.PathError{Op: "write", Path: b.Name(), Err: syscall.ENOSPC}
		if b.heals {
			b.room = 1 << 30
		}
	}
	return n, err
}

func (b *broken) Sync() error { return b.sync }

func (b *broken) Truncate(size int64) error {
	if b.uncut {
		return syscall.EIO
	}
	return b.File.Truncate(size)
}

func (b *broken) Close() error { return errors.Join(b.File.Close(), b.close) }

// brokenWriter returns a Writer to a file of that name with these faults.
func brokenWriter(t *testing.T, name string, b broken) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	o := Options{FlushEvery: -1}
	out, err := o.open(path)
	if err != nil {
		t.Fatal(err)
	}
	b.File = out.File
	d := &dest{f: &b, output: out}
	if out.zstd {
		if d.packer, err = newPacker(); err != nil {
			t.Fatal(err)
		}
	}
	return newWriter(d, o), path
}

// TestFull: a disk that is full after any number of bytes leaves whole
// records, all that had room, and every later call says so.
func TestFull(t *testing.T) {
	want := lines(0, 6)
	for _, name := range names {
		for room := 0; room < 6*len(want[0]); room += 1 + room/7 {
			w, path := brokenWriter(t, name, broken{room: room})
			synced := 0
			for i := range 6 {
				if err := w.Write(typical(i)); err != nil {
					break
				}
				if i%2 == 1 && w.Sync() == nil {
					synced = i + 1
				}
			}
			err := w.Close()
			if err == nil && name != names[0] && room > 1000 {
				break // all of it fits
			}
			checkFull(t, err, path)
			for _, again := range []error{w.Write(typical(9)), w.Sync(), w.Close()} {
				if again != err {
					t.Errorf("the error changed from %v to %v", err, again)
				}
			}
			got, torn := readFile(t, path)
			if torn != 0 || len(got) < synced || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("%s, room for %d: %d lines, %d synced, %d torn", name, room, len(got), synced, torn)
			}
			if next := len(strings.Join(want[:len(got)+1], "\n")) + 1; name == names[0] && next <= room {
				t.Errorf("room for %d: %d lines, one more had room", room, len(got))
			}
		}
	}
}

func checkFull(t *testing.T, err error, path string) {
	t.Helper()
	want := "write " + path + ": no space left on device; free some space, or choose another disk"
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestFullAndUncut(t *testing.T) {
	w, path := brokenWriter(t, names[0], broken{room: 100, uncut: true})
	write(t, w, 0, 1)
	err := w.Close()
	if err == nil || !strings.HasSuffix(err.Error(), "; its last line is cut off") {
		t.Error(err)
	}
	if got, torn := readFile(t, path); len(got) != 0 || torn != 100 {
		t.Errorf("%d lines, %d torn", len(got), torn)
	}
}

// TestSyncFails: a disk that can't keep what it was given.
func TestSyncFails(t *testing.T) {
	w, path := brokenWriter(t, names[0], broken{room: 1 << 20, sync: syscall.EIO})
	write(t, w, 0, 1)
	err := w.Sync()
	if !errors.Is(err, syscall.EIO) || !strings.HasPrefix(err.Error(), "write "+path+": ") {
		t.Error(err)
	}
	if w.Offset() != 0 {
		t.Errorf("offset %d was never promised", w.Offset())
	}
	if again := w.Close(); again != err {
		t.Errorf("%v, then %v", err, again)
	}
}

func TestCloseFails(t *testing.T) {
	w, _ := brokenWriter(t, names[0], broken{room: 1 << 20, close: syscall.EIO})
	write(t, w, 0, 1)
	if err := w.Close(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

// TestFullReleases: after an error nobody waits for blocks that will never be
// free.
func TestFullReleases(t *testing.T) {
	w, _ := brokenWriter(t, names[0], broken{})
	var err error
	for i := 0; err == nil; i++ {
		err = w.Write(typical(i))
	}
	if !errors.Is(err, syscall.ENOSPC) || w.Bytes() > 2*numBlocks*(blockSize+blockRoom) {
		t.Errorf("%v after %d bytes", err, w.Bytes())
	}
	if again := w.Close(); again != err {
		t.Errorf("%v, then %v", err, again)
	}
}

// TestFullOnce: what is written after an error would stand behind a gap. The
// first error stays the one that is told.
func TestFullOnce(t *testing.T) {
	for _, name := range names {
		w, path := brokenWriter(t, name, broken{heals: true, close: syscall.EIO})
		for i := range 2000 {
			w.Write(typical(i))
		}
		checkFull(t, w.Close(), path)
		if n := size(t, path); n != 0 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}

// TestPipeGone: whoever read standard output has gone.
func TestPipeGone(t *testing.T) {
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := create(t, "-", Options{Stdout: out})
	write(t, w, 0, 1)
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	write(t, w, 1, 2)
	err = w.Close()
	const want = "write standard output: broken pipe; whoever was to read it has gone away"
	if !errors.Is(err, syscall.EPIPE) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
