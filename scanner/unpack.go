package scanner

import (
	"context"
	"runtime"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner/thread"
)

// An honest reply takes less CPU time than briskTime. After a reply that took more, the
// decompressor rests three times that time, but at most maxRest, so a flood of bad replies
// costs about a quarter of a core. A right checksum proves nothing, because a decompression
// bomb can have one. Time in which the thread waits for a processor does not count, or the
// decompressor would rest after honest replies on a busy machine.
const (
	briskTime  = 2 * time.Millisecond
	restFactor = 3
	maxRest    = 100 * time.Millisecond
)

// minRoom is the least room in bytes that a reply takes in the queue.
const minRoom = 16 << 10

// decompressor unpacks replies in its own goroutine, one after the other. submit, poll
// and pending never wait for this goroutine. Only one other goroutine may call them.
type decompressor struct {
	in, out chan job
	ctx     context.Context // cancelled by close
	cancel  context.CancelFunc
	ended   chan struct{}
	waiting int                 // number of replies that are submitted and not yet polled
	room    int                 // the size of the queue in bytes
	taken   int                 // the room that the waiting replies take
	pause   func(time.Duration) // sleeps; tests replace it
}

type job struct {
	from   ref
	room   int // the room that the reply takes in the queue
	packed []byte
	msg    []byte
	err    error
}

// newDecompressor starts a decompressor. Its argument limits the bytes of the replies
// that are submitted and not yet polled. Replies of honest servers take some 20 KB, and
// bad replies up to 2 × reasm.MaxReply. So the queue has room for the replies of
// thousands of honest servers, but a flood of bad replies can't delay a reply for long.
// close ends the decompressor.
func newDecompressor(room int) *decompressor {
	queue := room / minRoom
	d := &decompressor{
		in: make(chan job, queue), out: make(chan job, queue), ended: make(chan struct{}), room: room,
	}
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
// If the queue has no room or the decompressor is closed, submit returns false, and the
// caller keeps the memory.
func (d *decompressor) submit(from ref, packed []byte) bool {
	j := job{from: from, room: max(minRoom, len(packed)+reasm.Declared(packed)), packed: packed}
	if d.ctx.Err() != nil || d.taken+j.room > d.room {
		return false
	}
	d.taken += j.room
	d.waiting++
	d.in <- j // never blocks, because each reply takes at least minRoom
	return true
}

// poll calls f for each unpacked reply, in the order of submission. msg and err are the
// results of reasm.Unpacker.Unpack; msg belongs to f. f may call submit.
func (d *decompressor) poll(f func(from ref, msg []byte, err error)) {
	for range len(d.out) {
		j := <-d.out
		d.taken -= j.room
		d.waiting--
		f(j.from, j.msg, j.err)
	}
}

func (d *decompressor) pending() int { return d.waiting }

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
			runtime.LockOSThread() // thread.Used measures one thread
			start := thread.Used()
			j.msg, j.err = u.Unpack(nil, j.packed)
			took := thread.Used() - start
			runtime.UnlockOSThread()
			d.out <- j
			if took >= briskTime {
				d.pause(min(took*restFactor, maxRest))
			}
		case <-d.ctx.Done():
		}
	}
}
