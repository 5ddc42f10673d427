package checkpoint

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Step is called between two changes of files, with the name of what was just
// done. Tests end the process there, as a crash would.
var Step = func(string) {}

// replaceFile gives the file path a new content. After a crash at any moment
// it holds the old one or the new one, whole: the new one is written beside it,
// made durable and given its name.
func replaceFile(path string, content []byte) error {
	temp := path + ".tmp"
	err := writeDurably(temp, content)
	if err == nil {
		Step("checkpoint.temporary-synced")
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	Step("checkpoint.renamed")
	return disk.SyncDir(filepath.Dir(path))
}

// writeDurably makes a file and has the disk keep it.
func writeDurably(path string, content []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		Step("checkpoint.temporary-written")
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFile makes what another function wrote to a file durable. A pipe is durable
// enough, and would be waited for until somebody reads from it again.
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
