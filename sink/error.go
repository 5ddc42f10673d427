package sink

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/a2sscan/a2sscan/sink/record"
)

// Error is what went wrong with a file. errors.Is looks through it, so that
// errors.Is(err, syscall.ENOSPC) tells a full disk and errors.Is(err,
// fs.ErrExist) a file that is there already.
type Error struct {
	Op   string // "create", "append to", "replace", "resume", "write", "open" or "read"
	Path string // the file's name, or "standard output" or "standard input"
	Err  error  // why
	Hint string // what to do about it; may be empty
}

// Error says what, where, why and, after a semicolon, what to do.
func (e *Error) Error() string {
	s := e.Op + " " + e.Path + ": " + e.Err.Error()
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// newError explains err, an error of the os package about the file path.
func newError(op, path string, err error) *Error {
	if outer, ok := errors.AsType[*fs.PathError](err); ok {
		err = outer.Err
	}
	e := &Error{Op: op, Path: path, Err: err}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		e.Hint = "free some space, or choose another disk"
	case errors.Is(err, syscall.EPIPE):
		e.Hint = "whoever was to read it has gone away"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "choose a place that you may use, or ask for the permission"
	case errors.Is(err, syscall.EROFS):
		e.Hint = "choose a place that can be written to"
	case errors.As(err, new(record.SchemaError)):
		e.Hint = "a newer version reads it"
	case op == "open" && errors.Is(err, os.ErrNotExist):
		e.Hint = "check its name"
	}
	return e
}
