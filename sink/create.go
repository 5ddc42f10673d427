package sink

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Options are the options of New. Append can't be combined with Replace, Resume or
// Rotate.
type Options struct {
	// NameKey is the secret key for hashes that replace the names of players. If it is nil,
	// names are written unchanged.
	NameKey *record.NameKey

	// Append adds to an existing census. Open first removes a partial last record. If
	// there is no file, Open creates one.
	Append bool

	// Replace allows the file to exist. Until Commit, and after a crash, the old census
	// stays. Symbolic links are followed. Pipes and devices are written to directly.
	Replace bool

	// Rotate, if set, divides the census into parts.
	Rotate *Rotation

	// Resume, if set, is a position that Sync returned. Open truncates the files to this
	// position, and the Output continues there. If the bytes before the position have
	// changed, the error is ErrChanged, and all files stay as they are. Complete parts
	// before the position may be missing, because users may move them.
	Resume *Position

	// Progress is called while Open hashes existing files, with the number of bytes
	// read so far and the total number of bytes. It may be nil.
	Progress func(read, size int64)

	// FlushEvery is the interval at which waiting records are written to the file. Zero
	// means 200 ms, or one second for a compressed file, because short blocks compress badly.
	// If it is negative, records are written only when a block is full, and by Sync and Close.
	FlushEvery time.Duration

	Stdout *os.File // the file for the paths "-" and ""; nil means os.Stdout

	// Screen, if set, receives the output instead of Stdout. Stdout is still
	// examined to find out what kind of file it is. Screen is for a terminal that
	// shows more than the records.
	Screen io.Writer

	// Header is a line, with its newline, at the beginning of a file: the names of the columns
	// that Shown fills. With Append, an existing file must begin with it. Nil means none.
	Header []byte

	// Begins is for a file whose lines are not records, but come from WriteLine. With
	// Append, an existing file must begin with this text, for example `{"id":`. If Begins
	// is empty, the lines are records.
	Begins string

	// Shown returns the line to write for a record, such as a row of columns. It gets the
	// record without its newline and may modify it. If it is nil, the record is written
	// unchanged.
	Shown func(record []byte) []byte

	// Failed is called once, when writing fails for the first time. It may be nil.
	Failed func()
}

// The defaults of Options.FlushEvery.
const (
	defaultFlush     = 200 * time.Millisecond
	defaultFlushZstd = time.Second
)

// ErrChanged means that a file is not the file that a checkpoint describes.
var ErrChanged = errors.New("the file has changed since the checkpoint")

// Check returns the errors of Open that it can find without changing or reading a file. A
// program calls Check before it starts to work, and Open when it has something to write.
// If the program fails in between, it leaves no file behind.
func (w *Output) Check() (err error) {
	switch r := w.o.Rotate; {
	case r == nil:
		_, err = w.o.place(w.path)
	case w.o.Resume == nil:
		_, err = w.o.place(PartName(w.path, r.Start, 1))
	}
	return err
}

type place struct {
	name  string      // the file that is written
	final string      // the name that Commit gives the file, or empty if name is already final
	info  fs.FileInfo // describes the file called name, or nil if it does not exist
}

func (p *place) isFile() bool { return p.info == nil || p.info.Mode().IsRegular() }

func (o *Options) place(path string) (p place, err error) {
	if isStandard(path) {
		return p, nil
	}
	resumes := o.Resume != nil && o.Resume.Offset > 0
	p.name = path
	switch p.info, err = os.Stat(path); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return p, newError(o.op(), path, err)
	case err == nil && p.info.IsDir():
		return p, o.refuse(path, errors.New("is a directory"), "name a file in the directory")
	case !p.isFile():
		return p, nil
	case err == nil && !o.Append && !o.Replace && o.Resume == nil:
		return p, o.refuse(path, fs.ErrExist, "append to the file, replace it, or choose another name")
	case o.Replace || o.Rotate != nil:
		old := p
		p = place{name: beside(path), final: disk.Resolve(path)}
		p.info, err = os.Lstat(p.name)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return p, newError(o.op(), p.name, err)
		case !p.isFile():
			return p, o.refuse(p.name, errors.New("the path does not name a regular file"), "remove the object with this name, or choose another name")
		case p.info == nil && resumes && old.info != nil:
			return old, nil // the census was complete, and already had its final name
		}
	}
	if p.info != nil {
		return p, nil
	}
	if resumes {
		return p, o.refuse(path, fs.ErrNotExist, "name the census that the scan began")
	}
	if p.final == "" {
		p.name = disk.Resolve(path) // a link may point to a file that does not exist yet
	}
	dir := filepath.Dir(p.name)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return p, o.refuse(path, fmt.Errorf("the directory %s does not exist", dir), "create it first")
	}
	return p, nil
}

func (o *Options) refuse(path string, err error, hint string) error {
	return &Error{Op: o.op(), Path: path, Err: err, Hint: hint}
}

func (o *Options) op() string {
	switch {
	case o.Append:
		return "append to"
	case o.Resume != nil:
		return "resume"
	case o.Replace:
		return "replace"
	}
	return "create"
}

// isStandard reports whether path stands for standard output or input.
func isStandard(path string) bool { return path == "" || path == "-" }

// begin opens or creates the file at path, and stores it in w.now.
func (w *Output) begin(path string, o *Options) error {
	p, err := o.place(path)
	if err != nil {
		return err
	}
	f := &file{name: p.name, final: p.final, packed: w.packed, part: o.Rotate != nil, born: time.Now(), done: make(chan struct{})}
	switch {
	case isStandard(path):
		out := cmp.Or(o.Stdout, os.Stdout)
		f.name, f.packed = "standard output", unpacked
		if f.handle, f.to = out, out; o.Screen != nil {
			f.to = o.Screen
		}
		f.info, err = out.Stat()
	case p.final != "" && o.Resume != nil && p.info != nil:
		f.disk, err = disk.Reopen(p.final)
	case p.final != "":
		f.created = o.Resume == nil
		f.disk, err = disk.Create(p.final, 0o666)
	case p.info == nil:
		f.created = true
		f.disk, err = disk.Open(p.name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	case p.isFile():
		f.disk, err = disk.Open(p.name, os.O_RDWR)
	default: // a pipe or a device, which has no content to truncate
		f.disk, err = disk.OpenStream(p.name)
	}
	if err == nil && f.disk != nil {
		f.handle, f.to = f.disk, f.disk
		f.info, err = f.disk.Stat()
	}
	if err != nil {
		return newError(o.op(), p.name, err)
	}
	f.regular = f.info.Mode().IsRegular()
	if f.regular && f.disk != nil {
		if err := f.cutBack(o); err != nil {
			f.close()
			return err
		}
	}
	if f.created {
		_ = disk.SyncDir(filepath.Dir(p.name)) // some file systems can't sync a directory
	}
	f.frame, f.durable = f.size, f.size
	w.files.Lock()
	w.now = f
	w.files.Unlock()
	if f.size == 0 {
		w.header = slices.Clone(w.o.Header) // the header is written with the first records, because a write to a pipe may block
	}
	return nil
}
