package main

import (
	"os"
	"runtime"

	"github.com/gofrs/flock" // locks files on every system that we build for
)

// fileLock is the right to a checkpoint, as a locked file beside it. The
// checkpoint itself can't be locked: each new one is another file.
type fileLock struct {
	path string
	lock *flock.Flock
}

// lockFile locks a file, which is made if it isn't there. It returns nil if
// another process has it.
func lockFile(path string) (*fileLock, error) {
	for {
		l := flock.New(path, flock.SetPermissions(0o666))
		got, err := l.TryLock()
		if err != nil || !got {
			l.Close()
			return nil, err
		}
		if isAt(l, path) {
			return &fileLock{path, l}, nil
		}
		l.Close() // whoever had it took the file away: lock the new one
	}
}

// isAt reports whether path still names the locked file.
func isAt(l *flock.Flock, path string) bool {
	here, err1 := l.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(here, there)
}

// release gives the lock back, and takes its file away if it is not needed.
func (l *fileLock) release(remove bool) {
	if remove && runtime.GOOS != "windows" {
		os.Remove(l.path) // while it is locked: who waits for it looks again
	}
	l.lock.Close()
	if remove && runtime.GOOS == "windows" {
		os.Remove(l.path) // an open file can't be removed there
	}
}
