//go:build !linux || portable

package udp

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Conn is a UDP socket over IPv4.
//
// Package net has no read that doesn't block, so a goroutine of its own, the reader,
// blocks in reads. The buffers circulate: from idle to the reader, through full to the
// caller of Recv, and back to idle at the next Recv.
type Conn struct {
	sock *net.UDPConn
	wake chan struct{} // holds an interrupt until it ends a Recv
	idle chan []byte
	full chan arrival
	lent [][]byte      // buffers lent to the caller of Recv
	done chan struct{} // closed by Close
	once sync.Once

	reader sync.WaitGroup
	err    error // why the reader ended; valid once full is closed

	stats   counters
	pending atomic.Uint64
	fixed   Stats // the part that never changes
}

// arrival is a datagram in its buffer.
type arrival struct {
	from uint64
	buf  []byte
	n    int
}

// Listen opens a socket. Its errors say which option is invalid, or what the system
// refused. It is not an error if the kernel's buffers are smaller than requested;
// Stats has the sizes.
func Listen(cfg Config) (*Conn, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.Device != "" {
		return nil, errors.New("bind to device " + cfg.Device + ": not on this system")
	}
	sock, err := cfg.open()
	if err != nil {
		return nil, err
	}
	c := newConn(sock, cfg.Batch)
	cfg.setBuffers(sock)
	if err := cfg.granted(sock, &c.fixed); err != nil {
		sock.Close()
		return nil, err
	}
	c.reader.Go(c.readAll)
	return c, nil
}

// newConn allocates twice as many buffers as Recv lends at a time, so that the
// reader can continue meanwhile.
func newConn(sock *net.UDPConn, batch int) *Conn {
	c := &Conn{
		sock: sock,
		wake: make(chan struct{}, 1),
		idle: make(chan []byte, 2*batch),
		full: make(chan arrival, 2*batch),
		lent: make([][]byte, 0, batch),
		done: make(chan struct{}),
	}
	room := make([]byte, 2*batch*bufferSize)
	for i := range 2 * batch {
		c.idle <- room[i*bufferSize : (i+1)*bufferSize : (i+1)*bufferSize]
	}
	return c
}

// setBuffers requests the sizes of cfg. Stats has the sizes that the kernel
// granted.
func (cfg Config) setBuffers(sock *net.UDPConn) {
	if cfg.RecvBuffer > 0 {
		sock.SetReadBuffer(cfg.RecvBuffer)
	}
	if cfg.SendBuffer > 0 {
		sock.SetWriteBuffer(cfg.SendBuffer)
	}
}

// readAll is the reader goroutine. It ends when the socket is closed or fails.
func (c *Conn) readAll() {
	defer close(c.full)
	for {
		var buf []byte
		select {
		case buf = <-c.idle:
		case <-c.done:
			c.err = net.ErrClosed
			return
		}
		a, err := c.readOne(buf)
		if err != nil {
			c.err = err
			return
		}
		c.full <- a // has room for every buffer
	}
}

// readOne reads one datagram and skips pending errors about sent datagrams.
func (c *Conn) readOne(buf []byte) (arrival, error) {
	for {
		n, from, err := c.sock.ReadFromUDPAddrPort(buf)
		c.stats.reads.Add(1)
		switch {
		case err == nil:
			return arrival{Pack(from), buf, n}, nil
		case !isICMP(errnoOf(err)):
			return arrival{}, closedOr(err)
		}
		c.pending.Add(1)
	}
}

// Recv receives up to len(ps) datagrams, but no more than a batch, into ps. Their Data
// is valid until the next Recv. If no datagram has arrived, Recv waits up to wait for
// one; it does not wait if wait is 0. It returns 0 and no error if nothing came or
// Interrupt was called, and net.ErrClosed after Close.
func (c *Conn) Recv(ps []Packet, wait time.Duration) (n int, err error) {
	c.takeBack()
	ps = ps[:min(len(ps), cap(c.lent))]
	if len(ps) == 0 {
		return 0, nil
	}
	a, err := c.first(wait)
	for a.buf != nil {
		ps[n] = c.lend(a)
		if n++; n == len(ps) {
			return n, nil
		}
		a, err = c.next()
	}
	if n > 0 {
		err = nil // the next call returns it
	}
	return n, err
}

