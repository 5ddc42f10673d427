package sink

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Error is an error that concerns a file. It wraps its cause: errors.Is(err,
// syscall.ENOSPC) is true for a full disk, and errors.Is(err, fs.ErrExist) for an
// existing file.
type Error struct {
	Op   string // "create", "append to", "replace", "resume", "write", "rename", "open" or "read"
	Path string // the file's name, or "standard output" or "standard input"
	Err  error  // the cause
	Hint string // what to do about it; may be empty
}

// Error returns the operation, the file, the cause and, after a semicolon, the
// hint.
func (e *Error) Error() string {
	s := e.Op + " " + e.Path + ": " + e.Err.Error()
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// newError returns an Error whose cause is err, with a hint if it knows the cause.
func newError(op, path string, err error) *Error {
	if outer, ok := errors.AsType[*fs.PathError](err); ok {
		err = outer.Err
	}
	e := &Error{Op: op, Path: path, Err: err}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		e.Hint = "free some space, or choose another disk"
	case errors.Is(err, syscall.EPIPE):
		e.Hint = "the reader closed the pipe"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "choose a place that you may write to, or ask for permission"
	case errors.Is(err, syscall.EROFS):
		e.Hint = "choose a place that is not read-only"
	case errors.As(err, new(record.SchemaError)):
		e.Hint = "use a newer version of a2sscan"
	case errors.Is(err, disk.ErrLocked):
		e.Hint = "wait until that process is done, or choose another name"
	case op == "open" && errors.Is(err, os.ErrNotExist):
		e.Hint = "check the name of the file"
	}
	return e
}
