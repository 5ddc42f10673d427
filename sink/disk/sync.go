package disk

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// Step is called after each change of a file, with the name of the step. Tests end
// the process there, to simulate a crash. Several goroutines may call it.
var Step = func(string) {}

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
