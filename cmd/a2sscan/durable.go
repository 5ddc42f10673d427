package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// step is called between two changes of files, with the name of what was just
// done. Tests end the process there, as a crash would.
var step = func(string) {}

// replaceFile gives the file path a new content. After a crash at any moment
// it holds the old one or the new one, whole: the new one is written beside it,
// made durable and given its name.
func replaceFile(path string, content []byte) error {
	temp := path + ".tmp"
	err := writeDurably(temp, content)
	if err == nil {
		step("checkpoint.temporary-synced")
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	step("checkpoint.renamed")
	return syncFolder(filepath.Dir(path))
}

// writeDurably makes a file and has the disk keep it.
func writeDurably(path string, content []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		step("checkpoint.temporary-written")
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFolder makes names in a folder durable: of new files, renamed ones, and
// those that are gone. Windows and some file systems do that by themselves, or
// not at all.
func syncFolder(path string) error {
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

// syncFile makes what another function wrote to a file durable. A pipe is durable
// enough, and would be waited for until somebody reads from it again.
func syncFile(path string) error {
	if !isFile(path) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// isFile reports whether path is a file such as can be made anew: no device, no
// pipe.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