// next returns a datagram that has arrived. It does not block: if nothing has arrived,
// the arrival has no buffer.
func (c *Conn) next() (arrival, error) {
	select {
	case a, ok := <-c.full:
		return c.ended(a, ok)
	default:
		return arrival{}, nil
	}
}

// first is next, but waits up to wait for a datagram, unless Interrupt is called.
func (c *Conn) first(wait time.Duration) (arrival, error) {
	a, err := c.next()
	if a.buf != nil || err != nil || wait <= 0 {
		return a, err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case a, ok := <-c.full:
		return c.ended(a, ok)
	case <-c.wake:
	case <-timer.C:
	}
	return arrival{}, nil
}

// ended returns a or, if full is closed, the reader's error.
func (c *Conn) ended(a arrival, ok bool) (arrival, error) {
	if !ok {
		return arrival{}, c.err
	}
	return a, nil
}

// lend lends a's datagram to the caller of Recv.
func (c *Conn) lend(a arrival) Packet {
	c.lent = append(c.lent, a.buf)
	c.stats.received.Add(1)
	c.stats.receivedBytes.Add(uint64(a.n))
	return Packet{Addr: a.from, Data: a.buf[:a.n]}
}

// takeBack takes back the buffers that the last Recv lent.
func (c *Conn) takeBack() {
	for _, buf := range c.lent {
		c.idle <- buf // has room for every buffer
	}
	c.lent = c.lent[:0]
}

// Send sends ps in order and returns how many went out. err is the reason why ps[n]
// did not go out; it is nil only if all did.
//
// If errors.Is(err, ErrAgain), the same datagram may be sent later: the system's
// buffers are full. Callers must limit how often they retry, since a firewall that
// forbids the datagram causes the same error. Any other error is caused by that
// datagram, except net.ErrClosed.
func (c *Conn) Send(ps []Packet) (n int, err error) {
	for i := range ps {
		ps[i].GSO = false
		err := c.write(&ps[i])
		if isICMP(errnoOf(err)) {
			// The error may be about an earlier datagram; such an error does not
			// come twice.
			if err = c.write(&ps[i]); err == nil {
				c.pending.Add(1)
			}
		}
		if err != nil {
			return i, sendError(err)
		}
	}
	return len(ps), nil
}

func (c *Conn) write(p *Packet) error {
	n, err := c.sock.WriteToUDPAddrPort(p.Data, Unpack(p.Addr))
	c.stats.writes.Add(1)
	if err == nil {
		c.stats.sent.Add(1)
		c.stats.sentBytes.Add(uint64(n))
	}
	return err
}

// Unreachable returns 0: on this system the Conn does not learn which destinations
// are unreachable.
func (c *Conn) Unreachable(addrs []uint64) (n int) { return 0 }

// Stats returns the current numbers. Kernel drops are unknown on this system.
func (c *Conn) Stats() Stats {
	s := c.fixed
	c.stats.read(&s)
	s.Pending = c.pending.Load()
	return s
}

// LocalAddr returns the address to which the socket is bound.
func (c *Conn) LocalAddr() netip.AddrPort { return localAddr(c.sock) }

// Interrupt makes Recv return early: the call that is waiting or, if none is, the
// next one that would wait.
func (c *Conn) Interrupt() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Close closes the socket. It ends Recv with net.ErrClosed.
func (c *Conn) Close() error {
	err := c.sock.Close()
	c.once.Do(func() { close(c.done) })
	c.reader.Wait()
	return err
}
