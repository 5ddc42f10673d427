package reasm

import (
	"context"
	"sync/atomic"
	"time"
)

// These limit the CPU time of a Worker: after a reply that took longer than honest
// replies take, the Worker rests three times as long, but at most maxRest. A flood
// of bad replies then costs about a quarter of a core. The time is the only
// criterion, because the checksum of a bomb can be right.
const (
	briskTime  = 2 * time.Millisecond
	restFactor = 3
	maxRest    = 100 * time.Millisecond
)

// rest returns how long a Worker rests after a reply that took the given time.
func rest(took time.Duration) time.Duration {
	if took < briskTime {
		return 0
	}
	return min(took*restFactor, maxRest)
}

// spareBuffers is the maximum number of message buffers that a Worker keeps for
// reuse.
const spareBuffers = 8

// Worker unpacks replies in its own goroutine, one after the other. Submit and Poll
// never wait for it.
type Worker struct {
	in, out chan job
	spare   chan []byte
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	ended   chan struct{}
	pending atomic.Int64
	pause   func(time.Duration) // rests; tests inject it
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
	return newWorker(queue, (*Worker).wait)
}

func newWorker(queue int, pause func(*Worker, time.Duration)) *Worker {
	queue = max(queue, 1)
	w := &Worker{
		in:    make(chan job, queue),
		out:   make(chan job, queue),
		spare: make(chan []byte, min(queue, spareBuffers)),
		ended: make(chan struct{}),
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.pause = func(d time.Duration) { pause(w, d) }
	go w.run()
	return w
}

// Submit hands over a reply from Table.Add. The Worker owns packed until Poll
// passes it to its argument f, with the tag. If the queue is full or the Worker is
// closed, Submit returns false and packed still belongs to the caller.
func (w *Worker) Submit(tag uint64, packed []byte) bool {
	if w.ctx.Err() != nil {
		return false
	}
	if w.pending.Add(1) > int64(cap(w.in)) {
		w.pending.Add(-1)
		return false
	}
	// This never blocks: the two channels together hold at most pending replies.
	w.in <- job{tag: tag, packed: packed}
	return true
}

// Poll calls f for each unpacked reply, in the order of submission. msg and err are
// the results of Unpacker.Unpack; msg is valid until f returns, and packed belongs
// to the caller again. f may call Submit.
func (w *Worker) Poll(f func(tag uint64, packed, msg []byte, err error)) {
	for range len(w.out) {
		select {
		case j := <-w.out:
			w.pending.Add(-1)
			f(j.tag, j.packed, j.msg, j.err)
			select {
			case w.spare <- j.msg[:0]:
			default: // enough are kept
			}
		default:
			return // another goroutine polled
		}
	}
}

// Pending returns the number of replies submitted and not polled yet.
func (w *Worker) Pending() int { return int(w.pending.Load()) }

// Close ends the Worker and waits for its current reply. Replies already unpacked
// can still be polled; the others are lost.
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
			var buffer []byte
			select {
			case buffer = <-w.spare:
			default:
			}
			start := time.Now()
			j.msg, j.err = u.Unpack(buffer, j.packed)
			took := time.Since(start)
			w.out <- j
			if d := rest(took); d > 0 {
				w.pause(d)
			}
		case <-w.ctx.Done():
		}
	}
}

// wait waits for d or for Close, whichever comes first.
func (w *Worker) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.ctx.Done():
	}
}
