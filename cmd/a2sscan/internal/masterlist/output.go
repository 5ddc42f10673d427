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
	"github.com/a2sscan/a2sscan/scanner/master"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Output writes the servers of a list. It creates the file at the first write, so a run
// that fetches nothing neither creates a file nor changes an old one. The list is written
// to a file beside it, whose name ends in disk.PartSuffix, until it is complete.
type Output struct {
	JSON  bool   // write everything that the master reported about a server
	Most  uint64 // end the list after this many servers; 0: no limit
	Count uint64 // servers written so far

	path   string     // of the list; empty: standard output
	force  bool       // replace a list that is there
	file   *disk.File // nil: not yet created
	beside bool       // the file is beside the list
	pack   packer     // nil: the list is not compressed
	buf    *bufio.Writer
	line   []byte
}

// packer compresses a list.
type packer interface {
	io.WriteCloser
	Flush() error
}

// NewOutput returns an output after checking that the file can be created. The path
// "-" means stdout. force allows it to replace an existing file.
func NewOutput(path string, force bool, stdout io.Writer) (*Output, error) {
	o := &Output{path: path, force: force}
	if path == "-" {
		o.path, o.buf = "", bufio.NewWriterSize(stdout, 64<<10)
	}
	return o, output.Failure(sink.New(path, sink.Options{Replace: force}).Check())
}

// Add writes one server. It returns ErrEnough after the last server that Most
// allows.
func (o *Output) Add(s *master.Server) error {
	o.Count++
	o.line = append(s.Addr.AppendTo(o.line[:0]), '\n')
	if o.JSON {
		o.line = s.AppendLine(o.line[:0])
	}
	if err := o.write(o.line); err != nil || o.Count != o.Most {
		return err
	}
	return ErrEnough
}

// write appends b to the list. The first call creates the file.
func (o *Output) write(b []byte) (err error) {
	if o.buf == nil {
		if info, missing := os.Stat(o.path); missing != nil || info.Mode().IsRegular() {
			o.beside = true
			o.file, err = disk.Create(o.path, 0o666)
		} else { // a pipe or a device
			o.file, err = disk.Open(o.path, os.O_WRONLY)
		}
		if err != nil {
			return o.failure(err)
		}
		to := io.Writer(o.file)
		switch filepath.Ext(o.path) {
		case ".zst":
			o.pack, err = zstd.NewWriter(o.file, zstd.WithEncoderConcurrency(1))
			to = o.pack
		case ".gz":
			o.pack = gzip.NewWriter(o.file)
			to = o.pack
		}
		o.buf = bufio.NewWriterSize(to, 64<<10)
	}
	if err == nil {
		_, err = o.buf.Write(b)
	}
	return o.failure(err)
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

// Close closes the file. If the list is complete, the file then gets the name of the
// list.
func (o *Output) Close(complete bool) error {
	err := o.Flush()
	if o.pack != nil {
		err = errors.Join(err, o.pack.Close())
	}
	switch {
	case o.file == nil:
	default:
		if complete = complete && o.beside && err == nil; complete {
			if _, missing := os.Lstat(o.path); o.force || errors.Is(missing, fs.ErrNotExist) {
				err = o.file.Commit()
				break
			}
			err = fs.ErrExist // another program created it meanwhile
		}
		if e := o.file.Sync(); !errors.Is(e, syscall.EINVAL) { // a pipe or a device can't be synced
			err = errors.Join(err, e)
		}
		err = errors.Join(err, o.file.Close())
	}
	return o.failure(err)
}

// Kept returns the place of an incomplete list, as the end of a sentence.
func (o *Output) Kept() string {
	if !o.beside {
		return "and kept"
	}
	kept := "and kept in " + console.Plain(o.file.Name(), 200)
	if output.IsFile(o.path) {
		kept += "; " + console.Plain(o.path, 200) + " is as it was"
	}
	return kept
}

// failure returns an error of writing as a failure with its exit code and hint, or
// nil if err is nil.
func (o *Output) failure(err error) error {
	if _, known := errors.AsType[*console.Failure](err); err == nil || known {
		return err
	}
	e := &sink.Error{Op: "write", Path: o.path, Err: console.WithoutPath(err)}
	if o.path == "" {
		e.Path = "standard output"
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		e.Hint = "free some space, or choose another disk"
	case errors.Is(err, fs.ErrExist) && o.file != nil:
		e.Hint = "another program created it; the new list is in " + console.Plain(o.file.Name(), 200)
	}
	return output.Failure(e)
}
