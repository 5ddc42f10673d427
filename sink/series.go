package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Rotation divides a census into files.
type Rotation struct {
	Start time.Time     // start of the scan, which is part of the names
	Size  int64         // bytes after which a part ends; 0: no limit
	Every time.Duration // time after which a part ends; 0: no limit

	// Hold makes complete parts keep PartSuffix until CommitBefore or Commit. Then
	// a file without the suffix never changes, although the scan may be cut back to
	// a checkpoint.
	Hold bool

	// Whole is used with Options.Resume: the parts that were complete at the
	// checkpoint, in order. Their bytes must not have changed since, but the files
	// may have been removed. The part after them is cut back to Options.Offset;
	// later parts are removed.
	Whole []Part
	// Records is the number of records that the part that is cut back keeps.
	Records uint64
}

// Part is one file of a census.
type Part struct {
	Name    string `json:"name"`    // path, with PartSuffix as long as the file has it
	Records uint64 `json:"records"` // lines in it
	Bytes   int64  `json:"bytes"`   // length of the file

	Sum string `json:"xxh64,omitempty"` // hash of the file: xxHash64 in hex
}

// PartName returns the file name of part n of a census; parts are numbered from 1,
// and start is when the scan began. For census.ndjson.zst it returns, for example,
// census-20261120T030000Z-00001.ndjson.zst. The names sort by scan, then by part.
func PartName(path string, start time.Time, n int) string {
	head, ext := splitName(path)
	return fmt.Sprintf("%s-%s-%05d%s", head, start.UTC().Format("20060102T150405Z"), n, ext)
}

// splitName splits a path before its extension. The extension includes that of the
// compression: .ndjson.zst.
func splitName(path string) (head, ext string) {
	head = strings.TrimSuffix(path, string(packingOf(path)))
	ext = filepath.Ext(head)
	if ext == filepath.Base(head) {
		ext = "" // a hidden file
	}
	return strings.TrimSuffix(head, ext), ext + path[len(head):]
}

// Series writes the records of a scan to a sequence of files. Its methods work like
// those of a Writer with the same names, and may be called from several goroutines.
// A part is created with its first record; its name ends in PartSuffix while it is
// written.
type Series struct {
	path string
	o    Options
	r    Rotation

	mu     sync.Mutex // guards the fields below
	parts  []*volume  // complete, or being closed
	ended  int        // number of parts that are known to be closed
	open   *volume    // being written; nil: none
	failed error
	closed bool

	closing sync.WaitGroup
	renamed sync.Mutex // held while names change
}

// volume is a Part with the state of its writing.
type volume struct {
	Part
	w    *Writer // nil: an earlier run completed it
	kept uint64  // records that an earlier run wrote
	born time.Time
	done chan struct{} // closed when the part is closed; then err is set
	err  error         // valid after done
	held atomic.Bool   // its name still has PartSuffix
}

// CreateSeries prepares to write the parts of path. Without Options.Resume it
// creates no file before the first record. It returns an error for Options.Append
// and for standard output.
func CreateSeries(path string, o Options, r Rotation) (*Series, error) {
	s := &Series{path: path, o: o, r: r}
	if o.Append || isStandard(path) {
		return nil, o.refuse(path, errNoSeries, "name a new file")
	}
	if err := o.check(path); err != nil {
		return nil, err
	}
	if !o.Resume {
		return s, nil
	}
	return s, s.resume()
}

var errNoSeries = errors.New("a census in parts needs new files")

// CheckSeries returns an error if CreateSeries, or the creation of the first part,
// would return one. See Check.
func CheckSeries(path string, o Options, r Rotation) error {
	if o.Resume {
		o.Offset = 0 // it is an offset in a part
		return o.checkMissing(path)
	}
	return Check(PartName(path, r.Start, 1), o)
}

// resume cuts the files back to a checkpoint. It first compares all files that it will
// keep with the checkpoint, and changes none before that.
func (s *Series) resume() error {
	for i, p := range s.r.Whole {
		p.Name = s.name(i + 1) // the folder may have been renamed
		v := &volume{Part: p, done: make(chan struct{})}
		close(v.done)
		s.parts = append(s.parts, v)
	}
	if err := s.checkWhole(); err != nil {
		return err
	}
	keep := len(s.parts)
	if s.o.Offset > 0 {
		keep++
		if err := s.reopen(s.name(keep)); err != nil {
			return err
		}
	}
	if err := s.removeAfter(keep); err != nil {
		return newError("resume", s.name(keep+1), err)
	}
	return s.nameWhole()
}

