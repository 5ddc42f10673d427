package reasm

import (
	"sync"
	"sync/atomic"
	"time"
)

// How a Worker keeps its share of a core small: a reply that took longer than
// honest ones do is followed by a rest of three times as long, so that a flood
// of bad ones costs a quarter of a core. Good and bad are not told apart
// otherwise: a bomb with a right checksum is as easily made as one without.
const (
	briskTime  = 2 * time.Millisecond
	restFactor = 3
	maxRest    = 100 * time.Millisecond
)

// rest is how long a Worker does nothing after a reply that took so long.
func rest(took time.Duration) time.Duration {
	if took < briskTime {
		return 0
	}
	return min(took*restFactor, maxRest)
}

// spareBuffers is how many buffers for messages a Worker keeps at most.
const spareBuffers = 8

// Worker unpacks replies in a goroutine of its own, one after the other. Submit
// and Poll never wait for it.
type Worker struct {
	in, out chan job
	spare   chan []byte
	quit    chan struct{}
	ended   chan struct{}
	closing sync.Once
	pending atomic.Int64
	panics  atomic.Uint64
	pause   func(time.Duration) // Worker.wait, but for tests
}

// job is a reply on its way through a Worker.
type job struct {
	tag    uint64
	packed []byte
	msg    []byte
	err    error
}

// NewWorker starts a Worker that takes up to queue replies, 1 at least, before
// they are polled. They hold up to 2 × MaxReply bytes each. Close ends it.
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

// Submit hands over a reply as Table.Add made it. The Worker owns packed until
// it gives it back through Poll, with the tag. Submit reports false and takes
// nothing if the queue is full or the Worker closed.
func (w *Worker) Submit(tag uint64, packed []byte) bool {
	if w.closed() {
		return false
	}
	if w.pending.Add(1) > int64(cap(w.in)) {
		w.pending.Add(-1)
		return false
	}
	// There is room: both channels together hold no more than is pending.
	w.in <- job{tag: tag, packed: packed}
	return true
}

// Poll calls f for each reply that is done, in the order in which they were
// submitted. err and msg are those of Unpacker.Unpack; msg is valid during the
// call, packed is the caller's again. f may call Submit.
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

// Pending returns how many replies were submitted and not polled yet.
func (w *Worker) Pending() int { return int(w.pending.Load()) }

// Panics returns on how many replies the decompressor panicked.
func (w *Worker) Panics() uint64 { return w.panics.Load() }

// Close ends the Worker and waits for that, for the time that one reply takes
// at most. What is done by then can still be polled; the rest is lost.
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

// run is the goroutine.
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

// unpack does one reply and returns how long it took.
func (w *Worker) unpack(u *Unpacker, j *job) time.Duration {
	start := time.Now()
	j.msg, j.err = u.Unpack(w.buffer(), j.packed)
	w.panics.Store(u.Panics)
	return time.Since(start)
}

// wait waits for d or for the end, what comes first.
func (w *Worker) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.quit:
	}
}

// buffer returns an empty buffer, a used one if there is one.
func (w *Worker) buffer() []byte {
	select {
	case b := <-w.spare:
		return b
	default:
		return nil
	}
}

// reuse keeps a buffer for another message.
func (w *Worker) reuse(b []byte) {
	select {
	case w.spare <- b[:0]:
	default:
	}
}
