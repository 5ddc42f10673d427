package merge

import (
	"bufio"
	"cmp"
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

// The size of a bucket that is read at once, how many there are at most, and the
// blocks that wait for their files: together they bound the memory of a join.
const (
	bucketSize = 64 << 20
	maxBuckets = 512
	blockSize  = 32 << 10
)

// spill sorts records by address, on the disk. All records of an address are in
// one bucket, and one bucket is in memory at a time.
type spill struct {
	dir     string
	files   []*os.File
	buckets []*s2.Writer
	head    []byte
}

// entry is a record of one vantage point.
type entry struct {
	key    uint64
	origin int
	line   []byte
}

// newSpill makes temporary files for about so many bytes.
func newSpill(size uint64) (*spill, error) {
	dir, err := os.MkdirTemp("", "a2sscan-merge-*")
	if err != nil {
		return nil, err
	}
	s := &spill{dir: dir}
	for i := range min(size/bucketSize+1, maxBuckets) {
		f, err := os.Create(filepath.Join(dir, strconv.FormatUint(i, 10)))
		if err != nil {
			s.close()
			return nil, err
		}
		s.files = append(s.files, f)
		s.buckets = append(s.buckets, s2.NewWriter(f, s2.WriterBlockSize(blockSize), s2.WriterConcurrency(1)))
	}
	return s, nil
}

// close removes the files.
func (s *spill) close() {
	for _, f := range s.files {
		f.Close()
	}
	os.RemoveAll(s.dir)
}

// bucket is where the records of an address are.
func (s *spill) bucket(key uint64) int {
	mixed := uint32(key>>16) * 0x9e3779b1
	return int(uint64(mixed) * uint64(len(s.buckets)) >> 32)
}

// add adds a record.
func (s *spill) add(key uint64, origin int, line []byte) error {
	s.head = binary.AppendUvarint(s.head[:0], key)
	s.head = binary.AppendUvarint(s.head, uint64(origin))
	s.head = binary.AppendUvarint(s.head, uint64(len(line)))
	w := s.buckets[s.bucket(key)]
	_, err := w.Write(s.head)
	if err == nil {
		_, err = w.Write(line)
	}
	return spillFailure(err)
}

func spillFailure(err error) error {
	if err == nil {
		return nil
	}
	return console.Fail(console.ExitOutput, "temporary files: %w", err).
		WithHint("TMPDIR names a directory with room for the records")
}

// each calls do with all records of each server, by vantage point.
func (s *spill) each(do func(same []entry) error) error {
	for i := range s.buckets {
		all, err := s.read(i)
		if err != nil {
			return spillFailure(err)
		}
		for len(all) > 0 {
			n := 1
			for n < len(all) && all[n].key == all[0].key && all[0].key != 0 {
				n++
			}
			if err := do(all[:n]); err != nil {
				return err
			}
			all = all[n:]
		}
	}
	return nil
}

// read returns the records of a bucket, sorted.
func (s *spill) read(i int) (all []entry, err error) {
	if err := s.buckets[i].Close(); err != nil {
		return nil, err
	}
	if _, err := s.files[i].Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(s2.NewReader(s.files[i], s2.ReaderMaxBlockSize(blockSize)), 1<<16)
	for {
		e, err := readEntry(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.origin, b.origin))
	})
	return all, nil
}

func readEntry(r *bufio.Reader) (e entry, err error) {
	if e.key, err = binary.ReadUvarint(r); err != nil {
		return e, err
	}
	origin, err := binary.ReadUvarint(r)
	if err != nil {
		return e, io.ErrUnexpectedEOF
	}
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return e, io.ErrUnexpectedEOF
	}
	e.origin, e.line = int(origin), make([]byte, n)
	if _, err := io.ReadFull(r, e.line); err != nil {
		return e, io.ErrUnexpectedEOF
	}
	return e, nil
}
