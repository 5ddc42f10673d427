package sink

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// memory implements file in memory. Each Write waits to receive from gate.
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

func (m *memory) ReadAt([]byte, int64) (int, error)  { return 0, errors.ErrUnsupported }
func (m *memory) WriteAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }

func (m *memory) Seek(int64, int) (int64, error) { return 0, errors.ErrUnsupported }

func (m *memory) Sync() error          { return nil }
func (m *memory) Truncate(int64) error { return nil }
func (m *memory) Close() error         { return nil }

func (m *memory) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.data)
}

// memoryOutput returns an Output whose open file is h.
func memoryOutput(h handle, o Options) *Output {
	w := New("memory", o)
	w.now = &file{handle: h, to: h, name: "memory", regular: true, done: make(chan struct{})}
	w.start()
	return w
}

// TestFlush checks that a record reaches the file within FlushEvery even if neither
// another record nor a Sync follows, and that it is not flushed right away.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		w := memoryOutput(m, Options{})
		for range 3 {
			before := m.len()
			write(t, w, 0, 1)
			time.Sleep(defaultFlush / 2)
			synctest.Wait()
			early := m.len()
			time.Sleep(defaultFlush / 2)
			synctest.Wait()
			if early != before || m.len() != int(w.bytes.Load()) {
				t.Errorf("%d bytes, then %d, then %d of %d", before, early, m.len(), w.bytes.Load())
			}
		}
		time.Sleep(time.Minute)
		if m.writes != 3 {
			t.Errorf("%d writes of 3 records", m.writes)
		}
		if durable(w) != 0 {
			t.Errorf("offset %d was never promised", durable(w))
		}
		closed(t, w)
	})
}

// TestFollow checks that a compressed record can be read after defaultFlushZstd,
// although its frame is not ended. The frame is ended when it is old enough, and
// only once.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "census.zst")
		w := create(t, path, Options{})
		frames := func() int {
			file, err := os.ReadFile(path)
			check(t, err)
			return countFrames(file)
		}
		for i := range 5 {
			write(t, w, i, i+1)
			time.Sleep(defaultFlushZstd + time.Millisecond)
			synctest.Wait()
			got, truncated := readFile(t, path)
			if !slices.Equal(got, lines(0, i+1)) || truncated != 0 || frames() != -1 {
				t.Errorf("%d lines of %d, %d truncated, %d frames", len(got), i+1, truncated, frames())
			}
		}
		if durable(w) != 0 {
			t.Errorf("offset %d was never promised", durable(w))
		}
		time.Sleep(frameAge)
		synctest.Wait()
		wantLines(t, path, lines(0, 5))
		old := size(t, path)
		time.Sleep(10 * frameAge)
		synctest.Wait()
		if frames() != 1 || size(t, path) != old {
			t.Errorf("%d frames, %d bytes, then %d", frames(), old, size(t, path))
		}
		closed(t, w)
	})
}

// TestFlushHeld checks that records that were in a full block, and are held only by
// the encoder, are flushed without another record.
func TestFlushHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "census.zst")
		w := create(t, path, Options{})
		n := 0
		for held := true; held; n++ {
			write(t, w, n, n+1)
			w.mu.Lock()
			held = w.block != nil
			w.mu.Unlock()
		}
		time.Sleep(defaultFlushZstd + time.Millisecond)
		synctest.Wait()
		if got, truncated := readFile(t, path); !slices.Equal(got, lines(0, n)) || truncated != 0 {
			t.Errorf("%d lines of %d, %d truncated", len(got), n, truncated)
		}
		closed(t, w)
	})
}

// TestFrames checks that a frame ends when it is large enough, and at a Sync, and
// that Sync creates no frame if nothing was written.
func TestFrames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.zst")
	w := create(t, path, Options{FlushEvery: -1})
	n := 0
	for ; w.bytes.Load() < 2*frameSize+frameSize/2; n++ {
		write(t, w, n, n+1)
	}
	for range 3 {
		if err := syncNow(w); err != nil || durable(w) != size(t, path) {
			t.Errorf("offset %d: %v", durable(w), err)
		}
	}
	closed(t, w)
	wantLines(t, path, lines(0, n))
	file, err := os.ReadFile(path)
	if got := countFrames(file); got != 3 || err != nil {
		t.Errorf("%d frames, want 3: %v", got, err)
	}
}

