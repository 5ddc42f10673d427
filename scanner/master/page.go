package master

import (
	"encoding/binary"
	"net/netip"
	"strings"

	"github.com/a2sscan/a2sscan/wire"
)

// The parts of a reply. The protocol defines them, so they must not be changed.
const (
	pageHeader = "\xFF\xFF\xFF\xFF\x66\x0A"
	addrLen    = 6 // IPv4 address and port, both in network order
)

// PageAddrs is the number of addresses in a full page of a Steam master, a datagram
// of 1392 bytes.
const PageAddrs = 231

// Page is a cursor over the addresses of one reply.
//
//	var p master.Page
//	if err := p.Reset(datagram); err != nil { … }
//	for p.Next() {
//		use(p.Addr())
//	}
//	err := p.Err() // wire.ErrTruncated: the page ends inside an address
type Page struct {
	rest  []byte
	addr  netip.AddrPort
	count int
	end   bool
	err   wire.Error
}

// Reset begins to read the reply in datagram. It returns wire.ErrEmpty for an empty
// datagram, wire.ErrTruncated for a datagram that ends inside the header,
// wire.ErrUnexpected for a message of another type, and wire.ErrMalformed for a
// datagram that does not begin with FF FF FF FF. The page aliases the datagram
// until the next Reset.
func (p *Page) Reset(datagram []byte) error {
	*p = Page{}
	n := min(len(datagram), len(pageHeader))
	switch {
	case n == 0:
		return wire.ErrEmpty
	case string(datagram[:n]) == pageHeader:
		p.rest = datagram[n:]
		return nil
	case strings.HasPrefix(pageHeader, string(datagram[:n])):
		return wire.ErrTruncated
	case wire.IsSingle(datagram):
		return wire.ErrUnexpected
	}
	return wire.ErrMalformed
}

// Next advances to the next address and reports whether there is one. The list
// ends at the terminator; data after it is ignored.
func (p *Page) Next() bool {
	if p.end || p.err != 0 || len(p.rest) == 0 {
		return false
	}
	if len(p.rest) < addrLen {
		p.err = wire.ErrTruncated
		return false
	}
	addr := addrAt(p.rest)
	p.rest = p.rest[addrLen:]
	if addr == noSeed {
		p.end = true
		return false
	}
	p.addr = addr
	p.count++
	return true
}

// Addr returns the current address. It may be one that can't be queried: see
// Server.Unscannable.
func (p *Page) Addr() netip.AddrPort { return p.addr }

// Count returns the number of addresses read so far.
func (p *Page) Count() int { return p.count }

// End reports whether Next has reached the terminator, that is, whether the list is
// complete.
func (p *Page) End() bool { return p.end }

// Err returns wire.ErrTruncated if the page ends inside an address, and nil
// otherwise.
func (p *Page) Err() error {
	if p.err == 0 {
		return nil
	}
	return p.err
}

// addrAt decodes the address and port in the first addrLen bytes of b.
func addrAt(b []byte) netip.AddrPort {
	ip := netip.AddrFrom4([4]byte(b[:4]))
	return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[4:]))
}

// AppendPage appends a reply with the given addresses, and the terminator if end is
// set.
func AppendPage(dst []byte, addrs []netip.AddrPort, end bool) []byte {
	dst = append(dst, pageHeader...)
	for _, a := range addrs {
		dst = AppendAddr(dst, a)
	}
	if end {
		dst = AppendAddr(dst, noSeed)
	}
	return dst
}

// AppendAddr appends an IPv4 address and port as six bytes. It appends the
// terminator for 0.0.0.0:0 and for an address that is not IPv4.
func AppendAddr(dst []byte, a netip.AddrPort) []byte {
	addr := a.Addr().Unmap()
	if !addr.Is4() {
		a, addr = noSeed, noSeed.Addr()
	}
	b := addr.As4()
	dst = append(dst, b[:]...)
	return binary.BigEndian.AppendUint16(dst, a.Port())
}
