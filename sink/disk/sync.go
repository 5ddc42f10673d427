package disk

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// SyncDir makes the names of files that were created, renamed or removed in a
// directory durable. Windows and some file systems do that without being asked, or
// not at all.
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
