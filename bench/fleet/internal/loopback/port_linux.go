package loopback

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// The sizes of a port's batches.
const (
	batch       = 64      // datagrams per system call
	requestSize = 64      // longer than any request; longer datagrams are truncated
	controlSize = 128     // room for the control messages PKTINFO and RXQ_OVFL
	flushBytes  = 1 << 20 // answers are sent once they exceed this many bytes
)

// Handler answers the queries of one port.
type Handler interface {
	// Has reports whether a server may be at the packed address.
	Has(server uint64) bool
	// Respond adds the answer of the server to the Outbox. It adds nothing if the server
	// does not answer. The addresses client and server are packed.
	Respond(now time.Duration, client, server uint64, datagram []byte)
	// Out returns the Outbox for the answers, and the counters.
	Out() (*Outbox, *Stats)
}

// Group holds the ports of a fleet.
type Group struct {
	Ports   []*Port
	serving sync.WaitGroup
}

// Open adds a port: a socket on all addresses of the device lo. If number is 0, the kernel
// chooses a free port. A port answers only if Port.Answer is called before Serve.
func (g *Group) Open(number uint16) (*Port, error) {
	conn, err := listen(number)
	if err != nil {
		return nil, err
	}
	number = conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	unpolled, err := udp.Unpoll(conn)
	if err != nil {
		return nil, err
	}
	p := &Port{
		number: number, conn: unpolled, pc: ipv4.NewPacketConn(unpolled),
		in:   make([]ipv4.Message, batch),
		send: make([]ipv4.Message, batch),
	}
	for i := range p.in {
		p.in[i].Buffers = [][]byte{make([]byte, requestSize)}
		p.in[i].OOB = make([]byte, controlSize)
		p.send[i].Buffers = make([][]byte, 1)
		p.send[i].OOB = unix.PktInfo4(&unix.Inet4Pktinfo{})
		p.send[i].Addr = &net.UDPAddr{IP: make(net.IP, net.IPv4len)}
	}
	g.Ports = append(g.Ports, p)
	return p, nil
}

// Serve answers on the ports that have a handler, until ctx is done or the Group is
// closed, and then returns nil. If a port fails, Serve stops and returns the port's error.
// Call Serve at most once.
func (g *Group) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	start := time.Now()
	for _, p := range g.Ports {
		if p.handler == nil {
			continue
		}
		g.serving.Go(func() {
			if err := p.serve(ctx, start); err != nil {
				stop(fmt.Errorf("fleet: port %d: %w", p.Number(), err))
			}
		})
	}
	g.serving.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// Close ends Serve and closes the sockets.
func (g *Group) Close() error {
	for _, p := range g.Ports {
		p.closed.Store(true)
	}
	g.serving.Wait()
	var errs []error
	for _, p := range g.Ports {
		errs = append(errs, p.conn.Close())
	}
	return errors.Join(errs...)
}

// Stats returns the sum of the statistics of all ports, without batches in progress.
func (g *Group) Stats() Stats {
	var sum Stats
	for _, p := range g.Ports {
		p.mu.Lock()
		sum.Add(&p.seen)
		p.mu.Unlock()
	}
	return sum
}

// Port is a socket with the handler that answers on it.
type Port struct {
	Stray *Port // sends the stray Datagrams; nil if the fleet sends none

	handler Handler
	faults  *Faults
	out     *Outbox
	stats   *Stats

	number uint16
	conn   *udp.Unpolled
	pc     *ipv4.PacketConn
	in     []ipv4.Message
	send   []ipv4.Message
	drops  uint32 // the last count of dropped datagrams that the kernel reported

	closed atomic.Bool

	mu   sync.Mutex
	seen Stats // copy of the statistics for Group.Stats
}

// recvBuffer is the size in bytes of the receive buffer requested for each socket.
// A query takes about 800 bytes of the buffer, so the buffer has room for the queries
// of 200 ms at 100,000 queries per second.
const recvBuffer = 16 << 20

// listen opens a socket on the device lo. The socket reports the destination of each
// datagram, and how many datagrams the kernel has dropped.
func listen(number uint16) (*net.UDPConn, error) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return nil, fmt.Errorf("can't find the device lo, to which the socket must be bound: %w", err)
	}
	if lo.Flags&net.FlagLoopback == 0 {
		return nil, errors.New("the device lo must be a loopback device, but is not")
	}
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		e := raw.Control(func(fd uintptr) {
			s := int(fd)
			err = errors.Join(
				unix.BindToDevice(s, "lo"),
				unix.SetsockoptInt(s, unix.IPPROTO_IP, unix.IP_PKTINFO, 1),
				unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1))
			if unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, recvBuffer) != nil {
				// Without privileges the kernel grants only the usual maximum.
				_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, recvBuffer)
			}
		})
		if err = errors.Join(e, err); err != nil {
			err = fmt.Errorf("can't bind the socket to the device lo, or can't make the socket report destinations and drops: %w", err)
		}
		return err
	}}
	at := netip.AddrPortFrom(netip.IPv4Unspecified(), number)
	conn, err := lc.ListenPacket(context.Background(), "udp4", at.String())
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return nil, no // return the cause alone: callers add the address if they need it
	}
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil
}

