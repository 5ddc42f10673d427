package scanner

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// feed reads the target list in its own goroutine, because reading may block, for example
// if the list is a pipe. The loop takes the targets in blocks. A block has all targets
// that were read since the loop took the previous block.
type feed struct {
	mu      sync.Mutex
	filling []Target // the next block, to which the reader appends
	all     bool     // the list has ended

	room   chan struct{}   // gets a value when the loop takes a block
	gone   chan struct{}   // closed when the reader has ended
	stop   context.Context // done when the scan needs no more targets
	close  func()          // cancels stop
	read   atomic.Uint64   // number of targets that the reader has read
	hungry atomic.Bool     // the loop found no target to take
	wake   func()          // called when a hungry loop can take a block

	block []Target // the block from which the loop takes targets
	pos   int      // index of the next target in block
	ended bool     // no target follows, as the loop found when it last took a block; see all
	place uint64   // where the list continues: one more than the Place of the last target taken
}

const feedBlock = 1024

func newFeed(wake func()) *feed {
	f := &feed{
		filling: make([]Target, 0, feedBlock), block: make([]Target, 0, feedBlock),
		room: make(chan struct{}, 1), gone: make(chan struct{}), wake: wake,
	}
	f.stop, f.close = context.WithCancel(context.Background())
	return f
}

func (f *feed) run(targets iter.Seq[Target]) {
	defer close(f.gone)
	for t := range targets {
		f.read.Add(1)
		f.mu.Lock()
		f.filling = append(f.filling, t)
		n := len(f.filling)
		f.mu.Unlock()
		if n == 1 {
			f.wakeUp()
		}
		for n == feedBlock && f.stop.Err() == nil {
			select {
			case <-f.room: // may be the signal for an earlier block
			case <-f.stop.Done():
			}
			f.mu.Lock()
			n = len(f.filling)
			f.mu.Unlock()
		}
		if f.stop.Err() != nil {
			break
		}
	}
	f.mu.Lock()
	f.all = true
	f.mu.Unlock()
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

func (f *feed) refill() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.filling) == 0 {
		f.ended = f.all
		f.hungry.Store(true)
		return false
	}
	f.filling, f.block, f.pos = f.block[:0], f.filling, 0
	select {
	case f.room <- struct{}{}:
	default:
	}
	return true
}

const leaveBehind = 200 * time.Millisecond

// end closes the feed and waits until the reader has ended, so that f.read has its final
// value. If the list blocks, end waits no longer than leaveBehind.
func (f *feed) end() {
	f.close()
	select {
	case <-f.gone:
	case <-time.After(leaveBehind):
	}
}
