package sink

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/sink/disk"
)

// output is an open file to which records are written.
type output struct {
	*os.File
	name    string  // current name
	final   string  // the name that Commit gives it; empty: name is final
	created bool    // by this call of Create
	packed  packing // implied by its name
	regular bool    // a regular file: Sync has an effect
	ours    bool    // opened by its path: it may be cut back
	size    int64   // current length
	cut     int64   // how many bytes of a partial record were cut off
	info    fs.FileInfo
	sum     *xxhash.Digest // hash of its bytes; nil: not a regular file of ours
	lock    *disk.Lock     // nil: not locked
	beside  *disk.File     // with final: the file, which will replace another one
}

// open opens path to write to it.
func (o *Options) open(path string) (*output, error) {
	p, err := o.place(path)
	if err != nil {
		return nil, err
	}
	if isStandard(path) {
		return o.openStandard()
	}
	out := &output{name: p.name, final: p.final, packed: packingOf(p.name), ours: true}
	out.created = p.info == nil || p.final != "" && !o.Resume
	if p.final != "" {
		err = o.openBeside(out, p.info)
	} else {
		err = o.openFile(out, p.info)
	}
	if err != nil {
		return nil, o.unopened(out.name, err)
	}
	out.regular = out.info.Mode().IsRegular()
	if err := o.prepare(out); err != nil {
		out.release()
		return nil, err
	}
	if out.created {
		_ = disk.SyncDir(filepath.Dir(p.name)) // some file systems can't
	}
	return out, nil
}

// unopened returns err as the error of a file that can't be opened or locked.
func (o *Options) unopened(name string, err error) error {
	e := newError(o.op(), name, err)
	if errors.Is(err, disk.ErrLocked) {
		e.Hint = "wait until it is done, or choose another name"
	}
	return e
}

func (o *Options) openStandard() (*output, error) {
	f := o.Stdout
	if f == nil {
		f = os.Stdout
	}
	out := &output{File: f, name: "standard output"}
	info, err := f.Stat()
	if err != nil {
		return nil, newError(o.op(), out.name, err)
	}
	out.regular = info.Mode().IsRegular()
	return out, nil
}

// openBeside opens the file that is to replace out.final. info describes the file
// that was found there, or is nil.
func (o *Options) openBeside(out *output, info fs.FileInfo) (err error) {
	if o.Resume && info != nil {
		out.beside, err = disk.Reopen(out.final)
	} else {
		out.beside, err = disk.Create(out.final, 0o666)
	}
	if err == nil {
		out.File = out.beside.File
		out.info, err = out.Stat()
	}
	return err
}

// openFile opens and locks the file of out. info describes the file that was found
// there, or is nil.
func (o *Options) openFile(out *output, info fs.FileInfo) (err error) {
	flags := os.O_RDWR
	switch {
	case info == nil:
		flags |= os.O_CREATE | os.O_EXCL
	case !info.Mode().IsRegular():
		flags = os.O_WRONLY // a pipe or a device: there is nothing to lose
	case o.overwrite:
		flags |= os.O_CREATE | os.O_EXCL
		err = removeUnlocked(out.name)
	}
	for locked := false; !locked && err == nil; {
		if out.File, err = os.OpenFile(out.name, flags, 0o666); err == nil {
			out.info, err = out.Stat()
		}
		if err == nil {
			locked, err = out.tryLock()
		}
		if !locked && out.File != nil {
			out.File.Close()
		}
	}
	if err == nil && out.info.Mode().IsRegular() {
		err = out.checkReplaced()
	}
	return err
}

// removeUnlocked removes a file, unless another process is writing to it.
func removeUnlocked(name string) error {
	l, err := disk.LockOutput(name)
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(name), l.Release())
}

// checkReplaced returns an error if another process is writing a census that is
// going to replace the file. It then removes the file if this call created it.
func (out *output) checkReplaced() error {
	l, err := disk.LockOutput(disk.Resolve(out.name) + PartSuffix)
	if !errors.Is(err, disk.ErrLocked) {
		return l.Release()
	}
	if out.created {
		os.Remove(out.name)
	}
	out.release()
	return err
}

// tryLock locks a regular file, so that two scans never write to the same one. It
// returns false if another file has taken its name since it was opened. A part of a
// census, which has a name of ours, must not be a link.
func (out *output) tryLock() (locked bool, err error) {
	if !out.info.Mode().IsRegular() {
		return true, nil
	}
	if strings.HasSuffix(out.name, PartSuffix) {
		err = disk.Names(out.name, out.File)
	}
	if err == nil {
		out.lock, err = disk.LockOutput(disk.Resolve(out.name))
	}
	if err != nil || out.lock.Locks(out.info) {
		return err == nil, err
	}
	return false, out.lock.Release()
}

// prepare cuts a regular file back to the part that is kept, and hashes that part.
func (o *Options) prepare(out *output) error {
	if !out.regular {
		return nil
	}
	out.sum = xxhash.New()
	t, err := o.tail(out, out.info.Size())
	if err != nil {
		return o.refuse(out.name, err, "choose another name")
	}
	if o.Resume {
		if err := o.compare(out); err != nil {
			return err
		}
	}
	if err := out.cutBack(&t); err != nil {
		return newError(o.op(), out.name, err)
	}
	if o.Append {
		if err := out.hash(out.size, o.Progress); err != nil {
			return newError(o.op(), out.name, err)
		}
	}
	return nil
}

// tail returns which part of an existing file is kept.
func (o *Options) tail(out *output, size int64) (tail, error) {
	switch {
	case o.Resume && o.Offset > size:
		return tail{}, fmt.Errorf("%w: %d of %d bytes are left", ErrChanged, size, o.Offset)
	case o.Resume:
		return tail{keep: o.Offset}, nil
	case !o.Append || size == 0:
		return tail{}, nil
	}
	return readTail(out, size, out.packed, o.begins())
}

// compare hashes the first Offset bytes of the file that is resumed. It returns
// ErrChanged if Sum is set and differs.
func (o *Options) compare(out *output) error {
	if err := out.hash(o.Offset, o.Progress); err != nil {
		return newError(o.op(), out.name, err)
	}
	if o.Sum == "" || o.Sum == sumText(out.sum) {
		return nil
	}
	return o.refuse(out.name, fmt.Errorf("%w: its first %d bytes have xxh64 %s, and had %s",
		ErrChanged, o.Offset, sumText(out.sum), o.Sum), "start a new scan")
}

// cutBack reduces the file to what t keeps of it.
func (out *output) cutBack(t *tail) (err error) {
	out.size, out.cut = t.keep, t.cut
	if len(t.lines) > 0 {
		out.size, err = repack(out, out.packed, t.keep, out.info.Size(), t.lines)
	} else if t.keep < out.info.Size() {
		err = out.Truncate(t.keep)
		disk.Step("output.cut")
	}
	if err == nil {
		_, err = out.Seek(out.size, io.SeekStart)
	}
	return err
}

// commit gives the file its final name. It keeps the lock until then: another scan
// could start to write to the file otherwise.
func (out *output) commit() error {
	if out.final == "" {
		return nil
	}
	if err := out.beside.Commit(); err != nil {
		e := newError("rename", out.name, err)
		e.Hint = "the new census is complete there; rename it to " + out.final
		return e
	}
	disk.Step("output.renamed")
	out.name, out.final = out.final, ""
	return nil
}

// release closes the file and releases its lock. It may be called more than once.
func (out *output) release() error {
	if !out.ours || out.File == nil {
		return nil
	}
	if out.beside != nil {
		return out.beside.Close()
	}
	err := out.File.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return errors.Join(err, out.lock.Release())
}
