package scanner

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
)

// These constants limit the CPU time of a decompressor. Honest replies take less than
// briskTime. After a reply that took longer, the decompressor rests three times as long
// as the reply took, but at most maxRest. A flood of bad replies then costs about a
// quarter of a core. A reply with the right checksum makes the decompressor rest, too,
// because a decompression bomb can have the right checksum.
const (
	briskTime  = 2 * time.Millisecond
	restFactor = 3
	maxRest    = 100 * time.Millisecond
)

// decompressor unpacks replies in its own goroutine, one after the other. submit and poll
// never wait for this goroutine.
type decompressor struct {
	in, out chan job
	ctx     context.Context // cancelled by close
	cancel  context.CancelFunc
	ended   chan struct{}
	waiting atomic.Int64
	pause   func(time.Duration) // sleeps; tests replace it
}

type job struct {
	from   ref
	packed []byte
	msg    []byte
	err    error
}

// newDecompressor starts a decompressor. Its argument is the maximum number of replies
// that are submitted and not yet polled. Each reply takes up to 2 × reasm.MaxReply bytes.
// close ends the decompressor.
func newDecompressor(queue int) *decompressor {
	d := &decompressor{in: make(chan job, queue), out: make(chan job, queue), ended: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.pause = func(rest time.Duration) {
		select {
		case <-time.After(rest):
		case <-d.ctx.Done():
		}
	}
	go d.run()
	return d
}

// submit hands over a compressed reply, whose memory the decompressor owns from then on.
// If the queue is full or the decompressor is closed, submit returns false, and packed
// still belongs to the caller.
func (d *decompressor) submit(from ref, packed []byte) bool {
	if d.ctx.Err() != nil {
		return false
	}
	if d.waiting.Add(1) > int64(cap(d.in)) {
		d.waiting.Add(-1)
		return false
	}
	// This send never blocks, because at most cap(d.in) replies are pending.
	d.in <- job{from: from, packed: packed}
	return true
}

// poll calls f for each unpacked reply, in the order of submission. msg and err are the
// results of reasm.Unpacker.Unpack; msg belongs to f. f may call submit.
func (d *decompressor) poll(f func(from ref, msg []byte, err error)) {
	for range len(d.out) {
		j := <-d.out
		d.waiting.Add(-1)
		f(j.from, j.msg, j.err)
	}
}

func (d *decompressor) pending() int { return int(d.waiting.Load()) }

// close ends the decompressor and waits for its current reply. Replies that are already
// unpacked can still be polled; all other pending replies are lost.
func (d *decompressor) close() {
	d.cancel()
	<-d.ended
}

func (d *decompressor) run() {
	defer close(d.ended)
	var u reasm.Unpacker
	for d.ctx.Err() == nil {
		select {
		case j := <-d.in:
			start := time.Now()
			j.msg, j.err = u.Unpack(nil, j.packed)
			took := time.Since(start)
			d.out <- j
			if took >= briskTime {
				d.pause(min(took*restFactor, maxRest))
			}
		case <-d.ctx.Done():
		}
	}
}
