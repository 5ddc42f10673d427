package loopback

import (
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// holds measures how long a port holds each query until its answer leaves: from the
// kernel's receive timestamp to the system call that sends the answer. The zero
// value measures nothing.
type holds struct {
	took  func(server uint64, answer []byte, held time.Duration)
	batch []Datagram // the datagrams that are about to be sent
}

// measuredBatch is how many answers a port sends with one call while it measures. It is
// small because sent can only estimate when, during the call, each answer left.
const measuredBatch = 8

// Measure makes the port call took for each answer that it sends, with the packed
// address of the server. It must be called before Serve. The answer is valid until
// took returns.
func (p *Port) Measure(took func(server uint64, answer []byte, held time.Duration)) error {
	raw, err := p.conn.SyscallConn()
	if err != nil {
		return err
	}
	p.holds.took = took
	p.send = p.send[:measuredBatch]
	e := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if e != nil {
		return e
	}
	return err
}

// add adds the next datagram to the batch.
func (h *holds) add(d *Datagram) {
	if h.took != nil {
		h.batch = append(h.batch, *d)
	}
}

// now returns the current Unix time in nanoseconds, comparable with the kernel's
// receive timestamps. It returns 0 if nothing is being measured.
func (h *holds) now() int64 {
	if h.took == nil {
		return 0
	}
	return time.Now().UnixNano()
}

// sent calls took for ms, the messages that a system call has sent since begun. It
// assumes that each message took an equal part of the call.
func (h *holds) sent(ms []ipv4.Message, begun int64) {
	if h.took == nil || len(ms) == 0 {
		return
	}
	took := time.Now().UnixNano() - begun
	for i := range ms {
		d := &h.batch[i]
		left := begun + took*int64(2*i+1)/int64(2*len(ms))
		h.took(d.From, ms[i].Buffers[0], time.Duration(left-d.came))
	}
	h.drop(len(ms))
}

// skip removes the next datagram, which could not be sent.
func (h *holds) skip() {
	if h.took != nil {
		h.drop(1)
	}
}

func (h *holds) drop(n int) { h.batch = h.batch[:copy(h.batch, h.batch[n:])] }