// TestSlowDisk checks that Write accepts a few blocks while the disk is stalled and
// then waits, and that nothing is lost when the disk continues.
func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{gate: make(chan struct{})}
		w := memoryOutput(m, Options{FlushEvery: -1})
		const n = 2000
		go func() {
			for i := range n {
				if err := w.Write("", typical(i)); err != nil {
					t.Error(err)
				}
			}
		}()
		synctest.Wait()
		held := w.bytes.Load()
		if held < (numBlocks-1)*blockSize || held > numBlocks*(blockSize+blockRoom) {
			t.Errorf("%d bytes were accepted while nothing could be written", held)
		}
		close(m.gate)
		synctest.Wait()
		closed(t, w)
		want := strings.Join(lines(0, n), "\n") + "\n"
		if string(m.data) != want || w.Count() != n {
			t.Errorf("%d bytes of %d, %d records", len(m.data), len(want), w.Count())
		}
	})
}

// TestManyWriters writes from several goroutines while others sync. All records
// must be there and complete, those of each goroutine in order.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.zst")
	w := create(t, path, Options{FlushEvery: time.Millisecond})
	const each = 300
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range each {
				if err := w.Write("", typical(g*each+i)); err != nil {
					t.Error(err)
				}
				if i%50 == 0 {
					if err := syncNow(w); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	closed(t, w)
	got, truncated := readFile(t, path)
	want := lines(0, 4*each)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || truncated != 0 {
		t.Errorf("%d lines, want %d or others", len(got), len(want))
	}
}

func TestClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.ndjson")
	w := create(t, path, Options{})
	closed(t, w)
	closed(t, w)
	if err := w.Write("", typical(0)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
	if err := syncNow(w); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Sync after Close: %v", err)
	}
	if size(t, path) != 0 {
		t.Error("the file is not empty")
	}
}

