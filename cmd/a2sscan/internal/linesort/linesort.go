// Package linesort sorts more lines than fit into memory. It writes sorted runs to
// temporary files and merges them.
package linesort

import (
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Key orders lines: by Group, then by Place, then by Origin. Lines with equal keys
// are ordered by their bytes.
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

func compareEntries(a, b Entry) int {
	return cmp.Or(compare(a.Key, b.Key), bytes.Compare(a.Line, b.Line))
}

// heldBytes is the maximum size of the lines that all adders together hold in memory.
// blockSize is the approximate size of a block of a temporary file; each run needs one
// block of memory while runs are merged.
const (
	heldBytes = 24 << 20
	blockSize = 64 << 10
)

// Sorter sorts lines. Close removes its temporary files.
type Sorter struct {
	adders []*Adder

	mu   sync.Mutex
	dir  string // the directory of the runs; empty: there are no runs
	runs []*run
}

// New returns a sorter that has no files yet. Lines are added through its adders,
// one for each goroutine that adds lines.
func New(adders int) *Sorter {
	s := &Sorter{}
	for range max(adders, 1) {
		s.adders = append(s.adders, &Adder{to: s, limit: heldBytes / max(adders, 1)})
	}
	return s
}

// Adder returns the adder with number i.
func (s *Sorter) Adder(i int) *Adder { return s.adders[i] }

// Close removes the temporary files.
func (s *Sorter) Close() {
	for _, r := range s.runs {
		r.file.Close()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// create adds a run and creates its file.
func (s *Sorter) create() (r *run, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "a2sscan-sort-*"); err != nil {
			return nil, err
		}
	}
	f, err := os.Create(filepath.Join(s.dir, strconv.Itoa(len(s.runs))))
	if err != nil {
		return nil, err
	}
	r = &run{file: f}
	s.runs = append(s.runs, r)
	return r, nil
}

// Adder adds lines to a Sorter. Only one goroutine may use it.
type Adder struct {
	to    *Sorter
	limit int
	held  []held
	bytes []byte // the lines of held

	raw, packed, out []byte // buffers of the run being written
}

// held is a line in Adder.bytes.
type held struct {
	key      Key
	from, to int
}

// Add adds a copy of a line.
func (a *Adder) Add(key Key, line []byte) error {
	if len(a.held) > 0 && len(a.bytes)+len(line) > a.limit {
		if err := a.spill(); err != nil {
			return failure(err)
		}
	}
	from := len(a.bytes)
	a.bytes = append(a.bytes, line...)
	a.held = append(a.held, held{key, from, len(a.bytes)})
	return nil
}

// failure gives an error from a temporary file its exit code and hint.
func failure(err error) error {
	return console.Fail(console.ExitOutput, "temporary files: %w", err).
		WithHint("TMPDIR names a directory with room for the records")
}

// entry returns a line with its key.
func (a *Adder) entry(h held) Entry { return Entry{h.key, a.bytes[h.from:h.to]} }

// sort sorts the lines that are in memory.
func (a *Adder) sort() {
	slices.SortFunc(a.held, func(x, y held) int {
		if c := compare(x.key, y.key); c != 0 {
			return c
		}
		return compareEntries(a.entry(x), a.entry(y))
	})
}

// spill writes the lines in memory to a new run. A run consists of blocks of entries,
// each compressed separately.
func (a *Adder) spill() error {
	a.sort()
	r, err := a.to.create()
	if err != nil {
		return err
	}
	for _, h := range a.held {
		a.raw = appendEntry(a.raw, a.entry(h))
		if len(a.raw) >= blockSize {
			if err := a.block(r); err != nil {
				return err
			}
		}
	}
	if err := a.block(r); err != nil {
		return err
	}
	_, err = r.file.Write(a.out)
	a.held, a.bytes, a.out = a.held[:0], a.bytes[:0], a.out[:0]
	return err
}

// appendEntry appends an entry in the encoding of a block.
func appendEntry(b []byte, e Entry) []byte {
	b = binary.AppendUvarint(b, e.Key.Group)
	b = binary.AppendUvarint(b, e.Key.Place)
	b = binary.AppendUvarint(b, uint64(e.Key.Origin))
	b = binary.AppendUvarint(b, uint64(len(e.Line)))
	return append(b, e.Line...)
}

// block compresses a.raw into the next block of r. It writes the pending blocks to the
// file when they reach 4*blockSize bytes.
func (a *Adder) block(r *run) (err error) {
	if len(a.raw) == 0 {
		return nil
	}
	a.packed = s2.Encode(a.packed[:cap(a.packed)], a.raw)
	r.blocks = append(r.blocks, len(a.packed))
	r.sums = append(r.sums, crc32.Checksum(a.packed, castagnoli))
	r.largest = max(r.largest, len(a.packed))
	a.out = append(a.out, a.packed...)
	a.raw = a.raw[:0]
	if len(a.out) >= 4*blockSize {
		_, err = r.file.Write(a.out)
		a.out = a.out[:0]
	}
	return err
}

// Each calls do with every line, in order. A line is valid until do returns. No line
// can be added afterwards.
func (s *Sorter) Each(do func(Entry) error) error {
	h, err := s.merging()
	if err != nil {
		return failure(err)
	}
	for h.Len() > 0 {
		first := (*h)[0]
		if err := do(first.entry); err != nil {
			return err
		}
		if err := h.advance(first); err != nil {
			return failure(err)
		}
	}
	return nil
}

// merging returns the heap of all sorted lines. If there are runs, it also writes the
// lines in memory to runs, to free their memory.
func (s *Sorter) merging() (*merging, error) {
	h := &merging{}
	for _, a := range s.adders {
		if len(s.runs) == 0 {
			a.sort()
			*h = append(*h, &lines{adder: a})
			continue
		}
		if err := a.spill(); err != nil {
			return nil, err
		}
		*a = Adder{to: s, limit: a.limit}
	}
	packed := new([]byte)
	for _, r := range s.runs {
		if _, err := r.file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		*h = append(*h, &lines{run: r, packed: packed})
	}
	return h, h.start()
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

// run is a file of sorted lines.
type run struct {
	file    *os.File
	blocks  []int    // the sizes of its compressed blocks
	sums    []uint32 // their checksums
	largest int
}

// lines is a sorted sequence of lines, in the memory of an adder or in a run.
type lines struct {
	adder *Adder
	run   *run

	at     int     // number of the next line of the adder, or block of the run
	packed *[]byte // buffer for a compressed block, shared by all runs
	raw    []byte
	rest   []byte // the part of raw that is not read yet
	entry  Entry
}

// next goes to the next line. At the end it returns io.EOF.
func (l *lines) next() error {
	if l.adder != nil {
		if l.at == len(l.adder.held) {
			return io.EOF
		}
		l.entry = l.adder.entry(l.adder.held[l.at])
		l.at++
		return nil
	}
	if len(l.rest) == 0 {
		if err := l.block(); err != nil {
			return err
		}
	}
	return l.take()
}

// block reads the next block of the run.
func (l *lines) block() (err error) {
	if l.at == len(l.run.blocks) {
		return io.EOF
	}
	packed := slices.Grow((*l.packed)[:0], l.run.largest)[:l.run.blocks[l.at]]
	*l.packed = packed
	_, err = io.ReadFull(l.run.file, packed)
	if err != nil || crc32.Checksum(packed, castagnoli) != l.run.sums[l.at] {
		return errDamaged
	}
	l.at++
	l.raw, err = s2.Decode(l.raw[:cap(l.raw)], packed)
	l.rest = l.raw
	return err
}

// errDamaged means that a temporary file differs from what was written.
var errDamaged = errors.New("a file was damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// take reads an entry from the block.
func (l *lines) take() error {
	var numbers [4]uint64
	for i := range numbers {
		v, n := binary.Uvarint(l.rest)
		if n <= 0 {
			return errDamaged
		}
		numbers[i], l.rest = v, l.rest[n:]
	}
	n := numbers[3]
	if n > uint64(len(l.rest)) {
		return errDamaged
	}
	l.entry = Entry{Key{numbers[0], numbers[1], int(numbers[2])}, l.rest[:n]}
	l.rest = l.rest[n:]
	return nil
}

// merging is a heap of sequences, ordered by their current lines.
type merging []*lines

func (h merging) Len() int           { return len(h) }
func (h merging) Less(i, j int) bool { return compareEntries(h[i].entry, h[j].entry) < 0 }
func (h merging) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *merging) Push(x any)        { *h = append(*h, x.(*lines)) }
func (h *merging) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}

// start reads the first line of each sequence and removes empty ones.
func (h *merging) start() error {
	all := *h
	*h = nil
	for _, l := range all {
		switch err := l.next(); {
		case err == nil:
			*h = append(*h, l)
		case !errors.Is(err, io.EOF):
			return err
		}
	}
	heap.Init(h)
	return nil
}

// advance goes to the next line of l, the first sequence of the heap.
func (h *merging) advance(l *lines) error {
	switch err := l.next(); {
	case err == nil:
		heap.Fix(h, 0)
	case errors.Is(err, io.EOF):
		heap.Pop(h)
	default:
		return err
	}
	return nil
}
