// Package output writes the records of a run: to a file, to parts, or to standard
// output.
package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Output is where the records of a run go. It is made just before the first
// packet, so that a run that fails earlier leaves no file behind. Its methods
// may be called from several goroutines.
type Output struct {
	path    string
	options sink.Options
	notify  func() // called once, when writing failed

	rotation *sink.Rotation // nil: one file

	created atomic.Bool
	broken  atomic.Bool   // writing failed, or the checkpoint
	records atomic.Uint64 // taken by this process; can be read while a record waits for the disk

	mu    sync.Mutex
	w     recordWriter
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
	Commit() error
	Keep() error
	Discard() error
}

// newOutput returns an output that has made no file yet.
func New(path string, options sink.Options) *Output {
	return &Output{path: path, options: options, notify: func() {}}
}

// HashNames keeps the names of players out of the records: hashes under a key stand
// in. A nil key leaves the names.
func (o *Output) HashNames(key *record.NameKey) { o.options.NameKey = key }

// Prepare does what must be done before Open. Its error is the output's.
func (o *Output) Prepare(first func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = first()
	return o.err
}

// Divide makes parts instead of one file.
func (o *Output) Divide(r *sink.Rotation) { o.rotation = r }

// OnFailure sets what is called once when writing fails.
func (o *Output) OnFailure(failed func()) { o.notify = failed }

// Taken is how many records the output took. It never waits.
func (o *Output) Taken() uint64 { return o.records.Load() }

// isOpened reports whether the file was made.
func (o *Output) Opened() bool { return o.created.Load() }

// hasFailed reports whether writing failed. It never waits.
func (o *Output) Failed() bool { return o.broken.Load() }

// Open makes the file. Records can be written after it.
func (o *Output) Open() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return fs.ErrClosed
	}
	if o.rotation != nil {
		s, err := sink.CreateSeries(o.path, o.options, *o.rotation)
		o.w, o.err = s, err
		o.created.Store(err == nil)
		return o.err
	}
	w, err := sink.Create(o.path, o.options)
	if o.err = err; err == nil {
		o.w = w
		o.created.Store(true)
	}
	return o.err
}

// Write adds a record and reports whether that went well. After the first
// error it does nothing.
func (o *Output) Write(r *scanner.Result) bool { return o.WriteAs(o.options.Scan, r) }

// WriteAs is Write for a record of a scan of another name.
func (o *Output) WriteAs(scan string, r *scanner.Result) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.w == nil {
		return false
	}
	if o.err = o.w.WriteAs(scan, r); o.err != nil {
		o.Fail()
		return false
	}
	o.records.Add(1)
	return true
}

// Fail ends the run: nothing more can be written.
func (o *Output) Fail() {
	o.broken.Store(true)
	o.notify()
}

// Mark marks the place behind all records written so far, and returns their
// number.
func (o *Output) Mark() (m *sink.Mark, records uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.w == nil {
		return nil, 0, fs.ErrClosed
	}
	m, err = o.w.Mark()
	return m, o.w.Count(), err
}

// Lost returns an error if somebody removed or replaced the file meanwhile.
func (o *Output) Lost() error { return Failure(o.w.Lost()) }

// Close ends the file. It returns the first error of all calls. A file that is to
// replace another one then waits for Commit or Keep.
func (o *Output) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.w != nil {
		if err := o.w.Close(); o.err == nil {
			o.err = err
		}
	}
	return Failure(o.err)
}

// Count returns how many records were written.
func (o *Output) Count() uint64 {
	if o.w == nil {
		return 0
	}
	return uint64(o.w.Count())
}

// soFar is count while records are written, or busy if one is being written just
// now: it doesn't wait.
func (o *Output) CountNow() (n uint64, busy bool) {
	if !o.mu.TryLock() {
		return 0, true
	}
	defer o.mu.Unlock()
	return o.Count(), false
}

// whole returns how many records can be read back from an output that failed:
// of those that were handed to it the last may be lost. It is 0 for a pipe.
func (o *Output) Complete() (n uint64) {
	for _, name := range o.files() {
		n += completeIn(name, o.options.Header != nil)
	}
	for _, p := range o.Parts() { // one that was uploaded may be removed
		if _, err := os.Lstat(p.Name); errors.Is(err, fs.ErrNotExist) {
			n += p.Records
		}
	}
	return n
}

// completeIn counts the records of a file, of one with a header its other lines.
func completeIn(path string, header bool) (n uint64) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return 0
	}
	r, err := sink.Open(path)
	if err != nil {
		return 0
	}
	defer r.Close()
	if header {
		r.KeepLines()
		_, _ = r.Next() // after an error there is nothing to count
	}
	for {
		if _, err := r.Next(); err != nil {
			return n
		}
		n++
	}
}

// cut returns how many bytes of a torn record were cut off an appended file.
func (o *Output) CutOff() int64 {
	if o.w == nil {
		return 0
	}
	return o.w.Cut()
}

