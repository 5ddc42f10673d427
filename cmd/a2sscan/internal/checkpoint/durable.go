package checkpoint

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// replaceFile replaces the content of a file atomically: it writes a temporary file
// beside it, syncs that and renames it. After a crash at any moment the file holds
// either the complete old or the complete new content.
func replaceFile(path string, content []byte) error {
	temp := path + ".tmp"
	err := writeDurably(temp, content)
	if err == nil {
		disk.Step("checkpoint.temporary-synced")
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	disk.Step("checkpoint.renamed")
	return disk.SyncDir(filepath.Dir(path))
}

// writeDurably creates a file or replaces its content, and syncs it.
func writeDurably(path string, content []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		disk.Step("checkpoint.temporary-written")
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFile syncs a file that another function wrote. It skips pipes, because
// opening a pipe would block until the pipe has a reader again.
func syncFile(path string) error {
	if !output.IsFile(path) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
