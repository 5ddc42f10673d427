package masterlist

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Output writes a list. It creates the file at the first write, so a run that
// fetches nothing neither creates a file nor changes an old file. An old list stays
// until the new list is complete: the new list is written to a file beside it,
// whose name ends in sink.PartSuffix.
type Output struct {
	path   string
	stdout io.Writer

	old    fs.FileInfo // the file to replace; nil: none exists
	target string      // name of the file to replace, with links resolved

	file   *os.File   // nil: standard output, or not yet created
	beside *disk.File // the same file, if it is to replace another
	pack   packer     // nil: the list is not compressed
	buf    *bufio.Writer
}

// NewOutput returns an output after checking that the file can be created. The path
// "-" means stdout. force allows it to replace an existing file.
func NewOutput(path string, force bool, stdout io.Writer) (*Output, error) {
	o := &Output{path: path, stdout: stdout}
	if err := sink.New(path, sink.Options{Replace: force}).Check(); err != nil {
		return nil, output.Failure(err)
	}
	if path == "-" || path == "" || !output.IsFile(path) {
		return o, nil
	}
	var err error
	if o.target, err = filepath.EvalSymlinks(o.path); err == nil {
		o.old, err = os.Stat(o.target)
	}
	return o, o.failure(err)
}

// name returns the name of the file that is being written.
func (o *Output) name() string {
	if o.old != nil {
		return o.target + sink.PartSuffix
	}
	return o.path
}

// Write appends b to the list. The first call creates the file.
func (o *Output) Write(b []byte) error {
	if o.buf == nil {
		if err := o.open(); err != nil {
			return err
		}
	}
	_, err := o.buf.Write(b)
	return o.failure(err)
}

func (o *Output) open() (err error) {
	o.buf = bufio.NewWriterSize(o.stdout, 64<<10)
	if o.path == "-" || o.path == "" {
		return nil
	}
	flags := os.O_WRONLY
	if _, missing := os.Stat(o.path); missing != nil {
		flags |= os.O_CREATE | os.O_EXCL
	}
	if o.old == nil {
		o.file, err = os.OpenFile(o.path, flags, 0o666)
	} else if o.beside, err = disk.Create(o.target, 0o666); err == nil {
		o.file = o.beside.File
	}
	if err != nil {
		o.buf = nil
		return o.failure(err)
	}
	o.buf.Reset(o.file)
	if o.pack, err = newPacker(o.path, o.file); err != nil {
		return o.failure(err)
	}
	if o.pack != nil {
		o.buf.Reset(o.pack)
	}
	return nil
}

// packer compresses a list.
type packer interface {
	io.WriteCloser
	Flush() error
}

// newPacker returns the compressor for a file with this name, or nil if such a file
// is not compressed.
func newPacker(path string, to io.Writer) (packer, error) {
	switch filepath.Ext(path) {
	case ".zst":
		return zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	case ".gz":
		return gzip.NewWriter(to), nil
	}
	return nil, nil
}

// Flush writes all buffered bytes, so that the reader of a pipe receives them.
func (o *Output) Flush() error {
	if o.buf == nil {
		return nil
	}
	err := o.buf.Flush()
	if err == nil && o.pack != nil {
		err = o.pack.Flush()
	}
	return o.failure(err)
}

// Close syncs and closes the file. If the list is complete, it then replaces the
// old list with the new one.
func (o *Output) Close(complete bool) error {
	if o.buf == nil {
		return nil
	}
	err := o.end()
	switch {
	case o.beside == nil:
	case err == nil && complete:
		if err = o.beside.Commit(); err == nil {
			o.old = nil
		}
	default:
		err = errors.Join(err, o.beside.Sync(), o.beside.Close())
	}
	return o.failure(err)
}

// end flushes, syncs and closes the file.
func (o *Output) end() error {
	err := o.buf.Flush()
	if o.pack != nil {
		err = errors.Join(err, o.pack.Close())
	}
	if o.file != nil && o.beside == nil {
		if e := o.file.Sync(); err == nil && !errors.Is(e, syscall.EINVAL) {
			err = e // a pipe or a device can't be synced
		}
		if e := o.file.Close(); err == nil {
			err = e
		}
	}
	o.buf = nil
	return err
}

// Kept says where an incomplete list is; it is the end of a sentence.
func (o *Output) Kept() string {
	if o.old == nil {
		return "and kept"
	}
	return "and kept in " + console.Plain(o.name(), 200) + "; " + console.Plain(o.path, 200) + " is as it was"
}

// failure returns an error of writing as a failure with its exit code and hint, or
// nil if err is nil.
func (o *Output) failure(err error) error {
	if err == nil {
		return nil
	}
	e := &sink.Error{Op: "write", Path: o.name(), Err: err}
	if o.path == "-" || o.path == "" {
		e.Path = "standard output"
	}
	var path *os.PathError
	if errors.As(err, &path) {
		e.Err = path.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		e.Hint = "free some space, or choose another disk"
	}
	return output.Failure(e)
}
