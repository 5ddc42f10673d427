// Package disk has what is needed to write files durably: locks between processes,
// and a way to sync directories.
package disk

import (
	"errors"
	"os"
	"runtime"

	"github.com/gofrs/flock" // locks files on every system that we build for
)

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("is being written by another process")

// Lock is a locked file. Release, or the end of the process, ends the lock.
type Lock struct {
	path string
	lock *flock.Flock
}

// TryLock locks the file at path, and creates it if it does not exist. It does not
// wait: the error is ErrLocked if another process holds the lock.
func TryLock(path string) (*Lock, error) {
	for {
		l := &Lock{path, flock.New(path, flock.SetPermissions(0o666))}
		got, err := l.lock.TryLock()
		switch {
		case err != nil:
			l.lock.Close()
			return nil, err
		case !got:
			l.lock.Close()
			return nil, ErrLocked
		case l.current():
			return l, nil
		}
		l.lock.Close() // its last owner removed or renamed the file: lock the new one
	}
}

// current reports whether the path still names the locked file.
func (l *Lock) current() bool {
	now, err := os.Stat(l.path)
	return err == nil && l.Locks(now)
}

// Locks reports whether info describes the locked file.
func (l *Lock) Locks(info os.FileInfo) bool {
	locked, err := l.lock.Stat()
	return err == nil && os.SameFile(locked, info)
}

// Release ends the lock.
func (l *Lock) Release() error { return l.lock.Close() }

// Remove removes the locked file and ends the lock. A process that has opened the
// file in the meantime notices that its name is gone, and locks a new file.
func (l *Lock) Remove() error {
	if runtime.GOOS == "windows" { // an open file can't be removed there
		return errors.Join(l.lock.Close(), os.Remove(l.path))
	}
	return errors.Join(os.Remove(l.path), l.lock.Close())
}
