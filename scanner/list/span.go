package list

import (
	"bytes"
	"iter"
	"math/bits"
	"net/netip"
	"slices"
)

// span is the addresses from first to last.
type span struct{ first, last uint32 }

func (s span) len() uint64 { return uint64(s.last-s.first) + 1 }

// String returns the addresses as a network or a range.
func (s span) String() string {
	if p := largest(s.first, s.last); spanOf(p) == s {
		return p.String()
	}
	return addrOf(s.first).String() + "-" + addrOf(s.last).String()
}

// spanOf returns the addresses of a network.
func spanOf(p netip.Prefix) span {
	first := ipOf(p.Addr())
	return span{first, first | uint32(uint64(1)<<(32-p.Bits())-1)}
}

// parseSpan reads consecutive addresses without ports: an address, a network, or a
// range a.b.c.d-e.f.g.h, which includes both ends.
func parseSpan(b []byte) (span, fault) {
	if i := bytes.IndexByte(b, '-'); i >= 0 {
		b = slices.Concat(bytes.TrimSpace(b[:i]), b[i:i+1], bytes.TrimSpace(b[i+1:]))
	}
	n, f := parse(b)
	if f == "" && (n.kind == kindAddrPort || n.ports != nil) {
		f = faultNoPort
	}
	return n.span, f
}

// largest returns the largest network that begins at first and does not go beyond
// last.
func largest(first, last uint32) netip.Prefix {
	free := min(bits.TrailingZeros32(first), bits.Len64(uint64(last-first)+1)-1)
	return netip.PrefixFrom(addrOf(first), 32-free)
}

// prefixes yields the smallest number of networks that make up the addresses.
func (s span) prefixes() iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		for first := s.first; ; {
			p := largest(first, s.last)
			end := spanOf(p).last
			if !yield(p) || end == s.last {
				return
			}
			first = end + 1
		}
	}
}
