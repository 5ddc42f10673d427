package sink

import (
	"io"
	"sync"
	"sync/atomic"
)

// blockSizeRead is the approximate size of a block that EachBlock passes on.
const blockSizeRead = 1 << 20

// EachBlock reads a census with a Reader, and passes all lines, with their newlines, to
// do in blocks, in no particular order. Several goroutines, numbered from 0 to
// workers-1, call do at the same time; a block is valid until do returns. The first
// error of do ends the reading and is returned. EachBlock returns what it skipped.
func (s Source) EachBlock(name string, workers int, do func(worker int, block []byte) error) (Damage, error) {
	r, err := s.Open(name)
	if err != nil {
		return Damage{}, err
	}
	defer r.Close()
	workers = max(workers, 1)
	full, free := make(chan []byte, workers), make(chan []byte, 2*workers+1)
	for range cap(free) {
		free <- nil
	}
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for block := range full {
				if err := do(w, block); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
				free <- block
			}
		})
	}
	for err == nil && failed.Load() == nil {
		block := (<-free)[:0]
		for err == nil && len(block) < blockSizeRead {
			var line []byte
			if line, err = r.Next(); err == nil {
				block = append(append(block, line...), '\n')
			}
		}
		full <- block
	}
	close(full)
	group.Wait()
	if first := failed.Load(); first != nil {
		err = *first
	}
	if err == io.EOF {
		err = nil
	}
	return r.Damage(), err
}