// whoIs is a datagram that every port of a fleet returns unchanged.
const whoIs = "a2sscan fleet?"

// IsFleet reports whether a port of this machine belongs to a running fleet.
func IsFleet(number uint16) bool {
	conn, err := net.Dial("udp4", netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), number).String())
	if err != nil {
		return false
	}
	defer conn.Close()
	b := make([]byte, requestSize)
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write([]byte(whoIs)) // after an error, Read fails too
	n, err := conn.Read(b)
	return err == nil && string(b[:n]) == whoIs
}

// Answer makes h answer on the port, over a network with the faults f.
func (p *Port) Answer(h Handler, f Faults) {
	p.handler, p.faults = h, f.start()
	p.out, p.stats = h.Out()
}

// SyscallConn returns access to the socket of p.
func (p *Port) SyscallConn() (syscall.RawConn, error) { return p.conn.SyscallConn() }

// Number returns the port number of p.
func (p *Port) Number() uint16 { return p.number }

// lookUp is the longest time for which a port waits for a query. After that time, the port
// checks whether it must end.
const lookUp = 20 * time.Millisecond

// serve answers until ctx is done or the Group is closed. The times that the handler gets
// count from start.
func (p *Port) serve(ctx context.Context, start time.Time) error {
	for ctx.Err() == nil && !p.closed.Load() {
		p.conn.Timeout = lookUp
		if due, ok := p.faults.held.next(); ok {
			p.conn.Timeout = max(0, min(due-time.Since(start), lookUp))
		}
		n, err := p.pc.ReadBatch(p.in, 0)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			n = 0
		case err != nil:
			return err
		}
		now := time.Since(start)
		p.faults.held.release(now, p.out)
		for i := range p.in[:n] {
			p.take(now, &p.in[i])
		}
		p.flush()
		p.mu.Lock()
		p.seen = *p.stats
		p.mu.Unlock()
	}
	return nil
}

// take passes a datagram to the handler. It drops datagrams from or to an address outside
// Network, datagrams that are not for this fleet, and those that Faults.Loss selects.
func (p *Port) take(now time.Duration, m *ipv4.Message) {
	server := p.arrival(m.OOB[:m.NN])<<16 | uint64(p.number)
	client := udp.Pack(m.Addr.(*net.UDPAddr).AddrPort())
	switch {
	case !Inside(client) || !Inside(server):
		p.stats.Walled++
		return
	case string(m.Buffers[0][:m.N]) == whoIs:
		off := len(p.out.Data)
		p.out.Data = append(p.out.Data, whoIs...)
		p.out.Add(server, off)
		p.out.List[len(p.out.List)-1].To = client
		return
	case !p.handler.Has(server):
		p.stats.Foreign++
		return
	case p.faults.random.Chance(p.faults.Loss):
		p.stats.LostQueries++
		return
	}
	first := len(p.out.List)
	p.handler.Respond(now, client, server, m.Buffers[0][:m.N])
	p.faults.apply(now, p.out, first, p.stats)
	if len(p.out.List) >= batch || len(p.out.Data) > flushBytes {
		p.flush()
	}
}

// arrival returns the IPv4 address to which a datagram was sent, as a number, or 0
// if its control messages do not contain it. It also reads the kernel's count of
// drops.
func (p *Port) arrival(control []byte) (ip uint64) {
	for len(control) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return ip
		}
		switch {
		case len(data) < 4:
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO:
			if len(data) >= unix.SizeofInet4Pktinfo {
				ip = uint64(binary.BigEndian.Uint32(data[8:])) // the field ipi_addr, which follows ipi_ifindex and ipi_spec_dst
			}
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL:
			drops := binary.NativeEndian.Uint32(data)
			p.stats.KernelDrops += uint64(drops - p.drops) // subtraction is right even after the counter has wrapped
			p.drops = drops
		}
		control = rest
	}
	return ip
}

func (p *Port) flush() {
	n := 0
	for i := range p.out.List {
		d := &p.out.List[i]
		m := &p.send[n]
		m.Buffers[0] = p.out.Bytes(d)
		// The field ipi_spec_dst of PKTINFO sets the source address.
		binary.BigEndian.PutUint32(m.OOB[unix.CmsgLen(0)+4:], uint32(d.From>>16))
		to := m.Addr.(*net.UDPAddr)
		binary.BigEndian.PutUint32(to.IP, uint32(d.To>>16))
		to.Port = int(uint16(d.To))
		if d.Stray {
			p.write(p.Stray.pc, p.send[n:n+1])
			continue
		}
		if n++; n == len(p.send) {
			p.write(p.pc, p.send)
			n = 0
		}
	}
	p.write(p.pc, p.send[:n])
	p.out.Reset()
}

// write sends ms. After an error it skips the first message that was not sent,
// which caused the error.
func (p *Port) write(pc *ipv4.PacketConn, ms []ipv4.Message) {
	for len(ms) > 0 {
		n, err := pc.WriteBatch(ms, 0)
		if err != nil || n <= 0 {
			p.stats.SendErrors++
			ms = ms[1:]
			continue
		}
		for i := range ms[:n] {
			p.stats.Replies++
			p.stats.ReplyBytes += uint64(len(ms[i].Buffers[0]))
		}
		ms = ms[n:]
	}
}
