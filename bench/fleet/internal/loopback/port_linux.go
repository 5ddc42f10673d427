package loopback

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
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
	controlSize = 128     // room for PKTINFO and the count of drops
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

// Port is one socket, and the handler that answers on it.
type Port struct {
	Stray *Port // sends stray Datagrams; nil: there are none

	handler Handler
	faults  *Faults
	out     *Outbox
	stats   *Stats

	number uint16
	conn   *udp.Unpolled
	pc     *ipv4.PacketConn
	in     []ipv4.Message
	send   []ipv4.Message
	drops  uint32 // the kernel's last count of drops

	closed atomic.Bool

	mu   sync.Mutex
	seen Stats // for Stats
}

// Open opens a socket on a port of every address of the device lo. Port 0 stands
// for a port that no other socket on this machine's loopback has. Answer must be
// called before Serve.
func Open(number uint16) (*Port, error) {
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
	return p, nil
}

// Answer makes h answer on the port, over a network with the faults f.
func (p *Port) Answer(h Handler, f *Faults) {
	p.handler, p.faults = h, f
	p.out, p.stats = h.Out()
}

// SyscallConn returns the socket.
func (p *Port) SyscallConn() (syscall.RawConn, error) { return p.conn.SyscallConn() }

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
	if p.faults.any() {
		p.faults.apply(now, p.out, first, p.stats)
	}
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
				ip = uint64(binary.BigEndian.Uint32(data[8:])) // ifindex, spec_dst, addr
			}
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL:
			drops := binary.NativeEndian.Uint32(data)
			p.stats.KernelDrops += uint64(drops - p.drops) // it wraps
			p.drops = drops
		}
		control = rest
	}
	return ip
}

// flush sends the datagrams in the Outbox.
func (p *Port) flush() {
	n := 0
	for i := range p.out.List {
		d := &p.out.List[i]
		m := &p.send[n]
		m.Buffers[0] = p.out.Bytes(d)
		binary.BigEndian.PutUint32(m.OOB[unix.CmsgLen(0)+4:], uint32(d.From>>16)) // ipi_spec_dst of PKTINFO: the source
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

// publish makes the current counters available to Stats.
func (p *Port) publish() {
	p.mu.Lock()
	p.seen = *p.stats
	p.mu.Unlock()
}
