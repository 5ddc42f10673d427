package console

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// The limits of a queue.
const (
	maxQueued   = 256                    // writes that wait
	maxWait     = 200 * time.Millisecond // how long Write waits when the reader begins to stall
	maxWaitExit = 500 * time.Millisecond // how long the program waits at its end
)

// queue writes messages to a file whose reader may stall: a pipe, or a terminal after
// Ctrl-S. Write waits until p is written, so that messages are in order, but no longer
// than maxWait. While the reader stalls, Write does not wait at all.
type queue struct {
	to   io.Writer
	lost func(n int) string // a line that says how many writes were dropped

	mu      sync.Mutex
	waiting []queued // a goroutine writes the first one
	stalls  bool     // the reader has not taken everything yet
	dropped int      // writes, since lost was last called
}

type queued struct {
	to      io.Writer
	text    []byte
	written chan error
}

// newQueue returns a queue for w, or w itself if it is no file, and can't stall.
func newQueue(w io.Writer, lost func(n int) string) io.Writer {
	if _, ok := w.(*os.File); !ok {
		return w
	}
	return &queue{to: w, lost: lost}
}

// add queues a write to a writer. The result of the write can be read from the channel.
func (q *queue) add(to io.Writer, p []byte) <-chan error {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := queued{to, bytes.Clone(p), make(chan error, 1)}
	if q.waiting = append(q.waiting, one); len(q.waiting) == 1 {
		go q.run()
	}
	return one.written
}

// run writes until nothing waits.
func (q *queue) run() {
	for more := true; more; {
		q.mu.Lock()
		one := q.waiting[0]
		q.mu.Unlock()
		_, err := one.to.Write(one.text)
		one.written <- err
		q.mu.Lock()
		q.waiting = q.waiting[1:]
		more = len(q.waiting) > 0
		q.stalls = q.stalls && more
		q.mu.Unlock()
	}
}

func (q *queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	n, full, stalls := len(p), len(q.waiting) >= maxQueued, q.stalls
	if full {
		q.dropped++
	} else if q.dropped > 0 {
		p = append([]byte(q.lost(q.dropped)), p...)
		q.dropped = 0
	}
	q.mu.Unlock()
	if full {
		return n, nil
	}
	written := q.add(q.to, p)
	if stalls {
		return n, nil
	}
	return n, q.wait(written, maxWait)
}

// wait waits for a write, but not for a stalled reader.
func (q *queue) wait(written <-chan error, limit time.Duration) error {
	select {
	case err := <-written:
		return err
	case <-time.After(limit):
		q.mu.Lock()
		defer q.mu.Unlock()
		q.stalls = len(q.waiting) > 0
		return nil
	}
}

// Close waits a moment until a stalled reader has taken messages and the log.
func (t *Terminal) Close() {
	for _, w := range []io.Writer{t.out, t.logged} {
		if q, ok := w.(*queue); ok {
			_ = q.wait(q.add(io.Discard, nil), maxWaitExit)
		}
	}
}
