package reasm

import (
	"sync"
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
	quit    chan struct{}
	ended   chan struct{}
	closing sync.Once
	pending atomic.Int64
	panics  atomic.Uint64
	pause   func(time.Duration) // Worker.wait, except in tests
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
	w := newWorker(max(queue, 1))
	w.pause = w.wait
	go w.run()
	return w
}

func newWorker(queue int) *Worker {
	return &Worker{
		in:    make(chan job, queue),
		out:   make(chan job, queue),
		spare: make(chan []byte, min(queue, spareBuffers)),
		quit:  make(chan struct{}),
		ended: make(chan struct{}),
	}
}

// Submit hands over a reply from Table.Add. The Worker owns packed until Poll
// passes it to its argument f, with the tag. If the queue is full or the Worker is
// closed, Submit returns false and packed still belongs to the caller.
func (w *Worker) Submit(tag uint64, packed []byte) bool {
	if w.closed() {
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
			w.reuse(j.msg)
		default:
			return // another goroutine polled
		}
	}
}

// Pending returns the number of replies submitted and not polled yet.
func (w *Worker) Pending() int { return int(w.pending.Load()) }

// Panics returns the number of replies on which the decompressor panicked.
func (w *Worker) Panics() uint64 { return w.panics.Load() }

// Close ends the Worker and waits for its current reply. Replies already unpacked
// can still be polled; the others are lost.
func (w *Worker) Close() {
	w.closing.Do(func() { close(w.quit) })
	<-w.ended
}

func (w *Worker) closed() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

// run is the Worker's goroutine.
func (w *Worker) run() {
	defer close(w.ended)
	var u Unpacker
	for !w.closed() {
		select {
		case j := <-w.in:
			took := w.unpack(&u, &j)
			w.out <- j
			if d := rest(took); d > 0 {
				w.pause(d)
			}
		case <-w.quit:
		}
	}
}

// unpack unpacks one reply and returns how long it took.
func (w *Worker) unpack(u *Unpacker, j *job) time.Duration {
	start := time.Now()
	j.msg, j.err = u.Unpack(w.buffer(), j.packed)
	w.panics.Store(u.Panics)
	return time.Since(start)
}

// wait waits for d or for Close, whichever comes first.
func (w *Worker) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.quit:
	}
}

// buffer returns an empty used buffer, or nil if there is none.
func (w *Worker) buffer() []byte {
	select {
	case b := <-w.spare:
		return b
	default:
		return nil
	}
}

// reuse keeps a buffer for another message, unless spareBuffers of them are kept
// already.
func (w *Worker) reuse(b []byte) {
	select {
	case w.spare <- b[:0]:
	default:
	}
}
