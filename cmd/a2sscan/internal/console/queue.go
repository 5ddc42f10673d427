package console

import (
	"bytes"
	"io"
	"os"
	"sync/atomic"
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
	to      io.Writer
	lost    func(n int) string // returns a line about n dropped writes
	waiting chan queued
	stalls  atomic.Bool // the reader has stalled
	dropped int         // number of writes dropped since the last call of lost
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
	q := &queue{to: w, lost: lost, waiting: make(chan queued, maxQueued)}
	go func() {
		for one := range q.waiting {
			_, err := one.to.Write(one.text)
			one.written <- err
			if len(q.waiting) == 0 {
				q.stalls.Store(false)
			}
		}
	}()
	return q
}

// add queues a write of p to a writer. The returned channel receives the result of the
// write.
func (q *queue) add(to io.Writer, p []byte) <-chan error {
	one := queued{to, bytes.Clone(p), make(chan error, 1)}
	select {
	case q.waiting <- one:
	default: // full
		go func() { q.waiting <- one }()
	}
	return one.written
}

// Write drops p if the queue is full. The caller never calls Write twice at the same time.
func (q *queue) Write(p []byte) (int, error) {
	n := len(p)
	if len(q.waiting) == maxQueued {
		q.dropped++
		return n, nil
	}
	if q.dropped > 0 {
		p = append([]byte(q.lost(q.dropped)), p...)
		q.dropped = 0
	}
	written := q.add(q.to, p)
	if q.stalls.Load() {
		return n, nil
	}
	select {
	case err := <-written:
		return n, err
	case <-time.After(maxWait):
		q.stalls.Store(true)
		return n, nil
	}
}

// Close waits until stalled readers have taken the messages and the log, for each of the two
// at most maxWaitExit.
func (t *Terminal) Close() {
	for _, w := range []io.Writer{t.out, t.logged} {
		if q, ok := w.(*queue); ok {
			select {
			case <-q.add(io.Discard, nil):
			case <-time.After(maxWaitExit):
			}
		}
	}
}
