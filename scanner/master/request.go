package master

import (
	"bytes"
	"net/netip"

	"github.com/a2sscan/a2sscan/wire"
)

// requestType is the first byte of a request, as the protocol defines it.
const requestType = 0x31

// noSeed is 0.0.0.0:0: the seed of a list's first page, and the terminator of a
// list.
var noSeed = netip.AddrPortFrom(netip.IPv4Unspecified(), 0)

// Request asks a master server for a page of its list.
type Request struct {
	Region Region         // of the requested servers
	Seed   netip.AddrPort // the last address of the previous page; zero: requests the first page
	Filter []byte         // as Filter.Append encodes it; may be empty. After Decode it aliases the datagram
}

// AppendRequest appends the datagram of q. It cuts the filter at its first NUL,
// which the protocol can't represent. If the seed is not IPv4, it requests the
// first page.
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

// Decode parses a request, as a master server does. It returns wire.ErrEmpty for an
// empty datagram, wire.ErrUnexpected for another type, wire.ErrTruncated if the
// region or a NUL is missing, and wire.ErrMalformed for a seed that is not an
// address or for bytes after the filter. A seed of 0.0.0.0:0 is kept as it is.
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

// cutNUL returns the bytes before and after the first NUL in b. ok is false if b
// contains no NUL.
func cutNUL(b []byte) (before, after []byte, ok bool) {
	i := bytes.IndexByte(b, 0)
	if i < 0 {
		return nil, nil, false
	}
	return b[:i:i], b[i+1:], true
}
