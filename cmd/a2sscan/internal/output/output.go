// Package output writes the records of a run to a file, to parts, or to standard
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
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Output writes the records of a run. Open creates the file just before the first
// packet, so a run that fails earlier leaves no file behind. The methods may be
// called from several goroutines.
type Output struct {
	path    string
	options sink.Options
	notify  func() // called when writing fails

	rotation *sink.Rotation // nil: write one file

	created atomic.Bool
	broken  atomic.Bool   // writing records or saving the checkpoint failed
	records atomic.Uint64 // number of records that this process wrote; readable while a write blocks

	mu    sync.Mutex
	w     recordWriter
	err   error
	ended bool
	aside bool // see SetAside
}

// recordWriter has the common methods of sink.Writer and sink.Series.
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

// HashNames replaces the player names in the records with hashes under key. With a
// nil key the names are written.
func (o *Output) HashNames(key *record.NameKey) { o.options.NameKey = key }

// Prepare calls first, which does the work that must precede Open. If first fails,
// the output has failed too.
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

// Taken returns how many records were written. It does not block while a record is
// being written.
func (o *Output) Taken() uint64 { return o.records.Load() }

// Failed reports whether writing records or saving the checkpoint failed. It does
// not block while a record is being written.
func (o *Output) Failed() bool { return o.broken.Load() }

// Open creates the file or the first part. Records can be written afterwards.
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

// WriteAs is Write for a record of another scan, whose name it takes.
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

// Fail marks the output as broken and calls the function of OnFailure.
func (o *Output) Fail() {
	o.broken.Store(true)
	o.notify()
}

// Mark marks the position after all records written so far, and returns their
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

// Lost returns an error if the file was removed or replaced after it was opened.
func (o *Output) Lost() error { return Failure(o.w.Lost()) }

// Close closes the file. It returns the first error of all calls. If the file is
// going to replace another one, Commit or Keep must follow.
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

// CountNow is Count during a scan. It does not block: if a record is being written
// at this moment, it returns 0 and busy.
func (o *Output) CountNow() (n uint64, busy bool) {
	if !o.mu.TryLock() {
		return 0, true
	}
	defer o.mu.Unlock()
	return o.Count(), false
}

// Complete returns how many records can be read back from an output that failed.
// The last records written may be lost. For a pipe it returns 0.
func (o *Output) Complete() (n uint64) {
	for _, name := range o.files() {
		n += completeIn(name, o.options.Header != nil)
	}
	for _, p := range o.Parts() { // a part that was uploaded may have been removed
		if _, err := os.Lstat(p.Name); errors.Is(err, fs.ErrNotExist) {
			n += p.Records
		}
	}
	return n
}

// completeIn returns the number of readable records in a regular file, or 0 for any
// other file. If header is set, the first line does not count.
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
		_, _ = r.Next() // after an error the loop counts nothing
	}
	for {
		if _, err := r.Next(); err != nil {
			return n
		}
		n++
	}
}

// CutOff returns the length in bytes of the partial record that was cut off the end
// of an existing file before records were appended.
func (o *Output) CutOff() int64 {
	if o.w == nil {
		return 0
	}
	return o.w.Cut()
}

// Remove removes the file of a run that has queried no target, unless the file has
// records.
func (o *Output) Remove() {
	if o.w != nil && o.w.Count() == 0 {
		o.w.Discard() // the run reports a more serious error
	}
}

// Failure returns err as a console.Failure with an exit code and a hint. The hint
// is that of the sink.Error, except for fs.ErrExist, where it names the flags of
// a2sscan.
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

// ErrorText formats a sink.Error without its hint.
func ErrorText(e *sink.Error) string {
	return fmt.Sprintf("can't %s %s: %v", e.Op, console.Plain(e.Path, 200), e.Err)
}

// Resume makes Open continue at a position that a checkpoint recorded.
func (o *Output) Resume(at Position) {
	o.options.Replace, o.options.Resume = at.Replace, true
	o.options.Offset, o.options.Sum = at.Offset, at.Sum
	if o.rotation != nil {
		o.rotation.Whole, o.rotation.Records = at.Parts, at.Records
	}
}

// ShowProgress sets a function that is called while Open reads an existing file
// again.
func (o *Output) ShowProgress(show func(read, size int64)) { o.options.Progress = show }

// Position describes how much of an output is durable. With parts, Offset, Sum and
// Records describe the part after Parts.
type Position struct {
	Offset  int64
	Sum     string // hash of the file up to Offset
	Replace bool   // the file is beside the one that it will replace
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

// Parts returns the parts that a run wrote. It returns nil if the run writes one
// file.
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
// mark of a saved checkpoint.
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

// Keep leaves an incomplete output under its current name. Call it after Close.
func (o *Output) Keep() {
	if o.w != nil {
		o.w.Keep() // Close returned the error
	}
}

// SetAside gives an incomplete file the name that it would have if it were to replace
// another: the next run can use the path. Call it after Keep or Commit.
func (o *Output) SetAside() error {
	if o.rotation != nil || o.Name() != o.path || !IsFile(o.path) {
		return nil
	}
	if err := os.Rename(disk.Resolve(o.path), sink.Beside(o.path)); err != nil {
		return Failure(&sink.Error{Op: "rename", Path: o.path, Err: console.WithoutPath(err)})
	}
	o.aside = true
	return nil
}

// Finish calls Close and then Commit. If Close fails, it calls Keep instead of
// Commit.
func (o *Output) Finish() error {
	if err := o.Close(); err != nil {
		o.Keep()
		return err
	}
	return o.Commit()
}

// Name returns the path of the file that holds the records. A file that is going to
// replace an old census has another name until Commit.
func (o *Output) Name() string {
	if o.aside {
		return sink.Beside(o.path)
	}
	if w, ok := o.w.(*sink.Writer); ok && w.Name() == sink.Beside(o.path) {
		return w.Name()
	}
	return o.path
}

// Written returns the length of the file in bytes and its hash. It returns zero
// values for parts and pipes. Call it after Close.
func (o *Output) Written() (bytes int64, sum string) {
	if w, ok := o.w.(*sink.Writer); ok && w.Sum() != "" {
		return w.Length(), w.Sum()
	}
	return 0, ""
}

// files returns the current names of the files that hold the records.
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

// Place describes, for a message, the files that hold the records.
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

// IsFile reports whether path exists and is a regular file, not a device or a pipe.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Unwritten returns how many records the reader of a pipe has not taken yet.
func (o *Output) Unwritten() uint64 {
	if !o.created.Load() {
		return 0
	}
	if w, ok := o.w.(*sink.Writer); ok {
		return w.Unwritten()
	}
	return 0
}