// broken is a file on a disk that becomes full after a number of bytes.
type broken struct {
	*os.File
	room        int
	sync, close error
	uncut       bool
	heals       bool // after the first failed write there is room again
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

// WriteAt may overwrite the bytes that exist, and use the room that is left.
func (b *broken) WriteAt(p []byte, offset int64) (int, error) {
	info, err := b.Stat()
	if err != nil {
		return 0, err
	}
	n, err := b.File.WriteAt(p[:min(len(p), max(0, int(info.Size()-offset)+b.room))], offset)
	b.room += int(info.Size()-offset) - n // the file is cut after it
	if err == nil && n < len(p) {
		err = &os.PathError{Op: "write", Path: b.Name(), Err: syscall.ENOSPC}
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

// brokenWriter returns an Output to a new file called name that has the faults of b,
// and the path of that file.
func brokenWriter(t *testing.T, name string, b broken) (*Output, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w := New(path, Options{FlushEvery: -1})
	check(t, w.begin(path, &w.o))
	if w.packed != unpacked {
		w.packer, _ = newPacker(w.packed)
	}
	b.File = w.now.disk.File
	w.now.handle, w.now.to = &b, &b
	w.start()
	return w, path
}

// TestFull checks that a disk that becomes full after any number of bytes holds
// every complete record that fits, and that every later call returns the error.
func TestFull(t *testing.T) {
	want := lines(0, 6)
	for _, name := range names {
		for room := 0; room < 6*len(want[0]); room += 1 + room/7 {
			w, path := brokenWriter(t, name, broken{room: room})
			synced := 0
			for i := range 6 {
				if err := w.Write("", typical(i)); err != nil {
					break
				}
				if i%2 == 1 && syncNow(w) == nil {
					synced = i + 1
				}
			}
			err := w.Close()
			if err == nil && name != names[0] && room > 1000 {
				break // all of it fits
			}
			checkFull(t, err, path)
			for _, again := range []error{w.Write("", typical(9)), syncNow(w), w.Close()} {
				if again != err {
					t.Errorf("the error changed from %v to %v", err, again)
				}
			}
			got, truncated := readFile(t, path)
			if truncated != 0 || len(got) < synced || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("%s, room for %d: %d lines, %d synced, %d truncated", name, room, len(got), synced, truncated)
			}
			if next := len(strings.Join(want[:len(got)+1], "\n")) + 1; name == names[0] && next <= room {
				t.Errorf("room for %d: %d lines, one more had room", room, len(got))
			}
		}
	}
}

// TestFullFrame checks that, if the disk becomes full inside a frame, that frame is
// ended and contains every record that was flushed before.
func TestFullFrame(t *testing.T) {
	for room := 4000; room < 8000; room += 997 {
		synctest.Test(t, func(t *testing.T) { checkFullFrame(t, room) })
	}
}

func checkFullFrame(t *testing.T, room int) {
	w, path := brokenWriter(t, names[1], broken{room: room})
	fit, synced := 0, []byte(nil)
	for i := range 60 {
		if w.Write("", typical(i)) != nil {
			break
		}
		if i == 1 {
			check(t, syncNow(w))
			synced, _ = os.ReadFile(path)
		}
		w.flush()
		synctest.Wait()
		if w.Err() == nil {
			fit = i + 1
		}
	}
	checkFull(t, w.Close(), path)
	got, _ := readFile(t, path)
	if len(got) != fit || fit < 6 || durable(w) > size(t, path) {
		t.Errorf("room for %d: %d lines, %d had room", room, len(got), fit)
	}
	wantLines(t, path, lines(0, len(got)))
	if file, err := os.ReadFile(path); !bytes.HasPrefix(file, synced) || len(synced) == 0 {
		t.Errorf("the synced bytes changed: %v", err)
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
	if err == nil || !strings.HasSuffix(err.Error(), "; the last line of the census is cut off") {
		t.Error(err)
	}
	if got, truncated := readFile(t, path); len(got) != 0 || truncated != 100 {
		t.Errorf("%d lines, %d truncated", len(got), truncated)
	}
}

// TestSyncFails checks that Sync and Close return the error of a failed fsync.
func TestSyncFails(t *testing.T) {
	w, path := brokenWriter(t, names[0], broken{room: 1 << 20, sync: syscall.EIO})
	write(t, w, 0, 1)
	err := syncNow(w)
	if !errors.Is(err, syscall.EIO) || !strings.HasPrefix(err.Error(), "write "+path+": ") {
		t.Error(err)
	}
	if durable(w) != 0 {
		t.Errorf("offset %d was never promised", durable(w))
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

// TestFullOnce checks that nothing is written after an error, since it would follow
// a gap, and that the first error is the one reported.
func TestFullOnce(t *testing.T) {
	for _, name := range names {
		w, path := brokenWriter(t, name, broken{heals: true, close: syscall.EIO})
		for i := range 2000 {
			w.Write("", typical(i))
		}
		checkFull(t, w.Close(), path)
		if n := size(t, path); n != 0 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}

// TestPipeGone writes to a pipe whose reader has closed it.
func TestPipeGone(t *testing.T) {
	r, out, err := os.Pipe()
	check(t, err)
	defer out.Close()
	w := create(t, "-", Options{Stdout: out})
	write(t, w, 0, 1)
	check(t, syncNow(w))
	r.Close()
	write(t, w, 1, 2)
	err = w.Close()
	const want = "write standard output: broken pipe; the reader closed the pipe"
	if !errors.Is(err, syscall.EPIPE) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func syncNow(w *Output) error {
	_, err := w.Sync()
	return err
}

// TestTakenAway checks that Close fails if the census no longer has its name, or if
// another program has changed it. The error names the file that holds the records.
func TestTakenAway(t *testing.T) {
	tests := []struct {
		name string
		do   func(path string) error
		want string // DIR stands for the census's directory
	}{
		{"removed", os.Remove,
			"no such file or directory; the census was removed while it was being written, and its records are lost"},
		{"renamed", func(path string) error { return os.Rename(path, path+".old") },
			"its records are in DIR/census.old"},
		{"folder renamed", func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old") },
			"its records are in DIR.old/census"},
		{"replaced", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("x"), 0o666))
		}, "another file now has the name of the census; the census was renamed while it was being written: its records are in DIR/census.old"},
		{"emptied", func(path string) error { return os.Truncate(path, 0) },
			"another program truncated the census to 0 of the "},
		{"cut", func(path string) error { return os.Truncate(path, 10) },
			"another program truncated the census to 10 of the "},
		{"written to", func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("x\n")
			return errors.Join(err, f.Close())
		}, "another program wrote to the census: the file has "},
	}
	for _, tt := range tests {
		for _, more := range []int{0, 1} { // records after it
			t.Run(tt.name, func(t *testing.T) {
				if runtime.GOOS == "windows" {
					t.Skip("SKIPPED: Windows protects a file that is open")
				}
				dir := filepath.Join(t.TempDir(), "dir")
				check(t, os.Mkdir(dir, 0o777))
				path := filepath.Join(dir, "census")
				w := create(t, path, Options{FlushEvery: -1})
				write(t, w, 0, 1)
				check(t, syncNow(w))
				check(t, tt.do(path))
				write(t, w, 1, 1+more)
				err := w.Close()
				want := strings.ReplaceAll(tt.want, "DIR", dir)
				if err == nil || !strings.HasPrefix(err.Error(), "write "+path+": ") || !strings.Contains(err.Error(), want) {
					t.Errorf("%d more: %v, want %s", more, err, want)
				}
				if w.File().Sum != "" {
					t.Error("a census that is not there has a hash")
				}
			})
		}
	}
}

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
		if waiting, _ := w.Waiting(); waiting != 0 || w.Count() != 2 {
			t.Errorf("%s: %d records, %d waiting", name, w.Count(), waiting)
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
