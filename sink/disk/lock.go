// Package disk replaces files atomically, locks them between processes, and syncs
// directories.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/gofrs/flock" // locks files on all systems for which a2sscan is built
)

// Step is called between two changes of files, with the name of the step that is done.
// Tests end the process there, to simulate a crash. Several goroutines may call Step.
var Step = func(string) {}

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("the file is being written by another process")

var errNotRegular = errors.New("the path does not name a regular file")

// Flock tries to lock a file. Tests replace it, to simulate a file system without locks.
var Flock = (*flock.Flock).TryLock

// Unlocked is called when a file can't be locked because its file system has no
// locks. The program continues without the lock. Several goroutines may call Unlocked.
var Unlocked = func(path string, err error) {}

// Lock is a locked file. Release, or the end of the process, ends the lock.
type Lock struct {
	path string
	lock *flock.Flock // nil if the file system has no locks
}

// TryLock locks the file at path, and creates it if it does not exist. It does not
// wait: the error is ErrLocked if another process holds the lock. For a symbolic link it
// returns an error.
func TryLock(path string) (*Lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			f.Close()
		} else if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		l, err := lockExisting(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return l, err
		}
	}
}

// lockOutput locks a file, so that no two processes write or replace it at the same time.
// It returns nil if there is no file. On Windows the Lock that it returns locks nothing,
// because a locked file could not be written there.
func lockOutput(path string) (*Lock, error) {
	if runtime.GOOS == "windows" {
		if _, err := os.Lstat(path); err != nil {
			return nil, nil
		}
		return &Lock{path: path}, nil
	}
	l, err := lockExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return l, err
}

// lockExisting does what TryLock does, but does not create the file.
func lockExisting(path string) (*Lock, error) {
	for {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, &fs.PathError{Op: "lock", Path: path, Err: errNotRegular}
		}
		l := &Lock{path, flock.New(path, flock.SetFlag(os.O_RDONLY))}
		got, err := Flock(l.lock)
		if err == nil && got {
			if now, err := os.Lstat(path); err == nil && l.locks(now) {
				return l, nil
			}
		}
		// If Flock got the lock, the previous owner of the lock has removed or renamed the
		// file. In this case, lock the file that now has the name.
		l.lock.Close()
		switch notOpened := (*fs.PathError)(nil); {
		case errors.As(err, &notOpened):
			return nil, err
		case err != nil:
			Unlocked(path, err)
			return &Lock{path: path}, nil
		case !got:
			return nil, ErrLocked
		}
	}
}

// locks reports whether info describes the locked file. It returns true if the file
// system has no locks.
func (l *Lock) locks(info os.FileInfo) bool {
	if l == nil || l.lock == nil {
		return l != nil
	}
	locked, err := l.lock.Stat()
	return err == nil && os.SameFile(locked, info)
}

// Release ends the lock. The file stays.
func (l *Lock) Release() error {
	if l == nil || l.lock == nil {
		return nil
	}
	return l.lock.Close()
}

// Remove removes the locked file and ends the lock. A process that has opened the file in
// TryLock meanwhile notices that the file has lost its name, and locks a new file.
func (l *Lock) Remove() error {
	if runtime.GOOS == "windows" { // an open file can't be removed on Windows
		return errors.Join(l.Release(), os.Remove(l.path))
	}
	return errors.Join(os.Remove(l.path), l.Release())
}

// SyncDir makes the creation, renaming and removal of files in a directory durable.
// It does nothing on Windows, or on a file system that can't sync a directory.
func SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
