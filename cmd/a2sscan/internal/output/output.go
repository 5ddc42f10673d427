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

// Output writes the records of a run. Open creates the file just before the first
// packet, so a run that fails earlier leaves no file behind. The methods may be
// called from several goroutines.
type Output struct {
	path    string
	options sink.Options
	notify  func() // called when writing fails

	rotation *sink.Rotation // nil: one file

	created atomic.Bool
	broken  atomic.Bool   // writing failed, or saving the checkpoint
	records atomic.Uint64 // written by this process; can be read while a record waits for the disk

	mu    sync.Mutex
	w     recordWriter
	err   error
	ended bool
}

// recordWriter has the methods of sink.Writer and sink.Series that an output needs.
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

// New returns an output that has not created its file yet.
func New(path string, options sink.Options) *Output {
	return &Output{path: path, options: options, notify: func() {}}
}

// HashNames replaces the names of players in the records by hashes under a key.
// With a nil key the names are written.
func (o *Output) HashNames(key *record.NameKey) { o.options.NameKey = key }

// Prepare calls a function that does the work that must precede Open. If the function
// fails, the output has failed too.
func (o *Output) Prepare(first func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = first()
	return o.err
}

// Divide makes the output write parts instead of one file. Call it before Open.
func (o *Output) Divide(r *sink.Rotation) { o.rotation = r }

// OnFailure sets a function that is called when writing fails.
func (o *Output) OnFailure(failed func()) { o.notify = failed }

// Taken returns how many records were written. It never waits.
func (o *Output) Taken() uint64 { return o.records.Load() }

// Failed reports whether writing, or saving the checkpoint, failed. It never waits.
func (o *Output) Failed() bool { return o.broken.Load() }

// Open creates the file. Records can be written afterwards.
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

// Write writes a record and reports whether that succeeded. After the first error
// it does nothing.
func (o *Output) Write(r *scanner.Result) bool { return o.WriteAs(o.options.Scan, r) }

// WriteAs is Write for a record that carries the name of another scan.
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

// Fail marks the output as broken and ends the run through OnFailure.
func (o *Output) Fail() {
	o.broken.Store(true)
	o.notify()
}

// Mark marks the place after all records written so far, and returns their number.
func (o *Output) Mark() (m *sink.Mark, records uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.w == nil {
		return nil, 0, fs.ErrClosed
	}
	m, err = o.w.Mark()
	return m, o.w.Count(), err
}

// Lost returns an error if the file was removed or replaced since it was opened.
func (o *Output) Lost() error { return Failure(o.w.Lost()) }

// Close closes the file. It returns the first error of all calls. If the file is to
// replace another one, Commit or Keep must follow.
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

// CountNow is Count during a scan. It does not wait: if a record is being written
// at this moment, it returns busy.
func (o *Output) CountNow() (n uint64, busy bool) {
	if !o.mu.TryLock() {
		return 0, true
	}
	defer o.mu.Unlock()
	return o.Count(), false
}

// Complete returns how many records can be read back from an output that failed.
// The last ones written may be lost. It returns 0 for a pipe.
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

// completeIn counts the records in a file. If the file has a header, its first line
// does not count.
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

// CutOff returns how many bytes of a partial record were cut off the end of an
// existing file before records were appended.
func (o *Output) CutOff() int64 {
	if o.w == nil {
		return 0
	}
	return o.w.Cut()
}

// Remove removes the file of a run that has asked no target, unless it has records.
func (o *Output) Remove() {
	if o.w != nil && o.w.Count() == 0 {
		o.w.Discard() // the run reports a more serious error
	}
}

// Failure gives an error of writing its exit code and hint. The hint is that of the
// sink.Error. But for fs.ErrExist, Failure replaces it by one that names the flags
// of a2sscan.
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

// ErrorText describes the error of a file, without its hint.
func ErrorText(e *sink.Error) string {
	return fmt.Sprintf("can't %s %s: %v", e.Op, console.Plain(e.Path, 200), e.Err)
}

// Resume makes Open continue at the position of a checkpoint.
func (o *Output) Resume(at Position) {
	o.options.Replace, o.options.Resume = at.Replace, true
	o.options.Offset, o.options.Sum = at.Offset, at.Sum
	if o.rotation != nil {
		o.rotation.Whole, o.rotation.Records = at.Parts, at.Records
	}
}

// ShowProgress sets a function that is called while an existing file is read again.
func (o *Output) ShowProgress(show func(read, size int64)) { o.options.Progress = show }

// Position says how much of an output is durable. With parts, Offset, Sum and
// Records describe the part after Parts.
type Position struct {
	Offset  int64
	Sum     string // hash of the file up to Offset
	Replace bool   // the file is still beside the one that it replaces
	Parts   []sink.Part
	Records uint64
}

// Check returns the error that Open would return, but creates nothing.
func (o *Output) Check() error {
	if o.rotation != nil {
		return Failure(sink.CheckSeries(o.path, o.options, *o.rotation))
	}
	return Failure(sink.Check(o.path, o.options))
}

// Parts returns the files that a run wrote; nil if it writes one file.
func (o *Output) Parts() []sink.Part {
	if !o.created.Load() {
		return nil
	}
	if s, ok := o.w.(*sink.Series); ok {
		return s.Parts()
	}
	return nil
}

// NameParts gives the parts that were complete at m their final names. m is the
// mark of a checkpoint.
func (o *Output) NameParts(m *sink.Mark) error {
	if s, ok := o.w.(*sink.Series); ok {
		return Failure(s.CommitBefore(m))
	}
	return nil
}

// Commit gives the files of a complete output their final names: each part, or the
// file that replaces another. Call it after Close.
func (o *Output) Commit() error {
	if o.w == nil {
		return nil
	}
	return Failure(o.w.Commit())
}

// Keep leaves an incomplete output under its present name. Call it after Close.
func (o *Output) Keep() {
	if o.w != nil {
		o.w.Keep() // Close returned the error
	}
}

// Finish calls Close and, if nothing failed, Commit.
func (o *Output) Finish() error {
	if err := o.Close(); err != nil {
		o.Keep()
		return err
	}
	return o.Commit()
}

// Name is the file that holds the records. Until it replaces an old census, it
// stands beside that under another name.
func (o *Output) Name() string {
	if w, ok := o.w.(*sink.Writer); ok && w.Name() == sink.Beside(o.path) {
		return w.Name()
	}
	return o.path
}

// Written returns the length of the file and its hash. Call it after Close.
func (o *Output) Written() (bytes int64, sum string) {
	if w, ok := o.w.(*sink.Writer); ok && w.Sum() != "" {
		return w.Length(), w.Sum()
	}
	return 0, ""
}

// files returns the present names of the files that hold the records.
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

// Place describes the files that hold the records.
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

// IsFile reports whether path is a regular file, not a device or a pipe.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Unwritten is how many records the reader of a pipe has not taken yet.
func (o *Output) Unwritten() uint64 {
	if !o.created.Load() {
		return 0
	}
	if w, ok := o.w.(*sink.Writer); ok {
		return w.Unwritten()
	}
	return 0
}