// Remove removes the file of a run that turned out to have asked no target.
func (o *Output) Remove() {
	if o.w != nil && o.w.Count() == 0 {
		o.w.Discard() // there is a graver error to report
	}
}

// writeFailure gives an error of writing its exit code and hint.
func Failure(err error) error {
	if err == nil {
		return nil
	}
	var s *sink.Error
	if known := (*console.Failure)(nil); errors.As(err, &known) {
		return known
	}
	if !errors.As(err, &s) {
		return console.Fail(console.ExitOutput, "%w", err)
	}
	f := console.Fail(console.ExitOutput, "%s", ErrorText(s)).WithHint("%s", s.Hint)
	f.ReaderGone = errors.Is(err, syscall.EPIPE)
	if errors.Is(err, sink.ErrChanged) {
		f.Code = console.ExitCheckpoint
	}
	if errors.Is(err, fs.ErrExist) {
		f.WithHint("another -o, --append to add to it, or --force to replace it")
	}
	return f
}

// sinkError describes a file's error, without its hint.
func ErrorText(e *sink.Error) string {
	return fmt.Sprintf("can't %s %s: %v", e.Op, console.Plain(e.Path, 200), e.Err)
}

// Resume makes o continue where a checkpoint says that it was.
func (o *Output) Resume(at Position) {
	o.options.Replace, o.options.Resume = at.Replace, true
	o.options.Offset, o.options.Sum = at.Offset, at.Sum
	if o.rotation != nil {
		o.rotation.Whole, o.rotation.Records = at.Parts, at.Records
	}
}

// ShowProgress sets what is called while an existing file is read again.
func (o *Output) ShowProgress(show func(read, size int64)) { o.options.Progress = show }

// Position is how far an output is durable. With parts, Offset, Sum and Records
// are of the part after Parts.
type Position struct {
	Offset  int64
	Sum     string // hash of the file up to Offset
	Replace bool   // the file is beside the one that it replaces
	Parts   []sink.Part
	Records uint64
}

// Check returns the error that Open would return, and makes nothing.
func (o *Output) Check() error {
	if o.rotation != nil {
		return Failure(sink.CheckSeries(o.path, o.options, *o.rotation))
	}
	return Failure(sink.Check(o.path, o.options))
}

// Parts returns the files that a run wrote, nil if it is one file.
func (o *Output) Parts() []sink.Part {
	if !o.created.Load() {
		return nil
	}
	if s, ok := o.w.(*sink.Series); ok {
		return s.Parts()
	}
	return nil
}

// NameParts gives the parts that were complete at m, as a checkpoint says, their
// names.
func (o *Output) NameParts(m *sink.Mark) error {
	if s, ok := o.w.(*sink.Series); ok {
		return Failure(s.CommitBefore(m))
	}
	return nil
}

// Commit gives a complete output its name: parts, and a file that replaces
// another one. It follows Close.
func (o *Output) Commit() error {
	if o.w == nil {
		return nil
	}
	return Failure(o.w.Commit())
}

// Keep leaves an output that is not complete under the name that it has. It
// follows Close.
func (o *Output) Keep() {
	if o.w != nil {
		o.w.Keep() // Close returned the error
	}
}

// Finish is Close, and Commit if nothing failed.
func (o *Output) Finish() error {
	if err := o.Close(); err != nil {
		o.Keep()
		return err
	}
	return o.Commit()
}

// Name is the file that the records are in: beside the old census, unless it was
// replaced.
func (o *Output) Name() string {
	if w, ok := o.w.(*sink.Writer); ok && w.Name() == sink.Beside(o.path) {
		return w.Name()
	}
	return o.path
}

// Written returns the length of the file and its hash, after Close.
func (o *Output) Written() (bytes int64, sum string) {
	if w, ok := o.w.(*sink.Writer); ok && w.Sum() != "" {
		return w.Length(), w.Sum()
	}
	return 0, ""
}

// files are those that hold the records, with the names that they have now.
func (o *Output) files() []string {
	if o.rotation == nil {
		return []string{o.Name()}
	}
	var names []string
	for _, p := range o.Parts() {
		names = append(names, p.Name)
	}
	return names
}

// written names the files that hold the records.
func (o *Output) Place() string {
	parts := o.Parts()
	switch {
	case o.rotation == nil:
		return console.Plain(o.Name(), 200)
	case len(parts) == 0:
		return "no file"
	case len(parts) == 1:
		return console.Plain(parts[0].Name, 200)
	}
	return fmt.Sprintf("%d parts, %s to %s", len(parts), console.Plain(parts[0].Name, 150),
		console.Plain(parts[len(parts)-1].Name, 150))
}

// IsFile reports whether path is a regular file, no device and no pipe.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Unwritten is how many records wait for the reader of a pipe.
func (o *Output) Unwritten() uint64 {
	if !o.created.Load() {
		return 0
	}
	if w, ok := o.w.(*sink.Writer); ok {
		return w.Unwritten()
	}
	return 0
}
