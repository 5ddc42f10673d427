package scanner

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// feed reads the target list in its own goroutine, because a list may be a pipe
// that is empty for now. The loop takes the targets in blocks.
type feed struct {
	mu     sync.Mutex
	room   sync.Cond
	block  []Target // read and not yet taken
	ended  bool     // the list has ended
	stop   bool     // the scan needs no more
	hungry atomic.Bool
	wake   func()        // called when a waiting loop can take a block
	done   chan struct{} // closed when run has returned
}

const feedBlock = 1024

func newFeed(wake func()) *feed {
	f := &feed{block: make([]Target, 0, feedBlock), wake: wake, done: make(chan struct{})}
	f.room.L = &f.mu
	return f
}

// run reads targets until the list ends or the scan needs no more.
func (f *feed) run(targets iter.Seq[Target]) {
	defer close(f.done)
	for t := range targets {
		if !f.offer(t) {
			break
		}
	}
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.wakeUp()
}

func (f *feed) offer(t Target) bool {
	f.mu.Lock()
	for len(f.block) == feedBlock && !f.stop {
		f.room.Wait()
	}
	f.block = append(f.block, t)
	stop := f.stop
	f.mu.Unlock()
	f.wakeUp()
	return !stop
}

func (f *feed) wakeUp() {
	if f.hungry.Load() && f.hungry.Swap(false) {
		f.wake()
	}
}

// take swaps an empty block for the targets read so far. ended means that no more
// follow.
func (f *feed) take(empty []Target) (block []Target, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	block, f.block = f.block, empty[:0]
	f.room.Signal()
	if len(block) == 0 && !f.ended {
		f.hungry.Store(true)
	}
	return block, f.ended
}

// close tells the reader that the scan needs no more targets.
func (f *feed) close() {
	f.mu.Lock()
	f.stop = true
	f.mu.Unlock()
	f.room.Signal()
}

// closeAndWait closes the feed and waits until the reader has ended, so that all
// its targets are counted. If the list blocks, it gives up after leaveBehind.
func (f *feed) closeAndWait() {
	f.close()
	select {
	case <-f.done:
	case <-time.After(leaveBehind):
	}
}

// leaveBehind is the maximum time that closeAndWait waits.
const leaveBehind = 200 * time.Millisecond

// cursor is the loop's position in the list: the current block and an index into
// it.
type cursor struct {
	feed  *feed
	block []Target
	pos   int    // index of the next target in block
	ended bool   // nothing follows block
	place uint64 // Place at which the list continues
}

// next returns the next target, or nil if the feed has none now.
func (c *cursor) next() *Target {
	if c.pos == len(c.block) && !c.refill() {
		return nil
	}
	t := &c.block[c.pos]
	c.pos++
	c.place = t.Place + 1
	return t
}

// refill takes the next block from the feed and reports whether it holds any.
func (c *cursor) refill() bool {
	c.block, c.ended = c.feed.take(c.block)
	c.pos = 0
	return len(c.block) > 0
}

// more reports whether the list may have another target.
func (c *cursor) more() bool { return !c.ended || c.pos < len(c.block) }

// rest returns the number of targets that the feed read and next did not return. The
// cursor must not be used afterwards.
func (c *cursor) rest() int {
	rest := len(c.block) - c.pos
	if !c.ended && c.refill() {
		rest += len(c.block)
	}
	return rest
}
