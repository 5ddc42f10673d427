package reasm

import (
	"context"
	"sync/atomic"
	"time"
)

// These constants limit the CPU time of a Worker: after a reply that took longer than
// honest replies take, the Worker rests three times as long, but at most maxRest. A
// flood of bad replies then costs about a quarter of a core. The time is the only
// criterion, because the checksum of a bomb can be right.
const (
	briskTime  = 2 * time.Millisecond
	restFactor = 3
	maxRest    = 100 * time.Millisecond
)

// Worker unpacks replies in its own goroutine, one after the other. Submit and Poll
// never wait for this goroutine.
type Worker struct {
	in, out chan job
	ctx     context.Context // cancelled by Close
	cancel  context.CancelFunc
	ended   chan struct{}
	pending atomic.Int64
	pause   func(time.Duration) // sleeps; tests replace it
}

// job is a reply on its way through a Worker.
type job struct {
	tag    uint64
	packed []byte
	msg    []byte
	err    error
}

// NewWorker starts a Worker. Up to queue replies (at least 1) may be submitted and
// not yet polled; each takes up to 2 × MaxReply bytes. Close ends the Worker.
func NewWorker(queue int) *Worker {
	queue = max(queue, 1)
	w := &Worker{in: make(chan job, queue), out: make(chan job, queue), ended: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.pause = func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-w.ctx.Done():
		}
	}
	go w.run()
	return w
}

// Submit hands over a reply from Table.Add. The Worker owns packed until Poll passes
// packed and tag to its function f. If the queue is full or the Worker is closed,
// Submit returns false and packed still belongs to the caller.
func (w *Worker) Submit(tag uint64, packed []byte) bool {
	if w.ctx.Err() != nil {
		return false
	}
	if w.pending.Add(1) > int64(cap(w.in)) {
		w.pending.Add(-1)
		return false
	}
	// This send never blocks, because at most cap(w.in) replies are pending.
	w.in <- job{tag: tag, packed: packed}
	return true
}

// Poll calls f for each unpacked reply, in the order of submission. msg and err are
// the results of Unpacker.Unpack; msg and packed belong to the caller. f may call
// Submit. Only one goroutine may poll.
func (w *Worker) Poll(f func(tag uint64, packed, msg []byte, err error)) {
	for range len(w.out) {
		j := <-w.out
		w.pending.Add(-1)
		f(j.tag, j.packed, j.msg, j.err)
	}
}

// Pending returns the number of replies submitted and not polled yet.
func (w *Worker) Pending() int { return int(w.pending.Load()) }

// Close ends the Worker and waits for its current reply. Replies that are already
// unpacked can still be polled; all other pending replies are lost.
func (w *Worker) Close() {
	w.cancel()
	<-w.ended
}

// run is the Worker's goroutine.
func (w *Worker) run() {
	defer close(w.ended)
	var u Unpacker
	for w.ctx.Err() == nil {
		select {
		case j := <-w.in:
			start := time.Now()
			j.msg, j.err = u.Unpack(nil, j.packed)
			took := time.Since(start)
			w.out <- j
			if took >= briskTime {
				w.pause(min(took*restFactor, maxRest))
			}
		case <-w.ctx.Done():
		}
	}
}
