package master

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"

	"github.com/a2sscan/a2sscan/wire"
)

// Constants of the protocol. They must not be changed.
const (
	requestType = 0x31
	pageHeader  = "\xFF\xFF\xFF\xFF\x66\x0A"
	addrLen     = 6 // IPv4 address and port, both in network order
)

// noSeed is 0.0.0.0:0: the seed of a list's first page, and the terminator of a list.
var noSeed = netip.AddrPortFrom(netip.IPv4Unspecified(), 0)

// Page is a decoded page of a master's list.
type Page struct {
	Addrs []netip.AddrPort // may include addresses that can't be queried
	End   bool             // a terminator follows the addresses: the list is complete
	Cut   bool             // the page ends inside an address
}

// Decode decodes a page and reuses p.Addrs. It ignores data after the terminator. It
// returns wire.ErrEmpty for an empty datagram, wire.ErrTruncated for a datagram that
// ends inside the header, wire.ErrUnexpected for a message of another type, and
// wire.ErrMalformed for a datagram that does not begin with FF FF FF FF.
func (p *Page) Decode(datagram []byte) error {
	*p = Page{Addrs: p.Addrs[:0]}
	rest, ok := bytes.CutPrefix(datagram, []byte(pageHeader))
	switch {
	case ok:
	case len(datagram) == 0:
		return wire.ErrEmpty
	case strings.HasPrefix(pageHeader, string(datagram)):
		return wire.ErrTruncated
	case wire.IsSingle(datagram):
		return wire.ErrUnexpected
	default:
		return wire.ErrMalformed
	}
	for ; len(rest) >= addrLen; rest = rest[addrLen:] {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte(rest[:4])), binary.BigEndian.Uint16(rest[4:]))
		if addr == noSeed {
			p.End = true
			return nil
		}
		p.Addrs = append(p.Addrs, addr)
	}
	p.Cut = len(rest) > 0
	return nil
}

// Append appends the page as a datagram. The addresses must be IPv4.
func (p *Page) Append(dst []byte) []byte {
	dst = append(dst, pageHeader...)
	for _, a := range p.Addrs {
		dst = appendAddr(dst, a)
	}
	if p.End {
		dst = appendAddr(dst, noSeed)
	}
	return dst
}

func appendAddr(dst []byte, a netip.AddrPort) []byte {
	b := a.Addr().As4()
	dst = append(dst, b[:]...)
	return binary.BigEndian.AppendUint16(dst, a.Port())
}

// Request asks a master server for a page of its list.
type Request struct {
	Region Region
	// The last address of the previous page; zero requests the first page.
	Seed   netip.AddrPort
	Filter string // as Filter.String returns it; may be empty
}

// Append appends the datagram of q. It cuts the filter at its first NUL, which the
// protocol can't represent. If the seed is not IPv4, it requests the first page.
func (q *Request) Append(dst []byte) []byte {
	seed := q.Seed
	if !seed.Addr().Is4() {
		seed = noSeed
	}
	dst = append(dst, requestType, byte(q.Region))
	dst = append(seed.AppendTo(dst), 0)
	filter, _, _ := strings.Cut(q.Filter, "\x00")
	return append(append(dst, filter...), 0)
}

// Decode parses a request, as a master server does. It returns wire.ErrEmpty for an
// empty datagram, wire.ErrUnexpected for another type, wire.ErrTruncated if the region
// or a NUL is missing, and wire.ErrMalformed for a seed that is not an address or for
// bytes after the filter. In a request for the first page, Seed is 0.0.0.0:0.
func (q *Request) Decode(datagram []byte) error {
	*q = Request{}
	switch {
	case len(datagram) == 0:
		return wire.ErrEmpty
	case datagram[0] != requestType:
		return wire.ErrUnexpected
	case len(datagram) < 2:
		return wire.ErrTruncated
	}
	parts := bytes.SplitN(datagram[2:], []byte{0}, 3)
	if len(parts) < 3 {
		return wire.ErrTruncated
	}
	addr, err := netip.ParseAddrPort(string(parts[0]))
	if err != nil || !addr.Addr().Is4() || len(parts[2]) > 0 {
		return wire.ErrMalformed
	}
	*q = Request{Region: Region(datagram[1]), Seed: addr, Filter: string(parts[1])}
	return nil
}
