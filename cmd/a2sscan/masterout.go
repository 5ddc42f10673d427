package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// listOutput is where a list goes. It is made when there is something to
// write, so that a run that gets nothing leaves no file behind and the old one
// as it was. A list that is to be replaced stays until the new one is whole:
// that is written beside it, with sink.PartSuffix behind its name.
type listOutput struct {
	path   string
	stdout io.Writer

	old    fs.FileInfo // of the list that is replaced; nil: none is
	target string      // its name, whatever links lead there

	file *os.File // nil: standard output, or not yet made
	pack *zstd.Encoder
	buf  *bufio.Writer
}

// newListOutput checks that the file can be made.
func newListOutput(f *outFlags, stdout io.Writer) (*listOutput, error) {
	o := &listOutput{path: f.output, stdout: stdout}
	if err := sink.Check(f.output, sink.Options{Force: f.force}); err != nil {
		return nil, output.Failure(err)
	}
	if !f.toFile() || !output.IsFile(o.path) {
		return o, nil
	}
	var err error
	if o.target, err = filepath.EvalSymlinks(o.path); err == nil {
		o.old, err = os.Stat(o.target)
	}
	return o, o.failure(err)
}

// name is the file that is written to.
func (o *listOutput) name() string {
	if o.old != nil {
		return o.target + sink.PartSuffix
	}
	return o.path
}

func (o *listOutput) write(b []byte) error {
	if o.buf == nil {
		if err := o.open(); err != nil {
			return err
		}
	}
	_, err := o.buf.Write(b)
	return o.failure(err)
}

func (o *listOutput) open() (err error) {
	o.buf = bufio.NewWriterSize(o.stdout, 64<<10)
	if o.path == "-" || o.path == "" {
		return nil
	}
	o.file, err = os.OpenFile(o.name(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		o.buf = nil
		return o.failure(err)
	}
	if o.old != nil {
		_ = o.file.Chmod(o.old.Mode().Perm()) // where that is not allowed, its maker's rights have to do
	}
	o.buf.Reset(o.file)
	if strings.HasSuffix(o.path, ".zst") {
		if o.pack, err = zstd.NewWriter(o.file, zstd.WithEncoderConcurrency(1)); err != nil {
			return o.failure(err)
		}
		o.buf.Reset(o.pack)
	}
	return nil
}

// flush hands on what was written, so that whoever reads a pipe has it.
func (o *listOutput) flush() error {
	if o.buf == nil {
		return nil
	}
	err := o.buf.Flush()
	if err == nil && o.pack != nil {
		err = o.pack.Flush()
	}
	return o.failure(err)
}

// close ends the file, and makes it durable. If it is whole it takes the place of
// the one that is to be replaced.
func (o *listOutput) close(whole bool) error {
	if o.buf == nil {
		return nil
	}
	err := o.end()
	if err == nil && whole && o.old != nil {
		if err = os.Rename(o.name(), o.target); err == nil {
			err = disk.SyncDir(filepath.Dir(o.target))
			o.old = nil
		}
	}
	return o.failure(err)
}

// end ends the file.
func (o *listOutput) end() error {
	err := o.buf.Flush()
	if o.pack != nil {
		err = errors.Join(err, o.pack.Close())
	}
	if o.file != nil {
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

// kept says in words what becomes of a list that is not whole.
func (o *listOutput) kept() string {
	if o.old == nil {
		return "and kept"
	}
	return "and kept in " + console.Plain(o.name(), 200) + "; " + console.Plain(o.path, 200) + " is as it was"
}

// failure gives an error of writing its exit code.
func (o *listOutput) failure(err error) error {
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
