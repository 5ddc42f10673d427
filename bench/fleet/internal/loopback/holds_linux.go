package loopback

import (
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// holds measures how long a port holds each query until its answer leaves: from the
// kernel's receive stamp to the system call that sends the answer. The zero value
// measures nothing.
type holds struct {
	took  func(server uint64, answer []byte, held time.Duration)
	batch []Datagram // those that are about to be sent
}

// measuredBatch is how many answers a port sends with one call while it measures. It is
// small because sent can only estimate when, during the call, each answer left.
const measuredBatch = 8

// Measure makes the port call took for each answer that it sends. It must be called
// before Serve. The answer is valid during the call.
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

// add notes the next datagram of a batch.
func (h *holds) add(d *Datagram) {
	if h.took != nil {
		h.batch = append(h.batch, *d)
	}
}

// now returns the time by the clock of the kernel's stamps, in ns since 1970.
func (h *holds) now() int64 {
	if h.took == nil {
		return 0
	}
	return time.Now().UnixNano()
}

// sent notes that a system call, which began at begun, sent ms. It assumes that all of
// them took the same part of the call.
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

// skip notes that the next datagram could not be sent.
func (h *holds) skip() {
	if h.took != nil {
		h.drop(1)
	}
}

func (h *holds) drop(n int) { h.batch = h.batch[:copy(h.batch, h.batch[n:])] }
