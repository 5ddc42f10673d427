package sink

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options say how a file is made. At most one of Append, Force and Resume can
// be set; each of them also makes a file that isn't there.
type Options struct {
	Scan string // the scan's name in every record; absent if empty

	Append bool  // add to a census that is there, after cutting off a torn tail
	Force  bool  // replace a file that is there
	Resume bool  // cut a census back to Offset, and go on from there
	Offset int64 // with Resume: what Writer.Offset said

	// FlushEvery is how long a record may wait until it is handed to the
	// file. Zero means DefaultFlush, or DefaultFlushZstd where the file is
	// compressed: each flush ends a block of the frame there, and short
	// blocks compress badly. A negative value means that only full blocks,
	// Sync and Close hand records over.
	FlushEvery time.Duration

	Stdout *os.File // what "-" and "" stand for; nil: os.Stdout

	// Shown returns what is written for a record, which it is given without
	// its newline and may change. A terminal is shown \u escapes where names
	// have invisible characters. Nil writes the record as it is.
	Shown func(record []byte) []byte
}

// The defaults of Options.FlushEvery: a person who watches a pipe sees a
// record at once; a census that is compressed stays small.
const (
	DefaultFlush     = 200 * time.Millisecond
	DefaultFlushZstd = time.Second
)

// output is a place to write to, made ready.
type output struct {
	*os.File
	name    string // for errors
	zstd    bool   // by its name
	regular bool   // a file on a disk: Sync means something
	ours    bool   // opened by its path: can be cut back
	size    int64  // its length now
	cut     int64  // how much of a torn tail was cut off
	info    fs.FileInfo
}

// Check reports whether Create would refuse path, as far as that can be told
// without touching anything. A program calls it before it starts to work, and
// Create when it has something to write: what fails in between leaves no
// file.
func Check(path string, o Options) error {
	_, err := o.check(path)
	return err
}

// check returns what is there at path, nil if nothing is.
func (o *Options) check(path string) (fs.FileInfo, error) {
	if o.modes() > 1 {
		return nil, o.refuse(path, errModes, "choose one of them")
	}
	if isStandard(path) {
		return nil, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, o.checkMissing(path)
	case err != nil:
		return nil, newError(o.op(), path, err)
	case info.IsDir():
		return nil, o.refuse(path, errDirectory, "name a file in it")
	case info.Mode().IsRegular() && o.modes() == 0:
		return nil, o.refuse(path, fs.ErrExist, "choose to append to it or to replace it")
	}
	return info, nil
}

var (
	errModes     = errors.New("append, replace and resume exclude each other")
	errDirectory = errors.New("is a directory")
)

// checkMissing reports whether a file can be made at path.
func (o *Options) checkMissing(path string) error {
	if o.Resume && o.Offset > 0 {
		return o.refuse(path, fs.ErrNotExist, "to go on, the census that was begun is needed")
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.refuse(path, fmt.Errorf("the directory %s does not exist", dir), "make it first")
	case err != nil:
		return newError(o.op(), path, err)
	case !info.IsDir():
		return o.refuse(path, fmt.Errorf("%s is not a directory", dir), "choose another place")
	}
	return nil
}

// refuse explains why path isn't written to.
func (o *Options) refuse(path string, err error, hint string) error {
	return &Error{Op: o.op(), Path: path, Err: err, Hint: hint}
}

// modes counts the modes that are set.
func (o *Options) modes() (n int) {
	for _, set := range []bool{o.Append, o.Force, o.Resume} {
		if set {
			n++
		}
	}
	return n
}

// op is what is being done, for errors.
func (o *Options) op() string {
	switch {
	case o.Append:
		return "append to"
	case o.Force:
		return "replace"
	case o.Resume:
		return "resume"
	}
	return "create"
}

// packs reports whether a file of that name is compressed.
func packs(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, PartSuffix), ".zst")
}

// isStandard reports whether path stands for standard output or input.
func isStandard(path string) bool { return path == "" || path == "-" }

// open makes path ready to be written to.
func (o *Options) open(path string) (*output, error) {
	info, err := o.check(path)
	if err != nil {
		return nil, err
	}
	if isStandard(path) {
		return o.openStandard()
	}
	flags := os.O_RDWR | os.O_CREATE
	switch {
	case info != nil && !info.Mode().IsRegular():
		flags = os.O_WRONLY // a pipe or a device: there is nothing to lose
	case o.modes() == 0:
		flags |= os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o666)
	if err != nil {
		return nil, newError(o.op(), path, err)
	}
	out := &output{File: f, name: path, zstd: packs(path), ours: true}
	if err := o.prepare(out); err != nil {
		f.Close()
		return nil, err
	}
	if info == nil {
		syncDir(filepath.Dir(path))
	}
	return out, nil
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

// prepare locks a regular file, and cuts it to what is kept of it.
func (o *Options) prepare(out *output) error {
	info, err := out.Stat()
	if err != nil {
		return newError(o.op(), out.name, err)
	}
	out.info = info
	if out.regular = info.Mode().IsRegular(); !out.regular {
		return nil
	}
	if err := lock(out.File); err != nil {
		return o.refuse(out.name, err, "wait until it is done, or choose another name")
	}
	t, err := o.tail(out, info.Size())
	if err != nil {
		return o.refuse(out.name, err, "choose another name")
	}
	out.size, out.cut = t.keep, t.torn
	if len(t.lines) > 0 {
		out.size, err = repack(out, t.keep, t.lines)
	} else if t.keep < info.Size() {
		err = out.Truncate(t.keep)
	}
	if err == nil {
		_, err = out.Seek(out.size, io.SeekStart)
	}
	if err != nil {
		return newError(o.op(), out.name, err)
	}
	return nil
}

// tail returns what is kept of a file that is there.
func (o *Options) tail(out *output, size int64) (tail, error) {
	switch {
	case o.Resume && o.Offset > size:
		return tail{}, errShort
	case o.Resume:
		return tail{keep: o.Offset}, nil
	case !o.Append || size == 0:
		return tail{}, nil
	case out.zstd:
		return packedTail(out, size)
	}
	return plainTail(out, size)
}

// syncDir makes the name of a new file as durable as its content. File
// systems that can't do this for a directory do without.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
