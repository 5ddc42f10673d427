package sink

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/sink/disk"
)

// handle has the methods of os.File that writing needs. Tests replace it with one that
// fails.
type handle interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Seeker
	Sync() error
	Truncate(size int64) error
	Close() error
}

// file is one file of an Output. The writing goroutine owns it until it is complete.
type file struct {
	handle
	to      io.Writer  // the destination: the handle, or Options.Screen
	disk    *disk.File // the handle; nil for standard output
	info    fs.FileInfo
	packed  packing
	part    bool // whether the file is a part of a census
	created bool // whether this Output created the file
	regular bool // whether the file is a regular file, which can be synced
	born    time.Time

	size int64
	// records is the number of records that this scan has written to the file.
	records uint64
	frame   int64          // start of the open frame
	cut     int64          // number of bytes of a partial record that were removed
	sum     *xxhash.Digest // hash of the file's bytes, or nil for standard output, a pipe or a device

	// done is closed when the file is complete or has failed. Then err and whole are set.
	done  chan struct{}
	err   error
	whole Part // without its name

	mu      sync.Mutex // held while the file is synced or renamed; guards the fields below
	name    string     // current name
	final   string     // the name that commit gives the file, or empty if name is already final
	durable int64      // length at the last sync
}

// write appends the block of j. If p is not nil, p compresses the block, and may keep some
// of the bytes for the next call.
func (f *file) write(p *packer, j job) error {
	b := j.block
	if p != nil {
		var err error
		if b, err = p.pack(j); err != nil {
			return newError("write", f.name, err)
		}
	}
	f.records += j.lines
	if len(b) == 0 {
		return nil
	}
	if err := f.checkLength(); err != nil {
		return err
	}
	n, err := f.to.Write(b)
	f.size += int64(n)
	if err != nil {
		return f.mend(b[:n], err)
	}
	if f.sum != nil {
		_, _ = f.sum.Write(b) // a hash never fails
	}
	if p != nil && p.in == 0 {
		f.frame = f.size
	}
	disk.Step("output.block")
	return nil
}

// mend removes the partial record that a failed write has left in a regular file. It
// rewrites a truncated frame as a complete frame, with the lines that can be read. Its
// first argument, written, holds the bytes that the failed write has added; err is the
// error of that write.
func (f *file) mend(written []byte, err error) error {
	e := newError("write", f.name, err)
	if f.sum == nil {
		return e
	}
	if f.packed == unpacked {
		f.size -= int64(len(written) - bytes.LastIndexByte(written, '\n') - 1)
		err = f.Truncate(f.size)
	} else {
		var t tail
		if t, err = cutFrame(f, f.frame, f.size); err == nil {
			f.size, err = repack(f, f.packed, f.frame, f.size, t.lines)
		}
	}
	if err != nil {
		if e.Hint != "" {
			e.Hint += "; "
		}
		e.Hint += "the last line of the census is cut off"
	}
	return e
}

func (f *file) position() Position {
	at := Position{Offset: f.size, Records: f.records}
	if f.sum != nil {
		at.Sum = sumText(f.sum)
	}
	return at
}

// syncTo makes the file durable up to an offset, and checks that the file still has its
// name. Records may be written meanwhile.
func (f *file) syncTo(offset int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if offset > f.durable && f.regular {
		if err := f.Sync(); err != nil {
			return newError("write", f.name, err)
		}
		f.durable = offset
	}
	return f.lost()
}

// end makes the complete file durable and closes it. A file that has no final name yet
// stays open, so that its locks keep other scans from writing to it.
func (f *file) end() error {
	err := f.syncTo(f.size)
	if err == nil {
		err = f.checkLength()
	}
	if err != nil || f.final == "" {
		err = errors.Join(err, f.close())
	}
	if err == nil {
		if at := f.position(); f.sum != nil {
			f.whole = Part{Records: at.Records, Bytes: at.Offset, Sum: at.Sum}
		}
		disk.Step("output.closed")
	}
	return err
}

