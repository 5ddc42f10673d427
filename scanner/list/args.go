package list

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
)

const stdin = "-"

// ArgError is the error for an argument that can't be used as targets or as an exclusion.
type ArgError struct {
	Arg     string // the argument, made printable; empty if there was none
	Problem string // what is wrong
	Hint    string // what to do about it; may be empty
	// Err is the cause, such as a *fs.PathError; may be nil.
	Err error
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
	// names holds the targets of an argument that is not a list. For a host that Load has
	// not looked up yet, it holds one name without addresses.
	names  []name
	host   *lookup // the host name that Load looks up; nil if the argument is not one
	path   string  // path of a list; "-" for standard input
	source *Source // the Source of a list that is not a file; path holds its Name
	size   int64   // size of a list in bytes; -1: unknown
	number int     // index among the arguments, from 1; 0 for a Source
	arg    string  // the argument as the user typed it; set only for a host

	mu   sync.Mutex
	read Input // what was read from a list; updated with a short delay
	used int64 // how many bytes of the list were turned into targets; updated with a short delay
}

// isStdin checks source too, because a Source may be named "-".
func (in *input) isStdin() bool { return in.path == stdin && in.source == nil }

func (in *input) title() string {
	switch {
	case in.path == "":
		return "argument"
	case in.isStdin():
		return "standard input"
	}
	return show([]byte(in.path))
}

// open returns the input that arg names. If arg can be read as an address or a network, it
// does not name a file, even if a file has this name.
func (l *List) open(arg string) (*input, error) {
	fail := func(problem, hint string, err error) (*input, error) {
		return nil, &ArgError{Arg: show([]byte(arg)), Problem: problem, Hint: hint, Err: err}
	}
	if arg == stdin {
		switch {
		case slices.ContainsFunc(l.inputs, (*input).isStdin):
			return fail("standard input is named twice", "", nil)
		case l.cfg.Stdin == nil:
			return fail("there is no standard input", "", nil)
		}
		in := &input{path: stdin, size: -1}
		if f, ok := l.cfg.Stdin.(*os.File); ok {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				in.size = info.Size()
			}
		}
		return in, nil
	}
	n, f := parse([]byte(arg))
	if f == "" && n.kind == kindAddrPort && n.port == 0 {
		f = faultPort
	}
	if f == "" && !l.ports.missing(&n) {
		return &input{names: []name{n}}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil && l.cfg.Resolve != nil && isHostArg(arg):
		host, n, f := parseHost([]byte(arg))
		if f != "" {
			return fail(f.Error(), "", f)
		}
		return &input{host: host, arg: arg, names: []name{n}}, nil
	case err == nil && info.IsDir():
		err = &fs.PathError{Op: "read", Path: arg, Err: errors.New("is a directory")}
		return fail("is a directory", "name the files in the directory", err)
	case err == nil && !info.Mode().IsRegular():
		// Do not open a named pipe here: opening it may block, and closing it again would
		// kill its writer with SIGPIPE.
		return &input{path: arg, size: -1}, nil
	case err == nil:
		file, err := os.Open(arg)
		if err != nil {
			return nil, unreadable(arg, err)
		}
		return &input{path: arg, size: info.Size()}, file.Close()
	case arg == "":
		return nil, &ArgError{Arg: `""`, Problem: "a target is empty", Err: f}
	case f == "":
		return fail("a network needs ports", "name the ports, such as --port 27015 or --port 27015-27020", faultNoPorts)
	case f == faultIPv6:
		return fail(f.Error(), "use IPv4 addresses; only Xash3D and CoD4X are known to answer over IPv6 as well", f)
	case strings.Contains(arg, ".") && strings.Trim(arg, "0123456789.:/,-") == "": // meant as an address
		return fail(f.Error(), "", f)
	case strings.Contains(arg, "://"):
		return fail("the target is a URL", "save the list to a file, and name that file", f)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, unreadable(arg, err)
	}
	return fail("no such file, and not an IPv4 address or network", "", err)
}

// unreadable returns the error for a list that can't be read. The message omits the
// operation and the path of err, because the ArgError names the list.
func unreadable(path string, err error) error {
	reason := err
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		reason = in.Err
	}
	return &ArgError{Arg: show([]byte(path)), Problem: "can't be read: " + reason.Error(), Err: err}
}
