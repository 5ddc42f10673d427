package scanner

import (
	"context"
	"iter"
	"sync/atomic"
	"time"
)

// feed reads the target list in its own goroutine, because a list may be a pipe
// that is empty for now. The loop takes the targets in blocks. Three blocks circulate:
// one is being filled, one waits, and one is the loop's.
type feed struct {
	blocks chan []Target   // the block that waits; closed at the end of the list
	taken  chan []Target   // a block to fill again
	stop   context.Context // done when the scan needs no more
	close  func()          // ends stop
	read   atomic.Uint64   // targets read
	hungry atomic.Bool     // the loop has nothing to take
	wake   func()          // called when a hungry loop can take a block

	block []Target // the loop's
	pos   int      // index of the next target in block
	ended bool     // nothing follows
	place uint64   // Place at which the list continues
}

const feedBlock = 1024

func newFeed(wake func()) *feed {
	f := &feed{
		blocks: make(chan []Target, 1), taken: make(chan []Target, 2), wake: wake,
		block: make([]Target, 0, feedBlock),
	}
	f.taken <- make([]Target, 0, feedBlock)
	f.stop, f.close = context.WithCancel(context.Background())
	return f
}

// run reads targets until the list ends or the scan needs no more.
func (f *feed) run(targets iter.Seq[Target]) {
	block := make([]Target, 0, feedBlock)
	for t := range targets {
		f.read.Add(1)
		block = append(block, t)
		select {
		case f.blocks <- block:
			block = nil
		default:
			if len(block) < feedBlock {
				break
			}
			select {
			case f.blocks <- block:
				block = nil
			case <-f.stop.Done():
			}
		}
		if f.stop.Err() != nil {
			break
		}
		if block == nil {
			f.wakeUp()
			block = <-f.taken
		}
	}
	if len(block) > 0 {
		select {
		case f.blocks <- block:
		case <-f.stop.Done():
		}
	}
	close(f.blocks)
	f.wakeUp()
}

func (f *feed) wakeUp() {
	if f.hungry.Load() && f.hungry.Swap(false) {
		f.wake()
	}
}

// next returns the next target, or nil if there is none now.
func (f *feed) next() *Target {
	if f.pos == len(f.block) && !f.refill() {
		return nil
	}
	t := &f.block[f.pos]
	f.pos++
	f.place = t.Place + 1
	return t
}

// refill takes the next block and reports whether there is one.
func (f *feed) refill() bool {
	var block []Target
	more := true
	select {
	case block, more = <-f.blocks:
	default:
		f.hungry.Store(true)
		select { // it may have come in the meantime
		case block, more = <-f.blocks:
		default:
		}
	}
	f.ended = !more
	if block == nil {
		return false
	}
	f.taken <- f.block[:0]
	f.block, f.pos = block, 0
	return true
}

// leaveBehind is the maximum time that end waits.
const leaveBehind = 200 * time.Millisecond

// end closes the feed and waits until the reader has ended, so that all its targets are
// counted. If the list blocks, it gives up after leaveBehind.
func (f *feed) end() {
	f.close()
	for late := time.After(leaveBehind); ; {
		select {
		case _, more := <-f.blocks:
			if !more {
				return
			}
		case <-late:
			return
		}
	}
}