// close closes the file, and releases its locks. It may be called more than once.
func (f *file) close() error {
	if f.disk == nil {
		return nil
	}
	err := f.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	if err = errors.Join(err, f.disk.Close()); err != nil {
		return newError("write", f.name, err)
	}
	return nil
}

func (f *file) commit() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.final == "" {
		return nil
	}
	if err := f.disk.Commit(); err != nil {
		e := newError("rename", f.name, err)
		e.Hint = "that file is the complete new census; rename it to " + f.final
		return e
	}
	f.name, f.final = f.final, ""
	if f.part {
		disk.Step("part.renamed")
	} else {
		disk.Step("output.renamed")
	}
	return nil
}

func (f *file) shown() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.name
}

func partsOf(files []*file) []Part {
	parts := make([]Part, len(files))
	for i, f := range files {
		select {
		case <-f.done:
			parts[i] = f.whole
		default:
		}
		parts[i].Name = f.shown()
	}
	return parts
}

// The system reports no error when another program removes, renames or truncates a file
// that is being written: the records are lost, or the file gets a hole. So an Output
// checks the length of a file before each write, its name at each Sync, and both when the
// file is complete.

// lost returns an error if the file has lost its name. If the file was renamed, lost finds
// the new name in /proc on Linux. f.mu must be held.
func (f *file) lost() error {
	if f.sum == nil {
		return nil
	}
	now, err := os.Stat(f.name)
	if err == nil {
		if os.SameFile(f.info, now) {
			return nil
		}
		err = errors.New("another file now has the name of the census")
	}
	e := newError("write", f.name, err)
	e.Hint = "the census was removed or renamed while it was being written"
	if runtime.GOOS == "linux" {
		e.Hint = "the census was removed while it was being written, and its records are lost"
		other, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.disk.Fd()))
		if info, err := os.Stat(other); err == nil && os.SameFile(info, f.info) {
			e.Hint = "the census was renamed while it was being written: its records are in " + other
		}
	}
	return e
}

// checkLength returns an error if the file does not end where the last write ended. It
// also seeks to the end, where the next write goes. It allocates only if it fails.
func (f *file) checkLength() error {
	if f.sum == nil {
		return nil
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err == nil && end == f.size {
		return nil
	}
	if err == nil && end < f.size {
		err = fmt.Errorf("another program truncated the census to %d of the %d bytes written", end, f.size)
	} else if err == nil {
		err = fmt.Errorf("another program wrote to the census: the file has %d bytes, but should have %d", end, f.size)
	}
	e := newError("write", f.name, err)
	e.Hint = cmp.Or(e.Hint, "read the remaining records of the census with: a2sscan cat")
	return e
}

// sumText formats a hash as xxhsum -H64 prints it: xxHash64 with seed 0, in hex.
func sumText(d *xxhash.Digest) string { return fmt.Sprintf("%016x", d.Sum64()) }

// hashFile adds bytes 0 to size-1 of f to the hash d. After each chunk it calls progress,
// which may be nil.
func hashFile(d *xxhash.Digest, f io.ReaderAt, size int64, progress func(read, size int64)) error {
	b := make([]byte, min(size, 1<<20))
	for at := int64(0); at < size; {
		n, err := f.ReadAt(b[:min(size-at, int64(len(b)))], at)
		_, _ = d.Write(b[:n]) // a hash never fails
		at += int64(n)
		if err != nil && at < size {
			return err
		}
		if progress != nil {
			progress(at, size)
		}
	}
	return nil
}

// beside returns the name that a new census has until Commit renames it to path.
func beside(path string) string { return disk.Resolve(path) + disk.PartSuffix }

// baseOf returns the name of a file without its directory and without disk.PartSuffix.
func baseOf(name string) string { return strings.TrimSuffix(filepath.Base(name), disk.PartSuffix) }
