package list

import (
	"bytes"
	"iter"
	"math/bits"
	"net/netip"
	"slices"
)

// parseSpan reads consecutive addresses without ports: an address, a network, or a
// range a.b.c.d-e.f.g.h, which includes both ends.
func parseSpan(b []byte) (first, last uint32, f Fault) {
	if i := bytes.IndexByte(b, '-'); i >= 0 {
		b = slices.Concat(trimRight(b[:i]), b[i:i+1], trimLeft(b[i+1:]))
	}
	n, f := parse(b)
	if f == 0 && (n.form == formAddrPort || n.ports != nil) {
		f = FaultNoPort
	}
	s := n.span()
	return s.first, s.last, f
}

// prefixOf returns the network that has exactly the addresses from first to last,
// if there is one.
func prefixOf(first, last uint32) (netip.Prefix, bool) {
	p := largest(first, last)
	_, end := bounds(p)
	return p, end == last
}

// largest returns the largest network that begins at first and does not go beyond
// last.
func largest(first, last uint32) netip.Prefix {
	free := min(bits.TrailingZeros32(first), bits.Len64(uint64(last-first)+1)-1)
	return netip.PrefixFrom(addrOf(first), 32-free)
}

// prefixes yields the smallest number of networks that make up the addresses from
// first to last.
func prefixes(first, last uint32) iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		for {
			p := largest(first, last)
			_, end := bounds(p)
			if !yield(p) || end == last {
				return
			}
			first = end + 1
		}
	}
}
