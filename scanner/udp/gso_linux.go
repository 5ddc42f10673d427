//go:build !portable

package udp

import (
	"encoding/binary"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// outBatch are the messages that Send fills anew for each batch. A message is a
// datagram, or two that are joined: the kernel takes them as one with the order
// to cut it in two, which it does behind routing, filters and queues, or has
// the network card do (udp(7), UDP_SEGMENT).
type outBatch struct {
	room []ipv4.Message
	oob  []byte // of each message in room, the order to cut it
	gso  bool
}

// segmentSpace is the room for the order to cut a message.
var segmentSpace = unix.CmsgSpace(2)

// newOutBatch returns room for n messages, whose addresses are rewritten in
// place.
func newOutBatch(n int, gso bool) *outBatch {
	b := &outBatch{room: make([]ipv4.Message, n), oob: make([]byte, n*segmentSpace), gso: gso}
	addrs := make([]net.UDPAddr, n)
	ips := make([]byte, n*net.IPv4len)
	vecs := make([][]byte, 2*n)
	for i := range b.room {
		addrs[i].IP = ips[i*net.IPv4len : (i+1)*net.IPv4len]
		b.room[i].Addr = &addrs[i]
		b.room[i].Buffers = vecs[2*i : 2*i+1 : 2*i+2]
		putSegmentHeader(b.segment(i))
	}
	return b
}

// canSegment reports whether the kernel of sock can cut messages: one that can't
// would send them as they are.
func canSegment(sock syscall.Conn) (can bool) {
	raw, err := sock.SyscallConn()
	if err != nil {
		return false
	}
	raw.Control(func(fd uintptr) {
		_, err := unix.GetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_SEGMENT)
		can = err == nil
	})
	return can
}

// fill makes messages of ps, which are no more than there is room for, and
// takes the mark away from those that are not joined. The messages are valid
// until the next fill.
func (b *outBatch) fill(ps []Packet) []ipv4.Message {
	n := 0
	for i := 0; i < len(ps); i++ {
		p, m := &ps[i], &b.room[n]
		setUDP(m.Addr.(*net.UDPAddr), p.Addr)
		m.Buffers, m.OOB = m.Buffers[:1], nil
		m.Buffers[0] = p.Data
		if p.GSO = p.GSO && b.gso && i+1 < len(ps) && alike(p, &ps[i+1]); p.GSO {
			i++
			m.Buffers, m.OOB = m.Buffers[:2], b.segment(n)
			m.Buffers[1], ps[i].GSO = ps[i].Data, false
			binary.NativeEndian.PutUint16(m.OOB[unix.CmsgLen(0):], uint16(len(p.Data)))
		}
		n++
	}
	return b.room[:n]
}

// maxSegment is how long a datagram may be that is joined: shorter than what any
// network takes in one piece. Of a longer one the kernel would say that it is
// too long, or not say what is wrong.
const maxSegment = 512

// alike reports whether p and q can be joined.
func alike(p, q *Packet) bool {
	n := len(p.Data)
	return p.Addr == q.Addr && n == len(q.Data) && n > 0 && n <= maxSegment
}

// segment is the segment to cut message i.
func (b *outBatch) segment(i int) []byte {
	return b.oob[i*segmentSpace : (i+1)*segmentSpace : (i+1)*segmentSpace]
}

// putSegmentHeader fills in what is the same for every order.
func putSegmentHeader(oob []byte) {
	h := (*unix.Cmsghdr)(unsafe.Pointer(&oob[0]))
	h.Level, h.Type = unix.SOL_UDP, unix.UDP_SEGMENT
	h.SetLen(unix.CmsgLen(2))
}

// stopGSO reports whether err, with which the kernel refused m, may be for its
// being joined; then nothing is joined any more. A device that can't compute
// checksums refuses with EIO, some with EINVAL, as soon as something is sent.
func (b *outBatch) stopGSO(m *ipv4.Message, err error) bool {
	errno := errnoOf(err)
	if len(m.Buffers) == 1 || errno != unix.EIO && errno != unix.EINVAL {
		return false
	}
	b.gso = false
	return true
}

// datagrams returns how many ms are.
func datagrams(ms []ipv4.Message) (n int) {
	for i := range ms {
		n += len(ms[i].Buffers)
	}
	return n
}

func setUDP(a *net.UDPAddr, addr uint64) {
	binary.BigEndian.PutUint32(a.IP, uint32(addr>>16))
	a.Port = int(uint16(addr))
}
