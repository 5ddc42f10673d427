package decode

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

// pcapStats counts what readPcap found.
type pcapStats struct {
	Packets   int
	Replies   int  // datagrams from servers
	Cut       int  // packets whose end the capture omitted
	Truncated bool // the file ends in the middle of a packet
}

// readPcap reads a pcap or pcapng file and returns the datagrams from servers. It
// skips packets that are not UDP over IPv4. If reading fails, it also returns what
// it has read so far.
func readPcap(in *bufio.Reader) ([]*sender, pcapStats, error) {
	p := pcapReader{
		senders: senders{byAddr: map[netip.AddrPort]*sender{}},
		defrag:  ip4defrag.NewIPv4Defragmenter(),
		queried: map[netip.AddrPort]bool{},
	}
	var next func() ([]byte, gopacket.CaptureInfo, error)
	var linkType func(gopacket.CaptureInfo) layers.LinkType
	if b, _ := in.Peek(4); string(b) == pcapngMagic {
		r, err := pcapgo.NewNgReader(in, pcapgo.NgReaderOptions{WantMixedLinkType: true})
		if err != nil {
			return nil, p.stats, err
		}
		next = r.ReadPacketData
		linkType = func(info gopacket.CaptureInfo) layers.LinkType {
			link, _ := info.AncillaryData[0].(layers.LinkType)
			return link
		}
	} else {
		r, err := pcapgo.NewReader(in)
		if err != nil {
			return nil, p.stats, err
		}
		next = r.ReadPacketData
		linkType = func(gopacket.CaptureInfo) layers.LinkType { return r.LinkType() }
	}
	for {
		data, info, err := next()
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			p.stats.Truncated = true
			return p.senders.all, p.stats, nil
		case err == io.EOF:
			return p.senders.all, p.stats, nil
		case err != nil:
			return p.senders.all, p.stats, err
		}
		p.stats.Packets++
		p.addPacket(data, linkType(info), info.Timestamp)
	}
}

// pcapReader collects the datagrams from servers in a sequence of packets.
type pcapReader struct {
	senders senders
	defrag  *ip4defrag.IPv4Defragmenter
	queried map[netip.AddrPort]bool // servers that received a request
	swept   time.Time               // when old fragments were last discarded
	stats   pcapStats
}

// addPacket handles one packet. It ignores everything but UDP over IPv4.
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
	if at.Sub(p.swept) > maxFragmentAge {
		p.defrag.DiscardOlderThan(p.swept)
		p.swept = at
	}
	complete, err := p.defrag.DefragIPv4WithTimestamp(ip, at)
	if err != nil || complete == nil || complete.Protocol != layers.IPProtocolUDP {
		return
	}
	const header = 8
	b := complete.Payload
	n := 0 // the length of the UDP datagram
	if len(b) >= header {
		n = int(binary.BigEndian.Uint16(b[4:]))
	}
	if n < header || n > len(b) {
		p.stats.Cut++
		return
	}
	from := endpoint(complete.SrcIP, binary.BigEndian.Uint16(b))
	to := endpoint(complete.DstIP, binary.BigEndian.Uint16(b[2:]))
	switch payload := b[header:n]; {
	case wire.IsRequest(payload):
		p.queried[to] = true
	case wire.IsReply(payload), p.queried[from] && wire.IsSingle(payload):
		p.stats.Replies++
		p.senders.add(from, bytes.Clone(payload))
	}
}

func endpoint(ip []byte, port uint16) netip.AddrPort {
	addr, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(addr.Unmap(), port)
}
