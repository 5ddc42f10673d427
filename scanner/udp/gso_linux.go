//go:build !portable

package udp

import (
	"encoding/binary"
	"net"
	"unsafe"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// outBatch holds the messages that Send fills for each batch. A message is one datagram,
// or two with a segment size (generic segmentation offload): the kernel handles the two as
// one and splits them after routing, filters and queues, or leaves the split to the
// network card (udp(7), UDP_SEGMENT).
type outBatch struct {
	room []ipv4.Message
	oob  []byte // control messages with the segment size, one for each message
	gso  bool
	// doubt means that GSO was turned off because of an EINVAL that may have another cause.
	doubt bool
}

// segmentSpace is the size in bytes of the control message with a segment size.
var segmentSpace = unix.CmsgSpace(2)

// newOutBatch returns an outBatch with n messages. fill rewrites their addresses in
// place.
func newOutBatch(n int) *outBatch {
	b := &outBatch{room: make([]ipv4.Message, n), oob: make([]byte, n*segmentSpace)}
	addrs := make([]net.UDPAddr, n)
	ips := make([]byte, n*net.IPv4len)
	vecs := make([][]byte, 2*n)
	for i := range b.room {
		addrs[i].IP = ips[i*net.IPv4len : (i+1)*net.IPv4len]
		b.room[i].Addr = &addrs[i]
		b.room[i].Buffers = vecs[2*i : 2*i+1 : 2*i+2]
		h := (*unix.Cmsghdr)(unsafe.Pointer(&b.segment(i)[0])) // fill changes only the data after the header
		h.Level, h.Type = unix.SOL_UDP, unix.UDP_SEGMENT
		h.SetLen(unix.CmsgLen(2))
	}
	return b
}

// fill fills messages with ps, which must not exceed a batch. It clears the GSO field of a
// packet that it can't combine with the next packet. The messages are valid until the next
// fill.
func (b *outBatch) fill(ps []Packet) []ipv4.Message {
	n := 0
	for i := 0; i < len(ps); i++ {
		p, m := &ps[i], &b.room[n]
		to := m.Addr.(*net.UDPAddr)
		binary.BigEndian.PutUint32(to.IP, uint32(p.Addr>>16))
		to.Port = int(uint16(p.Addr))
		m.Buffers, m.OOB = m.Buffers[:1], nil
		m.Buffers[0] = p.Data
		if p.GSO = p.GSO && b.gso && i+1 < len(ps) && p.Addr == ps[i+1].Addr &&
			len(p.Data) == len(ps[i+1].Data) && len(p.Data) > 0 && len(p.Data) <= maxSegment; p.GSO {
			i++
			m.Buffers, m.OOB = m.Buffers[:2], b.segment(n)
			m.Buffers[1], ps[i].GSO = ps[i].Data, false
			binary.NativeEndian.PutUint16(m.OOB[unix.CmsgLen(0):], uint16(len(p.Data)))
		}
		n++
	}
	return b.room[:n]
}

// maxSegment is the maximum length in bytes of a datagram for GSO. It is well below the MTU
// of any network. For a datagram longer than the MTU, the kernel returns an error that may
// have other causes, too.
const maxSegment = 512

func (b *outBatch) segment(i int) []byte {
	return b.oob[i*segmentSpace : (i+1)*segmentSpace : (i+1)*segmentSpace]
}

// stopGSO reports whether GSO may be the cause of err, the error with which the kernel
// refused m. If so, it turns GSO off. A device that can't compute checksums causes EIO,
// and some devices cause EINVAL; neither fault shows before a message is sent.
func (b *outBatch) stopGSO(m *ipv4.Message, err error) bool {
	errno := errnoOf(err)
	if len(m.Buffers) == 1 || errno != unix.EIO && errno != unix.EINVAL {
		return false
	}
	b.gso, b.doubt = false, errno == unix.EINVAL
	return true
}

// resolve decides, after a write without GSO, whether GSO caused the preceding error. If
// this write fails, too, the cause is another one, such as a source address that was
// removed, and resolve turns GSO on again.
func (b *outBatch) resolve(err error) {
	if b.doubt {
		b.gso, b.doubt = err != nil, false
	}
}
