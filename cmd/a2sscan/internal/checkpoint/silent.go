package checkpoint

import (
	"errors"
	"hash/crc32"
	"iter"
	"os"

	"github.com/a2sscan/a2sscan/scanner"
)

// silentFile holds the targets that wait for their second look. It stands
// beside the checkpoint because there may be millions of them, and they only
// become more, while a checkpoint is written anew every second. What is in it
// behind the length that a checkpoint names is no part of it.
//
// A target in it is as appendTarget writes it.
type silentFile struct {
	path string
	f    *os.File // nil: nothing was written by this process
	SilentState
	here int // of the Snapshot's silent targets, those that are in the file
}

// SilentState is what a checkpoint says of the file.
type SilentState struct {
	Bytes   int64  `json:"bytes,omitempty"`
	Sum     uint32 `json:"sum,omitempty"`     // CRC-32C of them
	Targets int    `json:"targets,omitempty"` // in them
	Looked  int    `json:"looked,omitempty"`  // of these, the first: their second look has begun
}

// Waiting is how many targets wait.
func (s *SilentState) Waiting() int { return s.Targets - s.Looked }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errSilent = errors.New("the file beside it with the silent targets is missing or changed")

// load takes over what a checkpoint says, and returns the targets that still
// wait.
func (s *silentFile) load(was SilentState) (iter.Seq[scanner.Target], error) {
	if was.Bytes == 0 {
		return nil, nil
	}
	b, err := os.ReadFile(s.path)
	if err != nil || int64(len(b)) < was.Bytes || crc32.Checksum(b[:was.Bytes], castagnoli) != was.Sum {
		return nil, errSilent
	}
	s.SilentState, s.here = was, was.Waiting()
	r := fieldReader{b: b[:was.Bytes]}
	for range was.Looked {
		r.target()
	}
	return func(yield func(scanner.Target) bool) {
		for r := r; len(r.b) > 0 && yield(r.target()); {
		}
	}, nil
}

// save adds those that became silent up to a Snapshot, and makes them durable.
// looked is Looked of the checkpoint that this process went on with.
func (s *silentFile) save(now *scanner.Snapshot, looked int) (SilentState, error) {
	added := scanner.Snapshot{Silent: now.Silent, SilentLabels: now.SilentLabels, SecondPassed: s.here}
	var b []byte
	for t := range added.SilentTargets() {
		b = appendTarget(b, &t)
	}
	if len(b) > 0 {
		if err := s.append(b); err != nil {
			return s.SilentState, err
		}
		s.Targets += len(now.Silent) - s.here
		s.here = len(now.Silent)
	}
	s.Looked = looked + now.SecondPassed
	return s.SilentState, nil
}

func (s *silentFile) append(b []byte) error {
	if s.f == nil {
		f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		s.f = f
		if err := f.Truncate(s.Bytes); err != nil {
			return err
		}
	}
	if _, err := s.f.WriteAt(b, s.Bytes); err != nil {
		return err
	}
	Step("silent.written")
	if err := s.f.Sync(); err != nil {
		return err
	}
	s.Bytes += int64(len(b))
	s.Sum = crc32.Update(s.Sum, castagnoli, b)
	return nil
}

// close closes the file, and removes it if it is not needed.
func (s *silentFile) close(remove bool) {
	if s.f != nil {
		s.f.Close()
	}
	if remove {
		_ = os.Remove(s.path) // one that stays does no harm: the next scan writes over it
	}
}
