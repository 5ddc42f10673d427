package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// file is a file of an archive or a package.
type file struct {
	name string // slashes, relative
	mode fs.FileMode
	data []byte
}

// tree lists the files of an archive or a package.
type tree []file

// add adds a file to the tree, which keeps data without copying it.
func (t *tree) add(name string, mode fs.FileMode, data []byte) {
	*t = append(*t, file{name, mode, data})
}

// addFolder adds the files of dir and of its subfolders in the order of their
// names. In the tree they are below name. It adds nothing if dir does not exist.
func (t *tree) addFolder(name, dir string) error {
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		return nil
	}
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, p)
		t.add(path.Join(name, filepath.ToSlash(below)), 0o644, data)
		return err
	})
}

// write writes the files of the tree to dir and its subfolders.
func (t tree) write(dir string) error {
	for _, f := range t {
		to := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, f.data, f.mode); err != nil {
			return err
		}
		if err := os.Chmod(to, f.mode); err != nil { // whatever the umask
			return err
		}
	}
	return nil
}

// tarGz returns the tree as a tar.gz archive whose files are all in one folder.
// Nothing in it depends on the machine.
func (t tree) tarGz(folder string, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range t {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
			Name: folder + "/" + f.name, Mode: int64(f.mode), ModTime: when,
			Size: int64(len(f.data)), Uname: "root", Gname: "root",
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// zip returns the tree as a zip archive whose files are all in one folder.
func (t tree) zip(folder string, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range t {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(f.mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipped compresses data without a file name or a time in the gzip header.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// find returns the contents of a file in the tree, or nil if it has no such file.
func (t tree) find(name string) []byte {
	for _, f := range t {
		if f.name == name {
			return f.data
		}
	}
	return nil
}

// isManual reports whether a file is a manual page.
func (f *file) isManual() bool {
	return strings.HasPrefix(f.name, "man/") && strings.HasSuffix(f.name, ".1")
}
