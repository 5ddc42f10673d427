//go:build !portable

package udp

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// Conn is a UDP socket over IPv4.
type Conn struct {
	sock  *Unpolled
	batch batcher

	in  []ipv4.Message // the messages that Recv fills
	out *outBatch      // the messages that Send writes

	stats  counters
	source netip.AddrPort
	drops  dropCounter
	icmp   icmpQueue
}

// batcher is the part of an ipv4.PacketConn that Conn uses. Tests inject faults here.
type batcher interface {
	ReadBatch(ms []ipv4.Message, flags int) (int, error)
	WriteBatch(ms []ipv4.Message, flags int) (int, error)
}

func (cfg Config) newConn(opened *net.UDPConn) (*Conn, error) {
	sock, err := Unpoll(opened)
	if err != nil {
		return nil, err
	}
	c := &Conn{
		sock:  sock,
		batch: ipv4.NewPacketConn(sock),
		in:    newIn(maxBatch),
		out:   newOutBatch(maxBatch),
	}
	c.icmp.raw, c.icmp.addrs = (*rawConn)(sock), make([]uint64, 0, maxUnreachable)
	// A kernel without GSO would send two combined datagrams as one.
	c.icmp.raw.Control(func(fd uintptr) {
		_, err := unix.GetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_SEGMENT)
		c.out.gso = err == nil
	})
	return c, nil
}

// newIn returns n messages to receive into. All buffers are one allocation. Only the
// pages that datagrams fill take up memory.
func newIn(n int) []ipv4.Message {
	ms := make([]ipv4.Message, n)
	room := make([]byte, n*bufferSize)
	oob := make([]byte, n*controlSpace)
	vecs := make([][]byte, n)
	for i := range ms {
		vecs[i] = room[i*bufferSize : (i+1)*bufferSize : (i+1)*bufferSize]
		ms[i].Buffers = vecs[i : i+1 : i+1]
		ms[i].OOB = oob[i*controlSpace : (i+1)*controlSpace]
	}
	return ms
}

// Recv receives up to len(ps) datagrams, but no more than a batch, into ps. The Data of
// each Packet is valid until the next Recv. If no datagram has arrived, Recv waits for
// one, but not longer than its last argument says. It returns 0 and no error if nothing
// arrived or Interrupt was called, and net.ErrClosed after Close.
func (c *Conn) Recv(ps []Packet, wait time.Duration) (n int, err error) {
	ms := c.in[:min(len(ps), len(c.in))]
	if len(ms) == 0 {
		return 0, nil
	}
	n, err = c.read(ms)
	if n == 0 && err == nil && wait > 0 {
		n, err = c.readWait(ms, wait)
	}
	c.take(ps, ms[:n])
	return n, err
}

// readWait is like read, but waits for the first datagram, at most as long as its last
// argument says. A pending error about a sent datagram does not end the wait.
func (c *Conn) readWait(ms []ipv4.Message, wait time.Duration) (int, error) {
	end := time.Now().Add(wait)
	for ; wait > 0; wait = time.Until(end) {
		ready, err := c.sock.wait(wait)
		if err != nil {
			return 0, err
		}
		if ready.errors {
			c.icmp.drain()
		}
		if n, err := c.read(ms); n > 0 || err != nil || ready.interrupted {
			return n, err
		}
	}
	return 0, nil
}

// maxPending is the maximum number of pending errors that one read skips, so that many
// ICMP messages can't block the read.
const maxPending = 64

// read reads one batch and skips pending errors about sent datagrams. An empty socket
// is not an error.
func (c *Conn) read(ms []ipv4.Message) (int, error) {
	for range maxPending {
		n, err := c.batch.ReadBatch(ms, unix.MSG_DONTWAIT)
		c.stats.count(func(s *Stats) { s.Reads++ })
		if err == nil {
			return n, nil
		}
		switch errno := errnoOf(err); {
		case errno == unix.EAGAIN:
			return 0, nil
		case errno == unix.EINTR:
		case isICMP(errno):
			c.icmp.drain()
		default:
			return 0, closedOr(err)
		}
	}
	return 0, nil
}

func (c *Conn) take(ps []Packet, ms []ipv4.Message) {
	if len(ms) == 0 {
		return
	}
	var bytes uint64
	for i := range ms {
		m, p := &ms[i], &ps[i]
		from := m.Addr.(*net.UDPAddr)
		p.Addr = uint64(binary.BigEndian.Uint32(from.IP.To4()))<<16 | uint64(uint16(from.Port))
		p.Data = m.Buffers[0][:m.N]
		p.Stamp, p.GSO = stampOf(m.OOB[:m.NN]), false
		bytes += uint64(m.N)
	}
	c.stats.count(func(s *Stats) {
		s.Received += uint64(len(ms))
		s.ReceivedBytes += bytes
	})
}

