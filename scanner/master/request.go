package master

import (
	"bytes"
	"net/netip"

	"github.com/a2sscan/a2sscan/wire"
)

// requestType is the first byte of a request. It is the protocol's.
const requestType = 0x31

// noSeed is the seed of a list's first page.
var noSeed = netip.AddrPortFrom(netip.IPv4Unspecified(), 0)

// Request asks a master server for a page of its list.
type Request struct {
	Region Region         // of the servers
	Seed   netip.AddrPort // the last address of the previous page; zero: request the first page
	Filter []byte         // in the form that Filter.Append appends; may be empty. Decode makes it alias the datagram
}

// AppendRequest appends the datagram of q. The filter ends at its first NUL, which
// the protocol can't send. A seed that is not IPv4 asks for the first page.
func AppendRequest(dst []byte, q *Request) []byte {
	seed := netip.AddrPortFrom(q.Seed.Addr().Unmap(), q.Seed.Port())
	if !seed.Addr().Is4() {
		seed = noSeed
	}
	dst = append(dst, requestType, byte(q.Region))
	dst = append(seed.AppendTo(dst), 0)
	filter, _, _ := bytes.Cut(q.Filter, []byte{0})
	return append(append(dst, filter...), 0)
}

// Decode reads a request as a master server does. It returns wire.ErrUnexpected for
// another type, wire.ErrTruncated if a NUL is missing, and wire.ErrMalformed for a
// seed that is not an address or for bytes after the filter. A seed of 0.0.0.0:0 is
// kept as it is.
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
	seed, filter, ok := cutNUL(datagram[2:])
	if !ok {
		return wire.ErrTruncated
	}
	filter, rest, ok := cutNUL(filter)
	if !ok {
		return wire.ErrTruncated
	}
	addr, err := parseAddr(seed)
	if err != nil || len(rest) > 0 {
		return wire.ErrMalformed
	}
	*q = Request{Region: Region(datagram[1]), Seed: addr, Filter: filter}
	return nil
}

// cutNUL splits b after its first NUL.
func cutNUL(b []byte) (before, after []byte, ok bool) {
	i := bytes.IndexByte(b, 0)
	if i < 0 {
		return nil, nil, false
	}
	return b[:i:i], b[i+1:], true
}
