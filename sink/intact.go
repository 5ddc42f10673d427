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

// Nothing fails when another program removes, renames or cuts a file that is
// being written: the records go nowhere, or behind a hole. So the file's length
// is compared before each write, and its name, length and holes at Close.

var errReplaced = errors.New("another file has its name now")

// Lost returns an error if the file's name is gone, or is that of another file
// now: what is written then goes elsewhere, or nowhere.
func (w *Writer) Lost() error {
	if e := w.dest.lost(); e != nil {
		return e
	}
	return nil
}

// lost is Lost. Its hint names the file that holds the records instead.
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

// elsewhere returns another name of the file, "" if none is known. Linux shows it
// in /proc; other systems search the directory.
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

// is reports whether name names the file.
func (out *output) is(name string) bool {
	info, err := os.Stat(name)
	return err == nil && os.SameFile(info, out.info)
}

// checkLength reports whether the file still ends where the last write left it.
// It moves to the end, where the next write goes, and allocates nothing.
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

// checkWhole reports whether all that was written can be found under the file's
// name.
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

// seekHole is SEEK_HOLE of lseek(2), on the systems that have it as 4.
const seekHole = 4

// checkHoles reports whether a part of the file was cut off and written behind.
// A file system that knows nothing of holes has none.
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
		return nil // it is no hole: the file system is wrong
	}
	return fmt.Errorf("another program cut it: what was written at byte %d is gone", hole)
}
