package scan

import (
	"bytes"
	"encoding/gob"
	"errors"
	"hash/crc32"
	"iter"
	"os"
	"slices"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// silentFile holds the targets that wait for the second pass, in blocks that package gob
// encodes. The file is separate from the checkpoint, and append-only, because there may
// be millions of targets and the checkpoint is rewritten every second. The checkpoint
// records the length of the file. A resumed scan ignores any bytes beyond that length.
type silentFile struct {
	path string
	f    *os.File // nil: this process has not written to the file
	SilentState
	// How many of the scanner's silent targets are in the file.
	here int
}

// SilentState is the part of a checkpoint that describes the file of silent targets.
type SilentState struct {
	Bytes   int64  `json:"bytes,omitempty"`
	Sum     uint32 `json:"sum,omitempty"`     // CRC-32C of the file's first Bytes bytes
	Targets int    `json:"targets,omitempty"` // number of targets in the first Bytes bytes
	// SecondPassed is how many targets have started the second pass. These targets come
	// first in the file.
	SecondPassed int `json:"looked,omitempty"`
}

// Waiting returns how many targets still wait for the second pass.
func (s *SilentState) Waiting() int { return s.Targets - s.SecondPassed }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errSilent = errors.New("the .silent file beside the checkpoint is missing or changed")

// load reads the file that a checkpoint describes and returns the targets that
// still wait for the second pass.
func (s *silentFile) load(was SilentState) (iter.Seq[scanner.Target], error) {
	if was.Bytes == 0 {
		return nil, nil
	}
	b, err := os.ReadFile(s.path)
	if err != nil || int64(len(b)) < was.Bytes || crc32.Checksum(b[:was.Bytes], castagnoli) != was.Sum {
		return nil, errSilent
	}
	s.SilentState, s.here = was, was.Waiting()
	return func(yield func(scanner.Target) bool) {
		skip := was.SecondPassed
		for r := bytes.NewReader(b[:was.Bytes]); r.Len() > 0; {
			var block []scanner.Target
			if gob.NewDecoder(r).Decode(&block) != nil {
				return // can't happen, because the checksum was valid
			}
			for _, t := range block[min(skip, len(block)):] {
				if isTarget(&t) && !yield(t) {
					return
				}
			}
			skip -= min(skip, len(block))
		}
	}, nil
}

// save appends the snapshot's new silent targets to the file, and makes the file durable.
// Its second argument, looked, is the value of SecondPassed in the checkpoint from which
// this run resumed, or 0 for a new scan.
func (s *silentFile) save(now *scanner.Snapshot, looked int) (SilentState, error) {
	added := scanner.Snapshot{Silent: now.Silent, SilentLabels: now.SilentLabels, SecondPassed: s.here}
	if block := slices.Collect(added.SilentTargets()); len(block) > 0 {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(block); err != nil {
			return s.SilentState, err
		}
		if err := s.append(b.Bytes()); err != nil {
			return s.SilentState, err
		}
		s.Targets += len(block)
		s.here = len(now.Silent)
	}
	s.SecondPassed = looked + now.SecondPassed
	return s.SilentState, nil
}

func (s *silentFile) append(b []byte) error {
	if s.f == nil {
		flags := os.O_RDWR
		if s.Bytes == 0 {
			_ = os.Remove(s.path) // an earlier scan may have left this file
			flags |= os.O_CREATE | os.O_EXCL
		}
		f, err := os.OpenFile(s.path, flags, 0o666)
		if err != nil {
			return err
		}
		s.f = f
		if err := errors.Join(disk.Names(s.path, f), f.Truncate(s.Bytes)); err != nil {
			return err
		}
	}
	if _, err := s.f.WriteAt(b, s.Bytes); err != nil {
		return err
	}
	disk.Step("silent.written")
	if err := s.f.Sync(); err != nil {
		return err
	}
	s.Bytes += int64(len(b))
	s.Sum = crc32.Update(s.Sum, castagnoli, b)
	return nil
}

func (s *silentFile) close(remove bool) {
	if s.f != nil {
		s.f.Close()
	}
	if remove {
		_ = os.Remove(s.path) // if this fails, the next scan tries again
	}
}
