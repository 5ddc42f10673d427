package list

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// stdin is the argument that names standard input.
const stdin = "-"

// ArgError is the error for an argument that does not name any targets.
type ArgError struct {
	Arg     string // as given, made printable; empty: there was no argument
	Problem string // what is wrong
	Hint    string // what to do about it; may be empty
	Err     error  // a *fs.PathError if the file can't be read, what is wrong with an address, or nil
}

// Error returns the argument, the problem and the hint in one line.
func (e *ArgError) Error() string {
	s := e.Problem
	if e.Arg != "" {
		s = e.Arg + ": " + s
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap returns e.Err.
func (e *ArgError) Unwrap() error { return e.Err }

// input is an argument that Open accepted, or a Source.
type input struct {
	name   name     // set if path is empty; for a host, only its port
	host   string   // a name to look up, without its port; if path is empty
	addrs  []uint32 // the addresses of host
	path   string   // of a list; "-" for standard input
	source *Source  // of a list that is not a file; path is its name
	size   int64    // size of a list in bytes; -1: unknown
	number int      // index among the arguments, from 1; 0 for a Source
	arg    string   // the argument as given; set only for a host

	mu   sync.Mutex
	read Input // what was read from a list; updated with a short delay
}

// isStdin reports whether the input is standard input. It checks source too,
// because a Source may have any name.
func (in *input) isStdin() bool { return in.path == stdin && in.source == nil }

// title returns the name of the input for messages. The name may contain
// unprintable characters.
func (in *input) title() string {
	switch {
	case in.path == "":
		return "argument"
	case in.isStdin():
		return "standard input"
	}
	return in.path
}

// open returns the input that arg names. An argument that parses as an address or a
// network is taken for that, even if there is a file with the same name.
func (l *List) open(arg string) (*input, error) {
	if arg == stdin {
		return l.openStdin()
	}
	n, f := parse([]byte(arg))
	if f == "" && l.ports.missing(&n) {
		f = faultNoPorts
	}
	if f == "" {
		return &input{name: n}, nil
	}
	info, err := os.Stat(arg)
	if err != nil && l.cfg.Resolve != nil && IsHostName(arg) {
		return hostInput(arg)
	}
	if err != nil {
		return nil, notATarget(arg, f, err)
	}
	in := &input{path: arg, size: -1}
	if info.Mode().IsRegular() {
		in.size = info.Size()
	}
	return in, readable(arg, info)
}

// hostInput returns the input for an argument that is a host name, with or without
// a port.
func hostInput(arg string) (*input, error) {
	host, n, f := parseHost([]byte(arg))
	if f != "" {
		return nil, &ArgError{Arg: show([]byte(arg)), Problem: f.Error(), Err: f}
	}
	return &input{host: host, arg: arg, name: n}, nil
}

func (l *List) openStdin() (*input, error) {
	for _, in := range l.inputs {
		if in.isStdin() {
			return nil, &ArgError{Arg: stdin, Problem: "standard input is named twice"}
		}
	}
	if l.cfg.Stdin == nil {
		return nil, &ArgError{Arg: stdin, Problem: "there is no standard input"}
	}
	return &input{path: stdin, size: rest(l.cfg.Stdin)}, nil
}

// rest returns the number of bytes left to read from r, or -1 if r is not a regular
// file or its size is unknown.
func rest(r io.Reader) int64 {
	f, ok := r.(*os.File)
	if !ok {
		return -1
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return -1
	}
	return max(info.Size()-at, 0)
}

// readable returns an error if the file at path is a directory or can't be opened.
// It opens only regular files: opening a FIFO may block, and closing it again would
// kill its writer with SIGPIPE.
func readable(path string, info fs.FileInfo) error {
	if info.IsDir() {
		return &ArgError{
			Arg: show([]byte(path)), Problem: "is a directory", Hint: "name the files in it",
			Err: &fs.PathError{Op: "read", Path: path, Err: errors.New("is a directory")},
		}
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return unreadable(path, err)
	}
	return f.Close()
}

// unreadable returns the error for a list that exists but can't be read.
func unreadable(path string, err error) error {
	return &ArgError{Arg: show([]byte(path)), Problem: "can't be read: " + reason(err), Err: err}
}

// reason returns the text of err without the operation and the path, because the
// ArgError already contains the path.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}

// notATarget returns the error for an argument that is neither an address nor a
// file: f is the error from parsing it, err the error from os.Stat.
func notATarget(arg string, f fault, err error) error {
	e := &ArgError{Arg: show([]byte(arg)), Err: f}
	switch {
	case arg == "":
		e.Arg, e.Problem = `""`, "a target is empty"
	case f == faultNoPorts:
		e.Problem = "a network needs ports"
		e.Hint = "name them, such as --port 27015 or --port 27015-27020"
	case f == faultIPv6:
		e.Problem, e.Hint = f.Error(), "IPv4 only; of the servers known to us only Xash3D and CoD4X also answer over IPv6"
	case looksNumeric(arg):
		e.Problem = f.Error()
	case strings.Contains(arg, "://"):
		e.Problem = "is a URL"
		e.Hint = "targets are files, addresses and networks: save the list to a file first"
	case !errors.Is(err, fs.ErrNotExist):
		return unreadable(arg, err)
	default:
		e.Problem = "no such file, and not an IPv4 address or network"
		e.Err = err
	}
	return e
}

// looksNumeric reports whether arg was probably meant as an address or a network.
func looksNumeric(arg string) bool {
	return strings.Contains(arg, ".") && len(bytes.Trim([]byte(arg), "0123456789.:/,-")) == 0
}

// measure computes what is known about the inputs before any list is read. If all
// of them are addresses and networks, it also computes their exact number of
// targets.
func (l *List) measure() {
	fx := fixed{all: true, files: true}
	for _, in := range l.inputs {
		switch {
		case in.path == "" && in.host == "":
			fx.targets += l.ports.count(&in.name)
		case in.host != "" || in.size < 0:
			fx.all, fx.files = false, false
		default:
			fx.all = false
			fx.bytes += in.size
		}
	}
	l.fixed = fx
	if !fx.all {
		return
	}
	ld := newLoader(l)
	for _, in := range l.inputs {
		ld.take(&in.name, labels{})
	}
	l.setSize(ld.finish())
}
