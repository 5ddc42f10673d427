package console

import (
	"bytes"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// A queue holds at most maxQueued writes. Write waits at most maxWait until its message is
// written. Before it exits, the program waits at most maxWaitExit for each queue.
const (
	maxQueued   = 256
	maxWait     = 200 * time.Millisecond
	maxWaitExit = 500 * time.Millisecond
)

// queue writes messages to a file whose reader may stall: a pipe, or a terminal after
// Ctrl-S. Write waits until its message is written, but at most maxWait. After such a
// timeout, Write does not wait for further messages until the queue is empty again.
type queue struct {
	to      io.Writer
	lost    func(n int) string // returns a message that says that n messages are lost
	waiting chan queued
	stalls  atomic.Bool // the reader has stalled
	dropped int         // number of messages dropped since the last call of lost
}

type queued struct {
	to      io.Writer
	text    []byte
	written chan error
}

// newQueue returns a queue that writes to w. It returns w itself if w is not a file,
// because only a file can stall.
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

// add queues p, which will be written to the given writer. After the write, the channel
// receives the error or nil.
func (q *queue) add(to io.Writer, p []byte) <-chan error {
	one := queued{to, bytes.Clone(p), make(chan error, 1)}
	select {
	case q.waiting <- one:
	default: // full
		go func() { q.waiting <- one }()
	}
	return one.written
}

// Write drops p if the queue is full. It must not be called by two goroutines at once.
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

// Close waits until all messages are written, and then until the log is written. For each
// of the two, it waits at most maxWaitExit.
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
