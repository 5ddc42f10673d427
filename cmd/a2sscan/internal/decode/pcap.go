package decode

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"

	"github.com/a2sscan/a2sscan/wire"
)

const pcapngMagic = "\x0a\x0d\x0d\x0a"

// maxPacket is the maximum length of a packet or block in bytes. tcpdump captures at most
// 256 KiB of a packet.
const maxPacket = 1 << 20

var errCapture = errors.New("the capture is damaged: a packet or block has an impossible length")

type pcapStats struct {
	Packets   int
	Replies   int  // datagrams from servers
	Cut       int  // truncated packets
	Fragments int  // IPv4 fragments of UDP datagrams
	IPv6      int  // IPv6 packets
	Truncated bool // the file ends in the middle of a packet
}

// readPcap reads a pcap or pcapng file and returns the datagrams from servers. It
// skips packets that are not UDP over IPv4, and IP fragments. If reading fails, it also
// returns what it has read so far.
func readPcap(in *bufio.Reader) ([]*sender, pcapStats, error) {
	p := pcapReader{
		in:      in,
		senders: senders{byAddr: map[netip.AddrPort]*sender{}},
		queried: map[netip.AddrPort]bool{},
	}
	read := p.readClassic
	if b, _ := in.Peek(4); string(b) == pcapngMagic {
		read = p.readBlocks
	}
	err := read()
	switch err {
	case io.ErrUnexpectedEOF:
		p.stats.Truncated = true
		err = nil
	case io.EOF:
		err = nil
	}
	return p.senders.all, p.stats, err
}

type pcapReader struct {
	in      *bufio.Reader
	buf     []byte
	senders senders
	queried map[netip.AddrPort]bool // servers that received a request
	stats   pcapStats
}

// take returns the next n bytes, which are valid until the next call. At the end of the
// file it returns io.EOF.
func (p *pcapReader) take(n uint32) ([]byte, error) {
	if n > maxPacket {
		return nil, errCapture
	}
	if int(n) > cap(p.buf) {
		p.buf = make([]byte, n)
	}
	_, err := io.ReadFull(p.in, p.buf[:n])
	return p.buf[:n], err
}

