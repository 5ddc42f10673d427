package fleet

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// The sizes of a port's batches.
const (
	batch       = 64      // datagrams a system call
	requestSize = 64      // longer than any request; what is cut here is none
	controlSize = 128     // room for PKTINFO and the count of drops
	flushBytes  = 1 << 20 // answers are sent when they are this many bytes
)

// port is one socket and what answers on it.
type port struct {
	*responder
	*faults
	number uint16
	conn   *udp.Unpolled
	pc     *ipv4.PacketConn
	in     []ipv4.Message
	send   []ipv4.Message
	drops  uint32 // the kernel's count of drops, as last seen

	closed atomic.Bool

	mu   sync.Mutex
	seen Stats // for Fleet.Stats
}

func newPort(m *model, number uint16, conn *udp.Unpolled) *port {
	p := &port{
		responder: newResponder(m, number),
		faults:    newFaults(m, number),
		number:    number,
		conn:      conn,
		pc:        ipv4.NewPacketConn(conn),
		in:        make([]ipv4.Message, batch),
		send:      make([]ipv4.Message, batch),
	}
	for i := range p.in {
		p.in[i].Buffers = [][]byte{make([]byte, requestSize)}
		p.in[i].OOB = make([]byte, controlSize)
		p.send[i].Buffers = make([][]byte, 1)
		p.send[i].OOB = unix.PktInfo4(&unix.Inet4Pktinfo{})
		p.send[i].Addr = &net.UDPAddr{IP: make(net.IP, net.IPv4len)}
	}
	return p
}

// lookUp is how long a port waits for a query before it looks whether it is
// still wanted.
const lookUp = 20 * time.Millisecond

// serve answers until ctx is done or the port is closed.
func (p *port) serve(ctx context.Context, start time.Time, stray *net.UDPConn) error {
	return p.loop(ctx, start, func(now time.Duration, m *ipv4.Message) { p.take(now, m, stray) }, stray)
}

// loop gives take every datagram that comes, and sends what that puts into the
// outbox, until ctx is done or the port is closed.
func (p *port) loop(
	ctx context.Context, start time.Time, take func(time.Duration, *ipv4.Message), stray *net.UDPConn,
) error {
	for ctx.Err() == nil && !p.closed.Load() {
		p.conn.Patience = p.patience(time.Since(start))
		n, err := p.pc.ReadBatch(p.in, 0)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			n = 0
		case err != nil:
			return err
		}
		now := time.Since(start)
		p.held.release(now, &p.out)
		for i := range p.in[:n] {
			take(now, &p.in[i])
		}
		p.flush(stray)
		p.publish()
	}
	return nil
}

// patience is how long the next read may wait: until a reply that is held back
// is due.
func (p *port) patience(now time.Duration) time.Duration {
	if due, ok := p.held.next(); ok {
		return max(0, min(due-now, lookUp))
	}
	return lookUp
}

// take answers one datagram, unless it has no business here.
func (p *port) take(now time.Duration, m *ipv4.Message, stray *net.UDPConn) {
	server := p.arrival(m.OOB[:m.NN])<<16 | uint64(p.number)
	client := pack(m.Addr.(*net.UDPAddr).AddrPort())
	if !walled(client) || !walled(server) {
		p.stats.Walled++
		return
	}
	if _, ok := p.m.index(server); !ok {
		p.stats.Foreign++
		return
	}
	if p.losesQuery() {
		p.stats.LostQueries++
		return
	}
	first := len(p.out.list)
	p.respond(now, client, server, m.Buffers[0][:m.N])
	if p.m.faulty() {
		p.apply(now, &p.out, first, &p.stats)
	}
	if len(p.out.list) >= batch || len(p.out.data) > flushBytes {
		p.flush(stray)
	}
}

// arrival returns the IPv4 address that a datagram was for, as a number; 0 if
// its control messages don't say. On the way it counts the kernel's drops.
func (p *port) arrival(control []byte) (ip uint64) {
	for len(control) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return ip
		}
		switch {
		case len(data) < 4:
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO:
			ip = ipiAddr(data)
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL:
			drops := binary.NativeEndian.Uint32(data)
			p.stats.KernelDrops += uint64(drops - p.drops) // it wraps
			p.drops = drops
		}
		control = rest
	}
	return ip
}

// ipiAddr returns the destination that a PKTINFO message holds, 0 if it is cut.
func ipiAddr(data []byte) uint64 {
	if len(data) < unix.SizeofInet4Pktinfo {
		return 0
	}
	return uint64(binary.BigEndian.Uint32(data[8:])) // ifindex, spec_dst, addr
}

// flush sends what is in the outbox.
func (p *port) flush(stray *net.UDPConn) {
	n := 0
	for i := range p.out.list {
		d := &p.out.list[i]
		if d.stray {
			p.sendStray(stray, d)
			continue
		}
		p.set(&p.send[n], d)
		if n++; n == len(p.send) {
			p.write(p.send)
			n = 0
		}
	}
	p.write(p.send[:n])
	p.out.reset()
}

// set makes m the datagram d.
func (p *port) set(m *ipv4.Message, d *outgoing) {
	m.Buffers[0] = p.out.bytes(d)
	setSource(m.OOB, d.from)
	to := m.Addr.(*net.UDPAddr)
	binary.BigEndian.PutUint32(to.IP, uint32(d.to>>16))
	to.Port = int(uint16(d.to))
}

// setSource writes into a PKTINFO control message from which address a
// datagram is to be sent.
func setSource(control []byte, from uint64) {
	binary.BigEndian.PutUint32(control[unix.CmsgLen(0)+4:], uint32(from>>16)) // ipi_spec_dst
}

// write sends ms. After an error the first one that was not sent is to blame,
// and left out.
func (p *port) write(ms []ipv4.Message) {
	for len(ms) > 0 {
		n, err := p.pc.WriteBatch(ms, 0)
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

// sendStray sends a datagram from the port that nobody asked.
func (p *port) sendStray(stray *net.UDPConn, d *outgoing) {
	control := unix.PktInfo4(&unix.Inet4Pktinfo{})
	setSource(control, d.from)
	_, _, err := stray.WriteMsgUDPAddrPort(p.out.bytes(d), control, unpack(d.to))
	if err != nil {
		p.stats.SendErrors++
		return
	}
	p.stats.Replies++
	p.stats.ReplyBytes += uint64(d.end - d.off)
}

// publish makes the numbers visible to Fleet.Stats.
func (p *port) publish() {
	p.mu.Lock()
	p.seen = p.stats
	p.mu.Unlock()
}
