package console

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// The limits of a queue: the number of waiting writes, the time that Write waits when the
// reader begins to stall, and the time that the program waits at its end.
const (
	maxQueued   = 256
	maxWait     = 200 * time.Millisecond
	maxWaitExit = 500 * time.Millisecond
)

// queue writes messages to a file whose reader may stall: a pipe, or a terminal after
// Ctrl-S. Write waits until p is written, so that messages are in order, but no longer
// than maxWait. While the reader stalls, Write does not wait at all.
type queue struct {
	to   io.Writer
	lost func(n int) string // a line about dropped writes

	mu      sync.Mutex
	waiting []queued // run writes the first one
	stalls  bool     // the reader is behind
	dropped int      // writes since the last call of lost
}

type queued struct {
	to      io.Writer
	text    []byte
	written chan error
}

// newQueue returns a queue for w, or w itself if it is not a file, because only files can
// stall.
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

// run writes until the queue is empty.
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

// wait waits for a write, but no longer than limit.
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

// Close waits for up to maxWaitExit until stalled readers have taken the messages and the
// log.
func (t *Terminal) Close() {
	for _, w := range []io.Writer{t.out, t.logged} {
		if q, ok := w.(*queue); ok {
			_ = q.wait(q.add(io.Discard, nil), maxWaitExit)
		}
	}
}