// rest is like take, but returns io.ErrUnexpectedEOF if the file ends before the n bytes.
func (p *pcapReader) rest(n uint32) ([]byte, error) {
	b, err := p.take(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// readClassic reads a pcap file. The file begins with a header of 24 bytes, and each packet
// has a header of 16 bytes.
func (p *pcapReader) readClassic() error {
	header, err := p.rest(24)
	if err != nil {
		return err
	}
	var order binary.ByteOrder = binary.LittleEndian
	if header[0] == 0xA1 {
		order = binary.BigEndian
	}
	link := uint16(order.Uint32(header[20:]))
	for {
		b, err := p.take(16)
		if err != nil {
			return err
		}
		data, err := p.rest(order.Uint32(b[8:]))
		if err != nil {
			return err
		}
		p.addPacket(data, link)
	}
}

// The types of the pcapng blocks that readBlocks needs.
const (
	blockSection  = 0x0A0D0D0A // begins a section, and states its byte order
	blockLink     = 1          // describes an interface
	blockSimple   = 3          // a packet of the first interface
	blockEnhanced = 6          // a packet
)

// readBlocks reads a pcapng file. Each block has its type and length, the body, and the
// length again.
func (p *pcapReader) readBlocks() error {
	var order binary.ByteOrder = binary.LittleEndian
	var links []uint16 // link type of each interface
	for {
		b, err := p.take(8)
		if err != nil {
			return err
		}
		kind, length := order.Uint32(b), [4]byte(b[4:])
		if kind == blockSection { // this type has the same bytes in both byte orders
			magic, err := p.in.Peek(4)
			if err != nil {
				return io.ErrUnexpectedEOF
			}
			links, order = nil, binary.LittleEndian
			if string(magic) == "\x1A\x2B\x3C\x4D" {
				order = binary.BigEndian
			}
		}
		n := order.Uint32(length[:])
		if n < 12 || n%4 != 0 {
			return errCapture
		}
		if b, err = p.rest(n - 8); err != nil {
			return err
		}
		b = b[:len(b)-4]
		switch {
		case kind == blockLink && len(b) >= 2:
			links = append(links, order.Uint16(b))
		case kind == blockSimple && len(b) >= 4 && len(links) > 0:
			data := b[4:]
			p.addPacket(data[:min(uint32(len(data)), order.Uint32(b))], links[0])
		case kind == blockEnhanced && len(b) >= 20 && order.Uint32(b) < uint32(len(links)):
			data := b[20:]
			p.addPacket(data[:min(uint32(len(data)), order.Uint32(b[12:]))], links[order.Uint32(b)])
		}
	}
}

// The link types that can carry IP, by their numbers in a capture. Null and Loop are
// the BSDs' loopback. RawBSD is raw IP on the BSDs, and RawOpen on OpenBSD. Cooked and
// Cooked2 are Linux's pseudo-device for all interfaces.
const (
	linkNull     = 0
	linkEthernet = 1
	linkRawBSD   = 12
	linkRawOpen  = 14
	linkRaw      = 101
	linkLoop     = 108
	linkCooked   = 113
	linkIPv4     = 228
	linkIPv6     = 229
	linkCooked2  = 276
)

// network returns the IP packet inside a packet of a link, or nil if there is none.
func network(data []byte, link uint16) []byte {
	// The offsets of the protocol number (at) and of the IP packet (after).
	at, after := 0, 0
	switch link {
	case linkRawBSD, linkRawOpen, linkRaw, linkIPv4, linkIPv6:
		return data
	case linkNull, linkLoop:
		return data[min(4, len(data)):]
	case linkEthernet:
		at, after = 12, 14
	case linkCooked:
		at, after = 14, 16
	case linkCooked2:
		at, after = 0, 20
	default:
		return nil
	}
	for len(data) >= after && len(data) >= at+2 {
		switch binary.BigEndian.Uint16(data[at:]) {
		case 0x0800, 0x86DD: // IPv4, IPv6
			return data[after:]
		case 0x8100, 0x88A8, 0x9100: // VLAN tags
			data = data[after:]
			at, after = 2, 4
		default:
			return nil
		}
	}
	return nil
}

// addPacket handles one packet. It ignores everything but UDP over IPv4.
func (p *pcapReader) addPacket(data []byte, link uint16) {
	p.stats.Packets++
	ip := network(data, link)
	if len(ip) > 0 && ip[0]>>4 == 6 {
		p.stats.IPv6++
	}
	if len(ip) < 20 || ip[0]>>4 != 4 {
		return
	}
	head, total := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
	const udp, fragmented = 17, 0x3FFF // fragmented is a mask for two fields: the flag for more fragments, and the offset
	switch {
	case ip[9] != udp:
		return
	case binary.BigEndian.Uint16(ip[6:])&fragmented != 0:
		p.stats.Fragments++
		return
	case total > 0 && total < len(ip): // cut off Ethernet padding; total is 0 if the network card segments the packet
		ip = ip[:total]
	}
	const header = 8
	b := ip[min(max(head, 20), len(ip)):]
	n := 0 // length of the datagram
	if len(b) >= header {
		n = int(binary.BigEndian.Uint16(b[4:]))
	}
	if n < header || n > len(b) {
		p.stats.Cut++
		return
	}
	from := endpoint(ip[12:16], binary.BigEndian.Uint16(b))
	to := endpoint(ip[16:20], binary.BigEndian.Uint16(b[2:]))
	switch payload := b[header:n]; {
	case wire.IsRequest(payload):
		p.queried[to] = true
	case wire.IsReply(payload), p.queried[from] && wire.IsSingle(payload):
		p.stats.Replies++
		p.senders.add(from, bytes.Clone(payload))
	}
}

func endpoint(ip []byte, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip)), port)
}
