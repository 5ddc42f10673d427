//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sink

import (
	"errors"
	"os"
	"syscall"
)

var errLocked = errors.New("is being written by another process")

// lock makes f ours until it is closed, so that two scans don't write to one
// file. File systems that know no locks are no reason to write nothing.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return nil
}
