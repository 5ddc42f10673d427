package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// outFlags are the flags of commands that write records.
type outFlags struct {
	output string
	append bool
	force  bool
}

func (f *outFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&f.output, "output", "o", "-",
		"write records to `PATH`, compressed if it ends in .zst; -: standard output")
	fs.BoolVar(&f.append, "append", false, "add to an existing output")
	fs.BoolVar(&f.force, "force", false, "replace an existing output")
}

// toFile reports whether the records go elsewhere than to standard output.
func (f *outFlags) toFile() bool { return f.output != "-" && f.output != "" }

// check refuses what makes no sense together.
func (f *outFlags) check() error {
	switch {
	case f.append && f.force:
		return console.Fail(console.ExitUsage, "--append and --force exclude each other").
			WithHint("--append keeps what is in the file, --force does not")
	case f.append && !f.toFile():
		return console.Fail(console.ExitUsage, "--append without --output").
			WithHint("name the file with -o PATH, or use the shell's >>")
	case f.force && !f.toFile():
		return console.Fail(console.ExitUsage, "--force without --output").
			WithHint("name the file with -o PATH, or use the shell's >")
	}
	return nil
}

// plan returns the output that the flags ask for, of which nothing is made
// yet, or the error that making it would be.
func (f *outFlags) plan(scan string) (*output, error) {
	o := f.planned(scan)
	return o, writeFailure(sink.Check(o.path, o.options))
}

// planned is plan without the check.
func (f *outFlags) planned(scan string) *output {
	o := &output{
		path:    f.output,
		options: sink.Options{Scan: scan, Append: f.append, Force: f.force},
		failed:  func() {},
	}
	if !f.toFile() && isTerminal(os.Stdout) {
		o.options.Shown = console.Visible
	}
	return o
}

// output is where the records of a run go. It is made just before the first
// packet, so that a run that fails earlier leaves no file behind. Its methods
// may be called from several goroutines.
type output struct {
	path    string
	options sink.Options
	failed  func() // called once, when writing failed

	rotation *sink.Rotation // nil: one file

	opened  atomic.Bool
	broken  atomic.Bool   // writing failed, or the checkpoint
	records atomic.Uint64 // taken by this process; can be read while a record waits for the disk

	mu    sync.Mutex
	w     recordWriter
	isNew bool // there was no such file
	err   error
	ended bool
}

// recordWriter is what an output needs of a sink.Writer or a sink.Series.
type recordWriter interface {
	WriteAs(scan string, r *scanner.Result) error
	Mark() (*sink.Mark, error)
	Lost() error
	Count() uint64
	Cut() int64
	Close() error
}

// open makes the file. Records can be written after it.
func (o *output) open() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return fs.ErrClosed
	}
	_, err := os.Lstat(o.path)
	o.isNew = errors.Is(err, fs.ErrNotExist)
	if o.rotation != nil {
		s, err := sink.CreateSeries(o.path, o.options, *o.rotation)
		o.w, o.err = s, err
		o.opened.Store(err == nil)
		return o.err
	}
	w, err := sink.Create(o.path, o.options)
	if o.err = err; err == nil {
		o.w = w
		o.opened.Store(true)
	}
	return o.err
}

// write adds a record and reports whether that went well. After the first
// error it does nothing.
func (o *output) write(r *scanner.Result) bool { return o.writeAs(o.options.Scan, r) }

// writeAs is write for a record of a scan of another name.
func (o *output) writeAs(scan string, r *scanner.Result) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.w == nil {
		return false
	}
	if o.err = o.w.WriteAs(scan, r); o.err != nil {
		o.fail()
		return false
	}
	o.records.Add(1)
	return true
}

// fail ends the run: nothing more can be written.
func (o *output) fail() {
	o.broken.Store(true)
	o.failed()
}

// mark marks the place behind all records that were written, of which it
// returns the number.
func (o *output) mark() (m *sink.Mark, records uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.w == nil {
		return nil, 0, fs.ErrClosed
	}
	m, err = o.w.Mark()
	return m, o.w.Count(), err
}

// lost is the error of an output that was taken away while it is written.
func (o *output) lost() error { return writeFailure(o.w.Lost()) }

// close ends the file. It returns the first error that there was.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.w != nil {
		if err := o.w.Close(); o.err == nil {
			o.err = err
		}
	}
	return writeFailure(o.err)
}

// count returns how many records were written.
func (o *output) count() uint64 {
	if o.w == nil {
		return 0
	}
	return uint64(o.w.Count())
}

// soFar is count while records are written, or busy if one is being written just
// now: it doesn't wait.
func (o *output) soFar() (n uint64, busy bool) {
	if !o.mu.TryLock() {
		return 0, true
	}
	defer o.mu.Unlock()
	return o.count(), false
}

// whole returns how many records can be read back from an output that failed:
// of those that were handed to it the last may be lost. It is 0 for a pipe.
func (o *output) whole() (n uint64) {
	for _, name := range o.files() {
		n += wholeIn(name)
	}
	return n
}

func wholeIn(path string) (n uint64) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return 0
	}
	r, err := sink.Open(path)
	if err != nil {
		return 0
	}
	defer r.Close()
	for {
		if _, err := r.Next(); err != nil {
			return n
		}
		n++
	}
}

// cut returns how many bytes of a torn record were cut off an appended file.
func (o *output) cut() int64 {
	if o.w == nil {
		return 0
	}
	return o.w.Cut()
}

// remove takes back a file of a run that turned out to have asked nobody.
func (o *output) remove() {
	if o.w != nil && o.isNew && o.w.Count() == 0 {
		os.Remove(o.path)
	}
}

// writeFailure gives an error of writing its exit code and hint.
func writeFailure(err error) error {
	if err == nil {
		return nil
	}
	var s *sink.Error
	if !errors.As(err, &s) {
		return console.Fail(console.ExitOutput, "%w", err)
	}
	f := console.Fail(console.ExitOutput, "%s", sinkError(s)).WithHint("%s", s.Hint)
	f.ReaderGone = errors.Is(err, syscall.EPIPE)
	if errors.Is(err, fs.ErrExist) {
		f.WithHint("another -o, --append to add to it, or --force to replace it")
	}
	return f
}

// sinkError says what a file's error is, without its hint.
func sinkError(e *sink.Error) string {
	return fmt.Sprintf("can't %s %s: %v", e.Op, console.Plain(e.Path, 200), e.Err)
}
