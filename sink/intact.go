package sink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// The system reports no error when another program removes, renames or truncates a
// file that is being written: the records are lost, or follow a hole. So the Writer
// compares the file's length before each write, and its name, length and holes at
// Close.

var errReplaced = errors.New("another file has its name now")

// Lost returns an error if the file no longer has its name, or if another file has
// that name now. Records written after that are in a file of another name, or lost.
func (w *Writer) Lost() error {
	if e := w.dest.lost(); e != nil {
		return e
	}
	return nil
}

// lost implements Lost. The hint of its error names the file that holds the
// records.
func (out *output) lost() *Error {
	if !out.regular || !out.ours {
		return nil
	}
	now, err := os.Stat(out.name)
	if err == nil {
		if os.SameFile(out.info, now) {
			return nil
		}
		err = errReplaced
	}
	e := newError("write", out.name, err)
	e.Hint = "the census was removed while it was written, and its records are lost"
	if name := out.elsewhere(); name != "" {
		e.Hint = "the census was renamed while it was written: its records are in " + name
	}
	return e
}

// elsewhere returns another name of the file, or "" if none is found. Linux shows
// it in /proc; on other systems elsewhere searches the directory.
func (out *output) elsewhere() string {
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", out.Fd()))
	if err == nil && out.is(name) {
		return name
	}
	dir := filepath.Dir(out.name)
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if name := filepath.Join(dir, entry.Name()); out.is(name) {
			return name
		}
	}
	return ""
}

// is reports whether name refers to the open file.
func (out *output) is(name string) bool {
	info, err := os.Stat(name)
	return err == nil && os.SameFile(info, out.info)
}

// checkLength returns an error if the file does not end where the last write left
// it. It also seeks to the end, where the next write goes. It allocates nothing
// unless it fails.
func (d *dest) checkLength() error {
	if d.sum == nil {
		return nil
	}
	end, err := d.f.Seek(0, io.SeekEnd)
	switch {
	case err != nil:
		return err
	case end < d.size:
		return fmt.Errorf("another program cut it to %d bytes, of the %d that were written", end, d.size)
	case end > d.size:
		return fmt.Errorf("another program wrote to it: it has %d bytes, of which %d are of this scan", end, d.size)
	}
	return nil
}

// checkWhole returns an error unless everything that was written is in the file
// with the expected name.
func (d *dest) checkWhole() *Error {
	if d.sum == nil {
		return nil
	}
	if e := d.lost(); e != nil {
		return e
	}
	err := d.checkLength()
	if err == nil {
		err = d.checkHoles()
	}
	if err == nil {
		return nil
	}
	e := newError("write", d.name, err)
	e.Hint = strings.TrimPrefix(e.Hint+"; "+hintDamaged, "; ")
	return e
}

const hintDamaged = "a2sscan cat reads what is left of the census"

// seekHole is SEEK_HOLE of lseek(2) on Linux and FreeBSD.
const seekHole = 4

// checkHoles returns an error if another program cut off a part of the file and
// writing continued after the gap. It finds nothing on file systems that do not
// support holes.
func (d *dest) checkHoles() error {
	if runtime.GOOS != "linux" && runtime.GOOS != "freebsd" {
		return nil
	}
	hole, err := d.f.Seek(0, seekHole)
	if err != nil || hole >= d.size {
		return nil
	}
	b := make([]byte, min(512, d.size-hole))
	if _, err := d.f.ReadAt(b, hole); err != nil {
		return err
	}
	if len(bytes.Trim(b, "\x00")) > 0 {
		return nil // not a hole: the file system's report is wrong
	}
	return fmt.Errorf("another program cut it: what was written at byte %d is gone", hole)
}
