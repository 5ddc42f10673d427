package report

import (
	"cmp"
	"errors"
	"io"
	"os"
	"regexp"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// The kinds of files that stats, diff and report write. Each expression matches the beginning
// of such files, as this version and earlier versions write them.
var (
	StatsFile  = regexp.MustCompile(`^(\{\n "schema": |[a-z]+ +` + tableColumns + `\n|` + unknownGroup + `)`)
	DiffFile   = regexp.MustCompile(`^(\{"change":"|\{"old":\{"scans":\[|before: )`)
	ReportFile = regexp.MustCompile(`^<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="`)
)

// Result is the file that a command writes. It may replace an empty file or a file of its
// own kind. With Force, it may replace any file. A pipe or a device is written directly.
type Result struct {
	Name   string // the path; "-" and "" mean Stdout
	Stdout io.Writer
	Kind   *regexp.Regexp // the kind of file that the command writes
	Force  bool
}

// Write passes the file to do, which writes the result into it. The file gets its name
// when it is complete. It must not replace one of the files in read.
func (r *Result) Write(read []string, do func(io.Writer) error) error {
	if r.Name == "-" || r.Name == "" {
		return do(r.Stdout)
	}
	if err := censusfile.Overwritten("--output", r.Name, read); err != nil {
		return err
	}
	info, err := os.Stat(r.Name)
	stream := err == nil && !info.Mode().IsRegular() && !info.IsDir()
	open, commit, discard := disk.OpenStream, (*disk.File).Close, (*disk.File).Close
	if !stream {
		open = func(name string) (*disk.File, error) { return disk.Create(name, 0o666) }
		commit, discard = (*disk.File).Commit, (*disk.File).Discard
		if err := r.mayReplace(); err != nil {
			return err
		}
	}
	fail := func(what string, err error) error {
		f := console.Fail(console.ExitOutput, "can't %s %s: %w", what, console.Plain(r.Name, 200), console.WithoutPath(err))
		if f.ReaderGone = errors.Is(err, syscall.EPIPE); errors.Is(err, disk.ErrNoReader) {
			f.WithHint("start the program that reads it first, or use -o -")
		}
		return f
	}
	f, err := open(r.Name)
	if err != nil {
		return fail("write", err)
	}
	out := &remembering{File: f.File}
	result := do(out)
	if out.err != nil {
		result = fail("write", out.err)
	}
	switch console.ExitCode(result) {
	case console.ExitOK, console.ExitChanged, console.ExitNumbers: // the file is complete
	default:
		discard(f)
		return result
	}
	if err := commit(f); err != nil {
		return fail("write", err)
	}
	return result
}

// remembering is a file that stores the first error of Write.
type remembering struct {
	*os.File
	err error
}

func (r *remembering) Write(b []byte) (int, error) {
	n, err := r.File.Write(b)
	r.err = cmp.Or(r.err, err)
	return n, err
}

func (r *Result) mayReplace() error {
	if r.Force {
		return nil
	}
	f, err := os.Open(r.Name)
	if err != nil {
		return nil // either there is no file, or writing will fail too
	}
	defer f.Close()
	head := make([]byte, 200)
	n, _ := io.ReadFull(f, head)
	if n == 0 || r.Kind.Match(head[:n]) {
		return nil
	}
	return console.Fail(console.ExitOutput, "%s exists, and this command did not write it", console.Plain(r.Name, 200)).
		WithHint("choose another file with -o, or replace the file with --force")
}
