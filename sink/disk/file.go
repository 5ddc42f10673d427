package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// PartSuffix ends the name of a file that is still being written, or that waits for its
// final name.
const PartSuffix = ".part"

// File is a file that no other process writes at the same time. A File from Open is written
// in place. A File from Create is a new version beside the old one, whose name ends in
// PartSuffix until Commit. After a crash, the old name refers to the complete old content or
// to the complete new content.
type File struct {
	*os.File
	path  string   // the path with links resolved
	locks [2]*Lock // locks of the file at path and of the new version; nil if not locked
}

// ReadFile reads a file into memory. Its second argument, most, is the maximum length in
// bytes. For a longer file, ReadFile returns an error.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, most)
}

// ReadAll reads the content of the file at path from r, with the same limit as ReadFile.
func ReadAll(r io.Reader, path string, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(b)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("the file is too long: at most %d KiB are read", most>>10)}
	}
	return b, err
}

// Create begins to replace the file at path. The new version has the mode of the old
// version. If there is no old version, it has the mode perm, to which the umask applies.
// Create removes a new version that a crash has left. If this new version is not a regular
// file, Create returns an error. The error is ErrLocked if another process is writing to
// the file or replacing it.
func Create(path string, perm fs.FileMode) (*File, error) {
	return beside(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// Reopen continues with the new version that an earlier process left beside path.
func Reopen(path string) (*File, error) { return beside(path, os.O_RDWR, 0) }

func beside(path string, flags int, perm fs.FileMode) (f *File, err error) {
	f = &File{path: Resolve(path)}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	part := f.path + PartSuffix
	if f.locks[0], err = lockOutput(f.path); err != nil {
		return f, err
	}
	left, err := lockOutput(part)
	if left != nil && flags&os.O_EXCL != 0 {
		err = os.Remove(part)
	}
	if err = errors.Join(err, left.Release()); err != nil {
		return f, err
	}
	if f.File, err = os.OpenFile(part, flags, perm); err != nil {
		return f, err
	}
	if old, err := os.Lstat(f.path); err == nil && flags&os.O_EXCL != 0 {
		_ = f.Chmod(old.Mode().Perm()) // on some file systems files have no modes
	}
	if f.locks[1], err = lockOutput(part); err != nil {
		return f, err
	}
	return f, Names(part, f.File)
}

// Open opens the file at path to write to it in place. The flags are those of os.OpenFile.
// The error is ErrLocked if another process is writing to the file or replacing it. Pipes
// and devices are not locked.
func Open(path string, flags int) (*File, error) {
	for {
		f := &File{path: Resolve(path)}
		var info fs.FileInfo
		var err error
		if f.File, err = os.OpenFile(path, flags, 0o666); err == nil {
			info, err = f.Stat()
		}
		if err == nil && !info.Mode().IsRegular() {
			return f, nil
		}
		if err == nil {
			f.locks[0], err = lockOutput(f.path)
		}
		if err == nil && !f.locks[0].locks(info) { // another file has been given this name
			f.Close()
			continue
		}
		if err == nil {
			var other *Lock
			if other, err = lockOutput(f.path + PartSuffix); err == nil {
				return f, other.Release()
			}
			if flags&os.O_EXCL != 0 {
				os.Remove(path)
			}
		}
		f.Close()
		return nil, err
	}
}

// ErrNoReader means that a named pipe has no reader, or that the path names a socket.
var ErrNoReader = errors.New("no program reads the pipe")

// readerWait is how long OpenStream waits for the reader of a named pipe. A shell may start
// the reader at the same time.
const readerWait = 3 * time.Second

// OpenStream opens a pipe or a device for writing. If a named pipe has no reader within a few
// seconds, the error is ErrNoReader.
func OpenStream(path string) (*File, error) {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) { // the system reports no new reader
		f, err := Open(path, os.O_WRONLY|syscall.O_NONBLOCK)
		switch {
		case !errors.Is(err, syscall.ENXIO):
			return f, err
		case time.Since(begin) > readerWait:
			return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNoReader}
		}
	}
}

// Commit makes the new version durable, and replaces the old one with it.
func (f *File) Commit() error {
	defer f.Close()
	err := f.Sync()
	Step("file.synced")
	if f.locks[0] == nil && err == nil { // another process may have created the file at path in the meantime
		f.locks[0], err = lockOutput(f.path)
	}
	if err = errors.Join(err, f.File.Close()); err != nil { // an open file can't be renamed on Windows
		return err
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	Step("file.renamed")
	return SyncDir(filepath.Dir(f.path))
}

// Close closes the file and releases its locks. A new version stays beside the old one.
// After Commit, Close does nothing.
func (f *File) Close() (err error) {
	if f.File != nil {
		if err = f.File.Close(); errors.Is(err, os.ErrClosed) {
			err = nil
		}
	}
	return errors.Join(err, f.locks[0].Release(), f.locks[1].Release())
}

// Discard removes the new version. It must not follow a successful Commit.
func (f *File) Discard() error { return errors.Join(os.Remove(f.Name()), f.Close()) }

// Replace replaces the content of the file at path by means of Create and Commit.
func Replace(path string, content []byte, perm fs.FileMode) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	Step("file.written")
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		f.Discard()
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		e.Path = path
	}
	return err
}

// Resolve returns the path without symbolic links, even if the target of the last link
// does not exist yet. A path that can't be resolved stays as it is.
func Resolve(path string) string {
	const most = 40 // maximum number of links to follow, as on Linux
	for next, n := path, 0; n < most; n++ {
		if real, err := filepath.EvalSymlinks(next); err == nil {
			return real
		}
		dir, name := filepath.Split(next)
		dir, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
		if err != nil || name == "" {
			break
		}
		next = filepath.Join(dir, name)
		to, err := os.Readlink(next)
		if err != nil {
			return next
		}
		if next = to; !filepath.IsAbs(to) {
			next = dir + string(filepath.Separator) + to // filepath.Join would remove "link/.." wrongly
		}
	}
	return path
}

// Names returns an error if path is not the name of the open file, or is a symbolic link
// to it.
func Names(path string, f *os.File) error {
	now, err := os.Lstat(path)
	if err != nil {
		return err
	}
	is, err := f.Stat()
	if err == nil && !os.SameFile(now, is) {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	return err
}
