package masterlist

import (
	"bufio"
	"errors"
	"io"
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
// that fetches nothing neither creates a file nor changes an old file. An old list stays
// until the new list is complete: the new list is written to a file beside it,
// whose name ends in sink.PartSuffix.
type Output struct {
	Raw   bool   // write no servers: Handlers.Page writes the pages instead
	JSON  bool   // write everything that the master reported about a server
	Most  uint64 // end the list after this many servers; 0: no limit
	Count uint64 // servers written so far

	path   string // empty: standard output
	stdout io.Writer
	target string // name of the file to replace, with links resolved; empty: none exists

	file   *os.File   // nil: standard output, or not yet created
	beside *disk.File // the same file, if it is to replace another
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
	o := &Output{path: path, stdout: stdout}
	if path == "-" {
		o.path = ""
	}
	if err := sink.New(path, sink.Options{Replace: force}).Check(); err != nil {
		return nil, output.Failure(err)
	}
	if o.path == "" || !output.IsFile(path) {
		return o, nil
	}
	target, err := filepath.EvalSymlinks(o.path)
	if err == nil {
		o.target = target
		_, err = os.Stat(target)
	}
	return o, o.failure(err)
}

// name returns the name of the file that is being written.
func (o *Output) name() string {
	if o.target != "" {
		return o.target + sink.PartSuffix
	}
	return o.path
}

// Add writes one server. It returns ErrEnough after the last server that Most
// allows.
func (o *Output) Add(s *master.Server) error {
	o.Count++
	o.line = append(s.Addr.AppendTo(o.line[:0]), '\n')
	if o.JSON {
		o.line = s.AppendLine(o.line[:0])
	}
	var err error
	if !o.Raw {
		err = o.Write(o.line)
	}
	if err == nil && o.Count == o.Most {
		return ErrEnough
	}
	return err
}

// Write appends b to the list. The first call creates the file.
func (o *Output) Write(b []byte) error {
	if o.buf == nil {
		if err := o.open(); err != nil {
			return o.failure(err)
		}
	}
	_, err := o.buf.Write(b)
	return o.failure(err)
}

// open creates the file.
func (o *Output) open() (err error) {
	if o.path == "" {
		o.buf = bufio.NewWriterSize(o.stdout, 64<<10)
		return nil
	}
	flags := os.O_WRONLY
	if _, missing := os.Stat(o.path); missing != nil {
		flags |= os.O_CREATE | os.O_EXCL
	}
	if o.target == "" {
		o.file, err = os.OpenFile(o.path, flags, 0o666)
	} else if o.beside, err = disk.Create(o.target, 0o666); err == nil {
		o.file = o.beside.File
	}
	if err != nil {
		return err
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
	return err
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
	err := o.buf.Flush()
	if o.pack != nil {
		err = errors.Join(err, o.pack.Close())
	}
	o.buf = nil
	switch {
	case o.file == nil:
	case o.beside != nil && err == nil && complete:
		if err = o.beside.Commit(); err == nil {
			o.target = ""
		}
	case o.beside != nil:
		err = errors.Join(err, o.beside.Sync(), o.beside.Close())
	default:
		if e := o.file.Sync(); err == nil && !errors.Is(e, syscall.EINVAL) {
			err = e // a pipe or a device can't be synced
		}
		err = errors.Join(err, o.file.Close())
	}
	return o.failure(err)
}

// Kept returns the place of an incomplete list, as the end of a sentence.
func (o *Output) Kept() string {
	if o.target == "" {
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
	e := &sink.Error{Op: "write", Path: o.name(), Err: console.WithoutPath(err)}
	if o.path == "" {
		e.Path = "standard output"
	}
	if errors.Is(err, syscall.ENOSPC) {
		e.Hint = "free some space, or choose another disk"
	}
	return output.Failure(e)
}
