package loopback

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
	batch       = 64      // datagrams per system call
	requestSize = 64      // longer than any request; longer datagrams are truncated
	controlSize = 128     // room for PKTINFO, the count of drops and the timestamp
	flushBytes  = 1 << 20 // answers are sent once they exceed this many bytes
)

// Handler answers the queries of one port.
type Handler interface {
	// Has reports whether a server may be at the packed address.
	Has(server uint64) bool
	// Respond adds the answer of the server at a packed address to Out. It adds
	// nothing if the server does not answer.
	Respond(now time.Duration, client, server uint64, datagram []byte)
	// Out returns the Outbox for the answers, and the counters.
	Out() (*Outbox, *Stats)
}

// Port is one socket and the handler that answers on it.
type Port struct {
	handler Handler
	faults  *Faults
	out     *Outbox
	stats   *Stats

	number uint16
	conn   *udp.Unpolled
	stray  *net.UDPConn // sends stray Datagrams; nil: there are none
	pc     *ipv4.PacketConn
	in     []ipv4.Message
	send   []ipv4.Message
	drops  uint32 // the kernel's last count of drops
	came   int64  // receive timestamp of the last query, Unix time in ns; 0: not measured
	holds  holds

	closed atomic.Bool

	mu   sync.Mutex
	seen Stats // for Stats
}

// NewPort returns a Port on which h answers. Open must have returned conn. The Port
// takes over conn, even if NewPort returns an error.
func NewPort(conn, stray *net.UDPConn, h Handler, f *Faults) (*Port, error) {
	number := Number(conn)
	unpolled, err := udp.Unpoll(conn)
	if err != nil {
		return nil, err
	}
	p := &Port{
		handler: h, faults: f,
		number: number, conn: unpolled, stray: stray,
		pc:   ipv4.NewPacketConn(unpolled),
		in:   make([]ipv4.Message, batch),
		send: make([]ipv4.Message, batch),
	}
	p.out, p.stats = h.Out()
	for i := range p.in {
		p.in[i].Buffers = [][]byte{make([]byte, requestSize)}
		p.in[i].OOB = make([]byte, controlSize)
		p.send[i].Buffers = make([][]byte, 1)
		p.send[i].OOB = unix.PktInfo4(&unix.Inet4Pktinfo{})
		p.send[i].Addr = &net.UDPAddr{IP: make(net.IP, net.IPv4len)}
	}
	return p, nil
}

// Number returns the port number of a socket.
func Number(conn *net.UDPConn) uint16 { return conn.LocalAddr().(*net.UDPAddr).AddrPort().Port() }

// Number returns the port number of p.
func (p *Port) Number() uint16 { return p.number }

// lookUp is how long a port waits for a query before it checks whether End was
// called.
const lookUp = 20 * time.Millisecond

// Serve answers until ctx is done or End is called. The times that the handler gets
// are measured from start.
func (p *Port) Serve(ctx context.Context, start time.Time) error {
	for ctx.Err() == nil && !p.closed.Load() {
		p.conn.Timeout = p.readTimeout(time.Since(start))
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
		p.publish()
	}
	return nil
}

// End makes Serve return soon.
func (p *Port) End() { p.closed.Store(true) }

// Close closes the socket. It must not be called before Serve has returned.
func (p *Port) Close() error { return p.conn.Close() }

// Stats returns the counts, up to the last batch.
func (p *Port) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// readTimeout returns how long the next read may wait: until a held reply is due,
// but at most lookUp.
func (p *Port) readTimeout(now time.Duration) time.Duration {
	if due, ok := p.faults.held.next(); ok {
		return max(0, min(due-now, lookUp))
	}
	return lookUp
}

// take has the handler answer a datagram, unless it comes from outside Network, is
// not for this fleet, or is lost on purpose.
func (p *Port) take(now time.Duration, m *ipv4.Message) {
	server := p.arrival(m.OOB[:m.NN])<<16 | uint64(p.number)
	client := udp.Pack(m.Addr.(*net.UDPAddr).AddrPort())
	switch {
	case !Inside(client) || !Inside(server):
		p.stats.Walled++
		return
	case !p.handler.Has(server):
		p.stats.Foreign++
		return
	case p.faults.losesQuery():
		p.stats.LostQueries++
		return
	}
	first := len(p.out.List)
	p.handler.Respond(now, client, server, m.Buffers[0][:m.N])
	for i := first; i < len(p.out.List); i++ {
		p.out.List[i].came = p.came
	}
	if p.faults.any() {
		p.faults.apply(now, p.out, first, p.stats)
	}
	if len(p.out.List) >= batch || len(p.out.Data) > flushBytes {
		p.flush()
	}
}

// arrival returns the IPv4 address to which a datagram was sent, as a number, or 0
// if its control messages do not contain it. It also reads the kernel's count of
// drops and receive timestamp.
func (p *Port) arrival(control []byte) (ip uint64) {
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
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS:
			p.came = udp.Stamp(data)
		}
		control = rest
	}
	return ip
}

// ipiAddr returns the destination in a PKTINFO message, or 0 if the message is too short.
func ipiAddr(data []byte) uint64 {
	if len(data) < unix.SizeofInet4Pktinfo {
		return 0
	}
	return uint64(binary.BigEndian.Uint32(data[8:])) // ifindex, spec_dst, addr
}

// flush sends the datagrams in the Outbox.
func (p *Port) flush() {
	n := 0
	for i := range p.out.List {
		d := &p.out.List[i]
		if d.Stray {
			p.sendStray(d)
			continue
		}
		p.set(&p.send[n], d)
		p.holds.add(d)
		if n++; n == len(p.send) {
			p.write(p.send)
			n = 0
		}
	}
	p.write(p.send[:n])
	p.out.Reset()
}

// set prepares m to send the datagram d.
func (p *Port) set(m *ipv4.Message, d *Datagram) {
	m.Buffers[0] = p.out.Bytes(d)
	setSource(m.OOB, d.From)
	to := m.Addr.(*net.UDPAddr)
	binary.BigEndian.PutUint32(to.IP, uint32(d.To>>16))
	to.Port = int(uint16(d.To))
}

// setSource sets the source address of a datagram in a PKTINFO control message.
func setSource(control []byte, from uint64) {
	binary.BigEndian.PutUint32(control[unix.CmsgLen(0)+4:], uint32(from>>16)) // ipi_spec_dst
}

// write sends ms. After an error it skips the first message that was not sent,
// which caused the error.
func (p *Port) write(ms []ipv4.Message) {
	for len(ms) > 0 {
		begun := p.holds.now()
		n, err := p.pc.WriteBatch(ms, 0)
		p.holds.sent(ms[:max(n, 0)], begun)
		if err != nil || n <= 0 {
			p.holds.skip()
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

// sendStray sends a datagram from the port of p.stray, which was not queried.
func (p *Port) sendStray(d *Datagram) {
	control := unix.PktInfo4(&unix.Inet4Pktinfo{})
	setSource(control, d.From)
	_, _, err := p.stray.WriteMsgUDPAddrPort(p.out.Bytes(d), control, udp.Unpack(d.To))
	if err != nil {
		p.stats.SendErrors++
		return
	}
	p.stats.Replies++
	p.stats.ReplyBytes += uint64(d.end - d.off)
}

// publish makes the current counters available to Stats.
func (p *Port) publish() {
	p.mu.Lock()
	p.seen = *p.stats
	p.mu.Unlock()
}
