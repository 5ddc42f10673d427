package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	// The maintained gopacket, and of it what is pure Go: no libpcap is needed.
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/ip4defrag"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/a2sscan/a2sscan/wire"
)

// maxFragmentAge is how long fragments of an IPv4 packet wait for the others,
// by the times of the capture: what Linux does.
const maxFragmentAge = 30 * time.Second

// isPcap reports whether a file that begins so is a pcap (of microseconds or
// nanoseconds, of either byte order) or a pcapng.
func isPcap(b []byte) bool {
	switch string(b) {
	case "\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1", pcapngMagic:
		return true
	}
	return false
}

const pcapngMagic = "\x0a\x0d\x0d\x0a"

// packets reads the packets of a capture file one after the other.
type packets struct {
	next     func() ([]byte, gopacket.CaptureInfo, error)
	linkType func(gopacket.CaptureInfo) layers.LinkType
}

func openPcap(in *bufio.Reader) (*packets, error) {
	if b, _ := in.Peek(4); string(b) == pcapngMagic {
		r, err := pcapgo.NewNgReader(in, pcapgo.NgReaderOptions{WantMixedLinkType: true})
		if err != nil {
			return nil, err
		}
		return &packets{r.ReadPacketData, func(ci gopacket.CaptureInfo) layers.LinkType {
			link, _ := ci.AncillaryData[0].(layers.LinkType)
			return link
		}}, nil
	}
	r, err := pcapgo.NewReader(in)
	if err != nil {
		return nil, err
	}
	one := func(gopacket.CaptureInfo) layers.LinkType { return r.LinkType() }
	return &packets{r.ReadPacketData, one}, nil
}

// pcap takes what servers said out of packets.
type pcap struct {
	to     *captures
	defrag *ip4defrag.IPv4Defragmenter
	asked  map[netip.AddrPort]bool
	swept  time.Time // when old fragments were thrown away

	packets int
	replies int
	cut     int // packets of which the capture holds only the beginning
}

// read takes in a capture. Torn says that the file ends inside a packet.
func (p *pcap) read(in *bufio.Reader) (torn bool, err error) {
	ps, err := openPcap(in)
	if err != nil {
		return false, err
	}
	p.defrag = ip4defrag.NewIPv4Defragmenter()
	p.asked = map[netip.AddrPort]bool{}
	for {
		data, ci, err := ps.next()
		switch {
		case err == io.EOF:
			return false, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err != nil:
			return false, err
		}
		p.packets++
		p.packet(data, ps.linkType(ci), ci)
	}
}

// packet takes in one packet, whatever it is.
func (p *pcap) packet(data []byte, link layers.LinkType, ci gopacket.CaptureInfo) {
	var first gopacket.Decoder = link
	if link == layers.LinkTypeIPv4 {
		first = layers.LayerTypeIPv4 // the link type itself has no decoder
	}
	all := gopacket.NewPacket(data, first, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	ip, ok := all.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	if !ok {
		return
	}
	p.sweep(ci.Timestamp)
	whole, err := p.defrag.DefragIPv4WithTimestamp(ip, ci.Timestamp)
	if err != nil || whole == nil || whole.Protocol != layers.IPProtocolUDP {
		return
	}
	if !p.datagram(whole) {
		p.cut++
	}
}

// sweep throws away fragments whose others never came.
func (p *pcap) sweep(now time.Time) {
	if now.Sub(p.swept) > maxFragmentAge {
		p.defrag.DiscardOlderThan(p.swept)
		p.swept = now
	}
}

// datagram takes in a UDP datagram. It reports false if that is not whole.
func (p *pcap) datagram(ip *layers.IPv4) bool {
	const header = 8
	b := ip.Payload
	if len(b) < header {
		return false
	}
	n := int(binary.BigEndian.Uint16(b[4:]))
	if n < header || n > len(b) {
		return false
	}
	from := endpoint(ip.SrcIP, binary.BigEndian.Uint16(b))
	to := endpoint(ip.DstIP, binary.BigEndian.Uint16(b[2:]))
	payload := b[header:n]
	switch {
	case isRequest(payload):
		p.asked[to] = true
	case isReply(payload, p.asked[from]):
		p.replies++
		p.to.add(from, bytes.Clone(payload))
	}
	return true
}

func endpoint(ip []byte, port uint16) netip.AddrPort {
	addr, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(addr.Unmap(), port)
}

func isRequest(payload []byte) bool {
	if !wire.IsSingle(payload) {
		return false
	}
	switch wire.KindOf(payload) {
	case wire.KindInfoRequest, wire.KindPlayersRequest, wire.KindRulesRequest,
		wire.KindChallengeRequest, wire.KindPingRequest:
		return true
	}
	return false
}

// isReply reports whether a server says this: a fragment, a reply of a type
// that there is, or any such datagram of a server that was asked. What players
// and servers send each other in a game has another header.
func isReply(payload []byte, asked bool) bool {
	switch {
	case wire.IsSplit(payload):
		return true
	case !wire.IsSingle(payload):
		return false
	}
	switch wire.KindOf(payload) {
	case wire.KindInfo, wire.KindGoldSource, wire.KindPlayers, wire.KindRules,
		wire.KindChallenge, wire.KindPing, wire.KindBanned, wire.KindLimited:
		return true
	}
	return asked
}

// pcap decodes a capture file.
func (d *decoding) pcap(name string, in *bufio.Reader, cs *captures) error {
	p := &pcap{to: cs}
	torn, err := p.read(in)
	if err != nil {
		return console.Fail(console.ExitInput, "%s: after %d packets: %w", console.Plain(name, 200), p.packets, err)
	}
	d.Say("%s: %d packets, %d replies, %d cut short", console.Plain(name, 200), p.packets, p.replies, p.cut)
	if torn {
		d.Say("%s: torn: the packet after those is left out", console.Plain(name, 200))
	}
	return nil
}
