package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"time"

	// This is the maintained fork of gopacket. Only its pure Go packages are
	// imported, so that the program does not need libpcap.
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/ip4defrag"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/a2sscan/a2sscan/wire"
)

// maxFragmentAge is how long the fragments of an IPv4 packet wait for the others,
// according to the timestamps of the capture. Linux waits as long.
const maxFragmentAge = 30 * time.Second

// pcapngMagic is the beginning of a pcapng file.
const pcapngMagic = "\x0a\x0d\x0d\x0a"

// isPcap reports whether b is the beginning of a pcap file (with microseconds or
// nanoseconds, in either byte order) or of a pcapng file.
func isPcap(b []byte) bool {
	switch string(b) {
	case "\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1", pcapngMagic:
		return true
	}
	return false
}

// PcapStats counts what ReadPcap found.
type PcapStats struct {
	Packets   int
	Replies   int  // datagrams from servers
	Cut       int  // packets whose end the capture omitted
	Truncated bool // the file ends in the middle of a packet
}

// ReadPcap reads a pcap or pcapng file and returns the datagrams from servers. It
// skips packets that are not UDP over IPv4. If reading fails, it also returns what
// it has read so far.
func ReadPcap(in *bufio.Reader) ([]*Sender, PcapStats, error) {
	p := pcapReader{
		defrag:  ip4defrag.NewIPv4Defragmenter(),
		queried: map[netip.AddrPort]bool{},
	}
	err := p.read(in)
	return p.senders.all, p.stats, err
}

// pcapReader collects the datagrams from servers in a sequence of packets.
type pcapReader struct {
	senders senders
	defrag  *ip4defrag.IPv4Defragmenter
	queried map[netip.AddrPort]bool // servers that received a request
	swept   time.Time               // when old fragments were last discarded
	stats   PcapStats
}

func (p *pcapReader) read(in *bufio.Reader) error {
	packets, err := openPcap(in)
	if err != nil {
		return err
	}
	for {
		data, info, err := packets.next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			p.stats.Truncated = true
			return nil
		case err != nil:
			return err
		}
		p.stats.Packets++
		p.addPacket(data, packets.linkType(info), info.Timestamp)
	}
}

// packets reads the packets of a capture file one after another.
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
		return &packets{r.ReadPacketData, func(info gopacket.CaptureInfo) layers.LinkType {
			link, _ := info.AncillaryData[0].(layers.LinkType)
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

// addPacket handles one packet. It ignores everything but IPv4.
func (p *pcapReader) addPacket(data []byte, link layers.LinkType, at time.Time) {
	var first gopacket.Decoder = link
	if link == layers.LinkTypeIPv4 {
		first = layers.LayerTypeIPv4 // gopacket has no decoder for this link type
	}
	all := gopacket.NewPacket(data, first, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	ip, ok := all.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	if !ok {
		return
	}
	p.discardOldFragments(at)
	complete, err := p.defrag.DefragIPv4WithTimestamp(ip, at)
	if err != nil || complete == nil || complete.Protocol != layers.IPProtocolUDP {
		return
	}
	if !p.addDatagram(complete) {
		p.stats.Cut++
	}
}

// discardOldFragments discards the fragments of packets that are still incomplete
// after maxFragmentAge. now is the timestamp of the current packet.
func (p *pcapReader) discardOldFragments(now time.Time) {
	if now.Sub(p.swept) > maxFragmentAge {
		p.defrag.DiscardOlderThan(p.swept)
		p.swept = now
	}
}

// addDatagram handles a UDP datagram. It returns false if the end of the datagram
// is missing.
func (p *pcapReader) addDatagram(ip *layers.IPv4) bool {
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
	case wire.IsRequest(payload):
		p.queried[to] = true
	case wire.IsReply(payload), p.queried[from] && wire.IsSingle(payload):
		p.stats.Replies++
		p.senders.add(from, bytes.Clone(payload))
	}
	return true
}

func endpoint(ip []byte, port uint16) netip.AddrPort {
	addr, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(addr.Unmap(), port)
}