// checkWhole compares the complete parts with the checkpoint.
func (s *Series) checkWhole() error {
	var before, total int64
	for _, v := range s.parts {
		total += v.Bytes
	}
	total += s.o.Offset
	for _, v := range s.parts {
		p := v.Part
		if _, err := os.Lstat(p.Name + PartSuffix); err == nil {
			p.Name += PartSuffix
		}
		err := checkPart(&p, func(read int64) { s.progress(before+read, total) })
		if err != nil {
			return s.o.refuse(p.Name, err, "start a new scan")
		}
		before += p.Bytes
	}
	if progress := s.o.Progress; progress != nil {
		s.o.Progress = func(read, _ int64) { progress(before+read, total) }
	}
	return nil
}

func (s *Series) progress(read, total int64) {
	if s.o.Progress != nil {
		s.o.Progress(read, total)
	}
}

// reopen opens the part that is to be cut back. If that part was complete, reopen
// renames it to end in PartSuffix first, and gives it its old name again if it
// can't be resumed.
func (s *Series) reopen(name string) error {
	renamed := os.Rename(name, name+PartSuffix)
	if renamed != nil && !errors.Is(renamed, fs.ErrNotExist) {
		return newError("resume", name, renamed)
	}
	err := s.begin()
	if err != nil && renamed == nil {
		err = errors.Join(err, os.Rename(name+PartSuffix, name))
	}
	return err
}

// nameWhole gives the complete parts their final names.
func (s *Series) nameWhole() error {
	for _, v := range s.parts {
		err := os.Rename(v.Name+PartSuffix, v.Name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return newError("resume", v.Name, err)
		}
	}
	return nil
}

// removeAfter removes the parts with numbers above n, starting with the last.
func (s *Series) removeAfter(n int) error {
	numbers, err := s.numbers()
	if err != nil {
		return err
	}
	for _, i := range slices.Backward(numbers) {
		if i <= n {
			return nil
		}
		if err := errors.Join(remove(s.name(i)), remove(s.name(i)+PartSuffix)); err != nil {
			return err
		}
		disk.Step("part.removed")
	}
	return nil
}

func remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// numbers returns the numbers of the existing parts, in order.
func (s *Series) numbers() ([]int, error) {
	dir, err := os.ReadDir(filepath.Dir(s.path))
	if err != nil {
		return nil, err
	}
	var found []int
	first := filepath.Base(s.name(1))
	_, ext := splitName(s.path)
	head := strings.TrimSuffix(first, "00001"+ext)
	for _, f := range dir {
		digits, ok := strings.CutPrefix(strings.TrimSuffix(f.Name(), PartSuffix), head)
		n, err := strconv.Atoi(strings.TrimSuffix(digits, ext))
		if ok && err == nil && filepath.Base(s.name(n)) == strings.TrimSuffix(f.Name(), PartSuffix) {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

func (s *Series) name(n int) string { return PartName(s.path, s.r.Start, n) }

// begin opens the next part.
func (s *Series) begin() error {
	v := &volume{born: time.Now(), done: make(chan struct{})}
	v.held.Store(true)
	v.Name = s.name(len(s.parts) + 1)
	o := s.o
	o.Replace, o.overwrite = false, !o.Resume && (o.Replace || o.overwrite)
	var err error
	if v.w, err = Create(v.Name+PartSuffix, o); err != nil {
		return err
	}
	if s.o.Resume {
		v.kept = s.r.Records
	}
	s.o.Resume, s.o.Offset, s.o.Sum = false, 0, ""
	s.open = v
	disk.Step("part.created")
	return nil
}

// WriteAs adds a record, as Writer.WriteAs does.
func (s *Series) WriteAs(scan string, r *scanner.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.err(); err != nil {
		return err
	}
	if s.open == nil {
		if err := s.begin(); err != nil {
			return s.fail(err)
		}
	}
	if err := s.open.w.WriteAs(scan, r); err != nil {
		return s.fail(err)
	}
	if s.due() {
		s.turn()
	}
	return nil
}

// due reports whether the open part has reached its maximum size or age.
func (s *Series) due() bool {
	v := s.open
	return s.r.Size > 0 && v.w.Length() >= s.r.Size ||
		s.r.Every > 0 && time.Since(v.born) >= s.r.Every
}

// turn ends the open part. It does not wait for the disk: a goroutine closes the part.
func (s *Series) turn() {
	v := s.open
	s.open = nil
	s.parts = append(s.parts, v)
	s.closing.Go(func() {
		defer close(v.done)
		v.err = v.w.Close()
		v.Records, v.Bytes, v.Sum = v.kept+v.w.Count(), v.w.Length(), v.w.Sum()
		if v.err == nil && !s.r.Hold {
			v.err = s.commit(v)
		}
	})
}

// commit gives a complete part its final name.
func (s *Series) commit(v *volume) error {
	s.renamed.Lock()
	defer s.renamed.Unlock()
	if !v.held.Load() {
		return nil
	}
	if err := os.Rename(v.Name+PartSuffix, v.Name); err != nil {
		return newError("rename", v.Name+PartSuffix, err)
	}
	disk.Step("part.renamed")
	v.held.Store(false)
	_ = disk.SyncDir(filepath.Dir(v.Name)) // some file systems can't
	return nil
}

// err returns the error that keeps records from being written, or nil. s.mu must be
// held.
func (s *Series) err() error {
	if s.failed == nil && s.closed {
		return &Error{Op: "write", Path: s.path, Err: os.ErrClosed}
	}
	for s.ended < len(s.parts) && s.failed == nil {
		v := s.parts[s.ended]
		select {
		case <-v.done:
			s.ended++
			s.fail(v.err)
		default:
			return nil
		}
	}
	return s.failed
}

// fail records err unless there was an error before, and returns the first error.
// s.mu must be held.
func (s *Series) fail(err error) error {
	if s.failed == nil {
		s.failed = err
	}
	return s.failed
}

// Mark marks the position after all records written so far, like Writer.Mark. The
// position is in the open part, or between two parts.
func (s *Series) Mark() (*Mark, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.err(); err != nil {
		return nil, err
	}
	if s.open != nil && s.due() {
		s.turn()
	}
	if s.open == nil {
		m := &Mark{written: make(chan struct{}), before: slices.Clone(s.parts)}
		close(m.written)
		return m, nil
	}
	m, err := s.open.w.Mark()
	if err == nil {
		m.before, m.records = slices.Clone(s.parts), s.open.kept+s.open.w.Count()
	}
	return m, err
}

// CommitBefore waits until all parts before m are closed, and gives them their
// final names. See Rotation.Hold.
func (s *Series) CommitBefore(m *Mark) error {
	for _, v := range m.before {
		<-v.done
		if v.err != nil {
			return v.err
		}
		if err := s.commit(v); err != nil {
			return err
		}
	}
	return nil
}

// Lost does what Writer.Lost does, for the open part.
func (s *Series) Lost() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return nil
	}
	return s.open.w.Lost()
}

// Close ends the open part, and waits until all parts are closed. With
// Rotation.Hold the last parts keep PartSuffix.
func (s *Series) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil {
		s.turn()
	}
	s.closed = true
	s.closing.Wait()
	_ = s.err() // records the error of the last part
	return s.failed
}

// Commit gives all parts their final names when the census is complete. It must be
// called after Close.
func (s *Series) Commit() error { return s.CommitBefore(&Mark{before: s.parts}) }

// Keep closes the Series, and leaves the parts of an incomplete census as they are.
func (s *Series) Keep() error { return s.Close() }

// Discard does what Keep does: a part is created only when there is a record for
// it, so there is no empty part to remove.
func (s *Series) Discard() error { return s.Close() }

// Parts returns the parts that are complete or being closed. The Records, Bytes and
// Sum of a part are not known until it is closed.
func (s *Series) Parts() []Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	return partsOf(s.parts)
}

func partsOf(all []*volume) []Part {
	parts := make([]Part, len(all))
	for i, v := range all {
		select {
		case <-v.done:
			parts[i] = v.Part
		default:
			parts[i].Name = v.Name
		}
		if v.held.Load() {
			parts[i].Name += PartSuffix
		}
	}
	return parts
}

// Count returns the number of records that were passed to WriteAs in this run.
func (s *Series) Count() (n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.parts {
		if v.w != nil {
			n += v.w.Count()
		}
	}
	if s.open != nil {
		n += s.open.w.Count()
	}
	return n
}

// Cut returns 0: a Series never appends.
func (s *Series) Cut() int64 { return 0 }
