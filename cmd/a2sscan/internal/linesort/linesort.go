// Package linesort sorts more lines than fit into memory. It writes sorted runs to
// temporary files and merges them.
package linesort

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/klauspost/compress/s2"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Key orders lines: by Group, then by Place, then by Origin. Lines with equal keys
// keep the order in which they were added.
type Key struct {
	Group, Place uint64
	Origin       int
}

func compare(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Origin, b.Origin))
}

// Entry is a line with its key.
type Entry struct {
	Key  Key
	Line []byte
}

// heldBytes is how many bytes of lines are held in memory. blockSize is the block
// size of temporary files; each run needs a few blocks of memory while runs are
// merged.
const (
	heldBytes = 48 << 20
	blockSize = 32 << 10
)

// Sorter sorts lines. Close removes its temporary files.
type Sorter struct {
	limit   int
	held    []entry
	bytes   []byte // the lines of held
	dir     string // the directory of the runs; empty: there are no runs
	runs    []*os.File
	scratch []byte
}

// entry is a line in Sorter.bytes.
type entry struct {
	key      Key
	from, to int
}

// New returns a sorter that has no files yet.
func New() *Sorter { return &Sorter{limit: heldBytes} }

// Close removes the temporary files.
func (s *Sorter) Close() {
	for _, f := range s.runs {
		f.Close()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// Add adds a copy of a line.
func (s *Sorter) Add(key Key, line []byte) error {
	if len(s.held) > 0 && len(s.bytes)+len(line) > s.limit {
		if err := s.spill(); err != nil {
			return failure(err)
		}
	}
	from := len(s.bytes)
	s.bytes = append(s.bytes, line...)
	s.held = append(s.held, entry{key, from, len(s.bytes)})
	return nil
}

// failure gives an error of a temporary file its exit code and hint.
func failure(err error) error {
	return console.Fail(console.ExitOutput, "temporary files: %w", err).
		WithHint("TMPDIR names a directory with room for the records")
}

// sort sorts the lines that are in memory.
func (s *Sorter) sort() {
	slices.SortStableFunc(s.held, func(a, b entry) int { return compare(a.key, b.key) })
}

// spill writes the lines in memory to a new run.
func (s *Sorter) spill() (err error) {
	s.sort()
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "a2sscan-sort-*"); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(s.dir, strconv.Itoa(len(s.runs))))
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	w := s2.NewWriter(f, s2.WriterBlockSize(blockSize), s2.WriterConcurrency(1))
	for _, e := range s.held {
		if err := s.write(w, e); err != nil {
			return err
		}
	}
	s.held, s.bytes = s.held[:0], s.bytes[:0]
	return w.Close()
}

// write writes a line and its key to a run.
func (s *Sorter) write(w io.Writer, e entry) error {
	b := binary.AppendUvarint(s.scratch[:0], e.key.Group)
	b = binary.AppendUvarint(b, e.key.Place)
	b = binary.AppendUvarint(b, uint64(e.key.Origin))
	b = binary.AppendUvarint(b, uint64(e.to-e.from))
	s.scratch = append(b, s.bytes[e.from:e.to]...)
	_, err := w.Write(s.scratch)
	return err
}

// Each calls do with every line, in order. A line is valid until do returns.
func (s *Sorter) Each(do func(Entry) error) error {
	s.sort()
	h := &merging{{held: s.held, bytes: s.bytes}}
	for i, f := range s.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return failure(err)
		}
		in := s2.NewReader(f, s2.ReaderMaxBlockSize(blockSize))
		*h = append(*h, &run{number: i, in: bufio.NewReaderSize(in, 4<<10)})
	}
	(*h)[0].number = len(s.runs) // the lines in memory were added last
	if err := h.start(); err != nil {
		return failure(err)
	}
	for h.Len() > 0 {
		r := (*h)[0]
		if err := do(r.now); err != nil {
			return err
		}
		if err := h.advance(r); err != nil {
			return failure(err)
		}
	}
	return nil
}

// Groups calls do with each group of lines that have the same Group and Place. The
// lines are in order, and valid until do returns.
func (s *Sorter) Groups(do func([]Entry) error) error {
	var same []Entry
	err := s.Each(func(e Entry) error {
		if len(same) > 0 && (same[0].Key.Group != e.Key.Group || same[0].Key.Place != e.Key.Place) {
			if err := do(same); err != nil {
				return err
			}
			same = same[:0]
		}
		same = append(same, Entry{e.Key, slices.Clone(e.Line)})
		return nil
	})
	if err == nil && len(same) > 0 {
		err = do(same)
	}
	return err
}

// run is a sorted sequence of lines, in memory or in a file.
type run struct {
	number int // among equal keys, runs with lower numbers come first
	now    Entry

	held  []entry
	bytes []byte
	in    *bufio.Reader
	line  []byte
}

// next reads the next line into now. At the end it returns io.EOF.
func (r *run) next() (err error) {
	if r.in == nil {
		if len(r.held) == 0 {
			return io.EOF
		}
		e := r.held[0]
		r.held = r.held[1:]
		r.now = Entry{e.key, r.bytes[e.from:e.to]}
		return nil
	}
	if r.now.Key.Group, err = binary.ReadUvarint(r.in); err != nil {
		return err
	}
	r.now.Key.Place, err = binary.ReadUvarint(r.in)
	origin, err2 := binary.ReadUvarint(r.in)
	n, err3 := binary.ReadUvarint(r.in)
	if err := errors.Join(err, err2, err3); err != nil {
		return io.ErrUnexpectedEOF
	}
	r.line = slices.Grow(r.line[:0], int(n))[:n]
	if _, err := io.ReadFull(r.in, r.line); err != nil {
		return io.ErrUnexpectedEOF
	}
	r.now.Key.Origin, r.now.Line = int(origin), r.line
	return nil
}

// merging is a heap of runs, ordered by their present lines.
type merging []*run

func (h merging) Len() int { return len(h) }
func (h merging) Less(i, j int) bool {
	return cmp.Or(compare(h[i].now.Key, h[j].now.Key), cmp.Compare(h[i].number, h[j].number)) < 0
}
func (h merging) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *merging) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *merging) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}

// start reads the first line of each run and removes empty runs.
func (h *merging) start() error {
	all := *h
	*h = nil
	for _, r := range all {
		switch err := r.next(); {
		case err == nil:
			*h = append(*h, r)
		case !errors.Is(err, io.EOF):
			return err
		}
	}
	heap.Init(h)
	return nil
}

// advance reads the next line of r, the first run of the heap.
func (h *merging) advance(r *run) error {
	switch err := r.next(); {
	case err == nil:
		heap.Fix(h, 0)
	case errors.Is(err, io.EOF):
		heap.Pop(h)
	default:
		return err
	}
	return nil
}
