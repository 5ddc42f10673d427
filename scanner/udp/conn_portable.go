//go:build !linux || portable

package udp

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Conn is a UDP socket over IPv4.
type Conn struct {
	sock        *net.UDPConn
	bufs        [][]byte    // the buffers that Recv fills
	interrupted atomic.Bool // Interrupt was called; the next Recv that would wait returns early

	stats  counters
	source netip.AddrPort
}

func (cfg Config) newConn(sock *net.UDPConn) (*Conn, error) {
	if cfg.RecvBuffer > 0 {
		sock.SetReadBuffer(cfg.RecvBuffer)
	}
	if cfg.SendBuffer > 0 {
		sock.SetWriteBuffer(cfg.SendBuffer)
	}
	c := &Conn{sock: sock, bufs: make([][]byte, maxBatch)}
	room := make([]byte, maxBatch*bufferSize)
	for i := range c.bufs {
		c.bufs[i] = room[i*bufferSize : (i+1)*bufferSize : (i+1)*bufferSize]
	}
	return c, nil
}

// leastWait is the minimum time that Recv waits for a datagram. Package net has no
// non-blocking read, and a read whose deadline has passed returns nothing.
const leastWait = 50 * time.Microsecond

// Recv is like Recv on Linux, but waits at least 50 µs for a datagram.
func (c *Conn) Recv(ps []Packet, wait time.Duration) (n int, err error) {
	ps = ps[:min(len(ps), len(c.bufs))]
	end := time.Now().Add(max(wait, leastWait))
	for n < len(ps) {
		if err := c.sock.SetReadDeadline(end); err != nil {
			return n, closedOr(err)
		}
		if n == 0 && wait > 0 && c.interrupted.Swap(false) {
			return 0, nil
		}
		size, from, err := c.sock.ReadFromUDPAddrPort(c.bufs[n])
		c.stats.count(func(s *Stats) { s.Reads++ })
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if n == 0 && wait > 0 {
				c.interrupted.Store(false)
			}
			return n, nil
		case isICMP(errnoOf(err)):
		case err != nil && n > 0:
			return n, nil // the next call returns the error
		case err != nil:
			return 0, closedOr(err)
		default:
			ps[n] = Packet{Addr: Pack(from), Data: c.bufs[n][:size]}
			c.stats.count(func(s *Stats) {
				s.Received++
				s.ReceivedBytes += uint64(size)
			})
			if n++; n == 1 {
				end = time.Now().Add(leastWait)
			}
		}
	}
	return n, nil
}

// Send is like Send on Linux, but may wait for room in the socket's buffer.
func (c *Conn) Send(ps []Packet) (n int, err error) {
	for i := range ps {
		ps[i].GSO = false
		err := c.write(&ps[i])
		if isICMP(errnoOf(err)) {
			// The error may be about a datagram that was sent before this one. The system
			// reports such an error only once.
			err = c.write(&ps[i])
		}
		if err != nil {
			return i, sendError(err)
		}
	}
	return len(ps), nil
}

func (c *Conn) write(p *Packet) error {
	n, err := c.sock.WriteToUDPAddrPort(p.Data, Unpack(p.Addr))
	c.stats.count(func(s *Stats) {
		if s.Writes++; err == nil {
			s.Sent++
			s.SentBytes += uint64(n)
		}
	})
	return err
}

// Unreachable returns 0: on this system the Conn does not learn which destinations
// are unreachable.
func (c *Conn) Unreachable(addrs []uint64) (n int) { return 0 }

func (c *Conn) readKernel(*Stats) {}

// setOptions sets the options before the socket is bound. Package net allows
// broadcast on every UDP socket. A scanner must not send broadcasts.
func (cfg Config) setOptions(fd uintptr) error {
	err := syscall.SetsockoptInt(handle(fd), syscall.SOL_SOCKET, syscall.SO_BROADCAST, 0)
	return os.NewSyscallError("setsockopt", err)
}

func bufferSizes(fd uintptr) (recv, send int) {
	recv, _ = syscall.GetsockoptInt(handle(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	send, _ = syscall.GetsockoptInt(handle(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
	return recv, send
}

// Interrupt makes Recv return early. If no Recv is waiting, the next Recv that would
// wait returns early.
func (c *Conn) Interrupt() {
	c.interrupted.Store(true)
	c.sock.SetReadDeadline(time.Unix(1, 0))
}
