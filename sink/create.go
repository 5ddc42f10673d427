package sink

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Options are the options of Create. Append excludes Replace and Resume.
type Options struct {
	Scan string // the scan's name in every record; absent if empty

	// NameKey is the secret key for hashes that replace the names of players (see
	// record.NameHasher). If it is nil, names are written unchanged.
	NameKey *record.NameKey

	// Append adds to an existing census, after cutting off a partial last record.
	// If there is no file, Create creates one.
	Append bool

	// Replace allows the file to exist. The new census is written beside it, under
	// its name with PartSuffix, and Commit replaces the old one with it. Until then,
	// and after a crash, the old census stays. Symbolic links are followed. Pipes and
	// devices are written to directly.
	Replace bool

	// Resume cuts the file back to Offset, which Mark.Sync returned, and continues
	// there. With Replace, it does so with the file that was written beside the old
	// census. The bytes before Offset must have the hash that Mark.Sum returned,
	// unless Sum is empty; otherwise the error is ErrChanged, and the file stays as
	// it is.
	Resume bool
	Offset int64  // the length to cut back to, in bytes
	Sum    string // xxHash64 of the bytes before Offset, in hex

	// Progress is called while an existing file is read again, with the number of
	// bytes read so far and in all. It may be nil.
	Progress func(read, size int64)

	// FlushEvery is the longest time that a record may wait until it is written to
	// the file. Zero means 200 ms, or a second for a compressed file:
	// there each flush ends a block of the frame, and short blocks compress badly.
	// If it is negative, records are written only when a block is full, and by Sync
	// and Close.
	FlushEvery time.Duration

	Stdout *os.File // the file for the paths "-" and ""; nil: os.Stdout

	// Screen, if set, receives the output instead of Stdout. Stdout is still
	// examined to find out what kind of file it is. Screen is for a terminal that
	// shows more than the records.
	Screen io.Writer

	// Header is a line that is written at the beginning of a file: the names of the
	// columns that Shown fills. A file that is appended to must begin with it. Nil
	// means no header.
	Header []byte

	// Begins is how each line of a file that is appended to must begin, if it holds other
	// lines than records: they are then passed to WriteLine. Empty: as a record.
	Begins string

	// Shown returns the line to write for a record. It gets the record without its
	// newline and may modify it. For example, it escapes invisible characters for a
	// terminal, or turns the record into a row of columns. If it is nil, the record
	// is written unchanged.
	Shown func(record []byte) []byte

	overwrite bool // truncate an existing file: for the parts of a census that is not resumed
}

// The defaults of Options.FlushEvery: somebody who watches a pipe sees a record
// within 200 ms, and a compressed census stays small.
const (
	defaultFlush     = 200 * time.Millisecond
	defaultFlushZstd = time.Second
)

// PartSuffix ends the name of a file that is not complete: a part that is still
// being written, or a census that is to replace another one.
const PartSuffix = disk.PartSuffix

// ErrChanged means that a file is not the one that a checkpoint describes.
var ErrChanged = errors.New("is not as the checkpoint left it")

// The reasons for which Create rejects a path.
var (
	errModes     = errors.New("append, replace and resume exclude each other")
	errDirectory = errors.New("is a directory")
	errOffset    = errors.New("a census has no negative length")
)

// Check returns an error if Create would return one, as far as that can be found
// out without changing or reading any file. A program calls Check before it starts
// to work, and Create when it has something to write. If the program fails in
// between, it leaves no file behind.
func Check(path string, o Options) error {
	_, err := o.place(path)
	return err
}

// place is where a census is written to.
type place struct {
	name  string      // the file that is written
	final string      // the name that Commit gives it; empty: name is final
	info  fs.FileInfo // describes the file called name; nil: there is none
}

// isFile reports whether the place holds, or will hold, a regular file.
func (p *place) isFile() bool { return p.info == nil || p.info.Mode().IsRegular() }

// place decides where to write the records, or returns why path can't be written
// to. For standard output it returns the zero place.
func (o *Options) place(path string) (p place, err error) {
	if err := o.check(path); err != nil || isStandard(path) {
		return place{}, err
	}
	p.name = path
	if p.info, err = o.stat(path); err != nil {
		return place{}, err
	}
	if o.Replace && p.isFile() {
		return o.beside(p)
	}
	if p.info == nil {
		return p, o.checkMissing(p.name)
	}
	if p.info.Mode().IsRegular() && o.isNew() {
		return place{}, o.refuse(path, fs.ErrExist, "choose to append to it or to replace it")
	}
	return p, nil
}

// beside returns the place for a census that is to replace the file p.
func (o *Options) beside(p place) (_ place, err error) {
	p.name = disk.Resolve(p.name)
	b := place{name: p.name + PartSuffix, final: p.name}
	if b.info, err = os.Lstat(b.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return place{}, newError(o.op(), b.name, err)
	}
	switch {
	case !b.isFile():
		return place{}, o.refuse(b.name, errors.New("is not a regular file"), "remove it, or choose another name")
	case b.info == nil && o.Resume && o.Offset > 0 && p.info != nil:
		return p, nil // it was complete, and already had its final name
	case b.info == nil:
		return b, o.checkMissing(p.name)
	}
	return b, nil
}

// Beside returns the name that a new census that replaces path has until Commit.
func Beside(path string) string { return disk.Resolve(path) + PartSuffix }

// stat describes the file at path; it returns nil if there is none. A directory is
// an error.
func (o *Options) stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, newError(o.op(), path, err)
	case info.IsDir():
		return nil, o.refuse(path, errDirectory, "name a file in it")
	}
	return info, nil
}

// check returns an error if options exclude each other or Offset is negative.
func (o *Options) check(path string) error {
	switch {
	case o.Append && (o.Replace || o.Resume || o.overwrite) || o.overwrite && (o.Resume || o.Replace):
		return o.refuse(path, errModes, "choose one of them")
	case o.Offset < 0:
		return o.refuse(path, errOffset, "the checkpoint is damaged")
	}
	return nil
}

// checkMissing returns an error if path can't be created, or must exist because it
// is resumed.
func (o *Options) checkMissing(path string) error {
	if o.Resume && o.Offset > 0 {
		return o.refuse(path, fs.ErrNotExist, "a scan is resumed with the census that it began")
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.refuse(path, fmt.Errorf("the directory %s does not exist", dir), "create it first")
	case err != nil:
		return newError(o.op(), path, err)
	case !info.IsDir():
		return o.refuse(path, fmt.Errorf("%s is not a directory", dir), "choose another place")
	}
	return nil
}

// refuse returns an error that says why path can't be written to.
func (o *Options) refuse(path string, err error, hint string) error {
	return &Error{Op: o.op(), Path: path, Err: err, Hint: hint}
}

// isNew reports whether Create must make a new file, and fail if there is one.
func (o *Options) isNew() bool { return !o.Append && !o.Replace && !o.Resume && !o.overwrite }

// op names the operation in errors.
func (o *Options) op() string {
	switch {
	case o.Append:
		return "append to"
	case o.Resume:
		return "resume"
	case o.Replace, o.overwrite:
		return "replace"
	}
	return "create"
}

// isStandard reports whether path stands for standard output or input.
func isStandard(path string) bool { return path == "" || path == "-" }
