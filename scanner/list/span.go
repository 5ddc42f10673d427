package list

import (
	"bytes"
	"iter"
	"math/bits"
	"net/netip"
	"slices"
)

// parseSpan reads addresses that follow each other, at no port: an address, a
// network or a range a.b.c.d-e.f.g.h, both ends included.
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

// prefixOf returns the network whose addresses are first to last, if there is
// one.
func prefixOf(first, last uint32) (netip.Prefix, bool) {
	p := longest(first, last)
	_, end := bounds(p)
	return p, end == last
}

// longest is the largest network that begins at first and ends at last or
// before.
func longest(first, last uint32) netip.Prefix {
	free := min(bits.TrailingZeros32(first), bits.Len64(uint64(last-first)+1)-1)
	return netip.PrefixFrom(addrOf(first), 32-free)
}

// prefixes yields the fewest networks whose addresses are first to last.
func prefixes(first, last uint32) iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		for {
			p := longest(first, last)
			_, end := bounds(p)
			if !yield(p) || end == last {
				return
			}
			first = end + 1
		}
	}
}