// Send sends ps in order and returns how many datagrams were sent. err is the reason why
// ps[n] was not sent; it is nil only if all datagrams were sent.
//
// If errors.Is(err, ErrAgain), the caller may send ps[n] again: the system's buffers or a
// firewall's table are full, or ICMP errors arrive faster than Send can read them. Callers
// must limit how often they retry, since a firewall that forbids the datagram causes the
// same error. Any other error except net.ErrClosed is caused by ps[n]. Send never waits.
func (c *Conn) Send(ps []Packet) (n int, err error) {
	for n < len(ps) && err == nil {
		var sent int
		sent, err = c.sendBatch(ps[n:min(n+len(c.out.room), len(ps))])
		n += sent
	}
	return n, err
}

// sendBatch is Send for packets that fit into one batch. If it turns off GSO, it returns
// before all packets are sent.
func (c *Conn) sendBatch(ps []Packet) (sent int, err error) {
	for ms := c.out.fill(ps); len(ms) > 0 && err == nil; {
		n := 0
		n, err = c.write(ms)
		c.out.resolve(err)
		switch {
		case err != nil && c.out.stopGSO(&ms[0], err):
			return sent, nil // the other datagrams go into another batch, without GSO
		case err != nil && !errors.Is(err, ErrAgain):
			n, err = c.writeAgain(ms[:1], err)
			if err != nil && c.out.stopGSO(&ms[0], err) {
				return sent, nil
			}
		case err == nil && n < len(ms):
			// The kernel doesn't report why it stopped in the middle of a batch. The next batch
			// begins with the culprit. Sending it shows the reason. But if the reason was a
			// pending error, the kernel has cleared it, and only its entry in the error queue is
			// left.
			c.icmp.drain()
		}
		for i := range ms[:n] {
			sent += len(ms[i].Buffers) // 2 if GSO combines two datagrams
		}
		ms = ms[n:]
	}
	return sent, err
}

// write sends as many of ms as the kernel accepts; n is 0 if there is an error.
func (c *Conn) write(ms []ipv4.Message) (n int, err error) {
	n, err = c.batch.WriteBatch(ms, unix.MSG_DONTWAIT)
	n = max(n, 0)
	c.stats.count(func(s *Stats) {
		s.Writes++
		for i := range ms[:n] {
			s.GSO += uint64(len(ms[i].Buffers) - 1)
			for _, data := range ms[i].Buffers {
				s.Sent++
				s.SentBytes += uint64(len(data))
			}
		}
	})
	if err != nil {
		return 0, sendError(err)
	}
	return n, nil
}

// maxTries is the maximum number of times that writeAgain sends a datagram.
const maxTries = 4

// writeAgain is called with one message, which the kernel refused with err. It finds out
// whether this message caused err, or err was a pending error. It empties the error queue
// and sends the message again. If this fails with an error that no ICMP message causes,
// or without a new entry in the queue, the message itself causes the error. Otherwise the
// error may have been pending again, or a firewall both refuses the datagram and answers
// it with an ICMP message. So after maxTries tries writeAgain returns an error that
// matches ErrAgain.
func (c *Conn) writeAgain(ms []ipv4.Message, err error) (int, error) {
	if errors.Is(err, net.ErrClosed) {
		return 0, err
	}
	c.icmp.mu.Lock()
	defer c.icmp.mu.Unlock()
	for try := range maxTries {
		known := c.icmp.drainLocked()
		if try > 0 && (known == 0 || !isICMP(errnoOf(err))) {
			return 0, err
		}
		var n int
		if n, err = c.write(ms); n > 0 || errors.Is(err, ErrAgain) {
			return n, err
		}
	}
	return 0, again(errnoOf(err))
}

// Unreachable fills addrs with destinations that ICMP reported as unreachable, in the
// form that Pack returns, and returns their number. It returns each report once, but
// there may be several reports about an address. The Conn stores at most a few thousand
// reports. Unreachable never waits.
func (c *Conn) Unreachable(addrs []uint64) (n int) {
	q := &c.icmp
	q.mu.Lock()
	defer q.mu.Unlock()
	n = copy(addrs, q.addrs)
	q.addrs = q.addrs[:copy(q.addrs, q.addrs[n:])]
	return n
}

func (c *Conn) readKernel(s *Stats) {
	s.KernelDrops, s.RecvQueued = c.drops.total(c.icmp.raw)
}

// Interrupt makes Recv return early. If no Recv is waiting, the next Recv that would
// wait returns early.
func (c *Conn) Interrupt() { c.sock.interrupt() }
