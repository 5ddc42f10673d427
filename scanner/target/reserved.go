package target

import (
	"cmp"
	"net/netip"
	"slices"
	"sync/atomic"

	"github.com/gaissmai/bart"
)

// rule says what becomes of the addresses of a network.
type rule struct {
	network netip.Prefix
	name    string
	source  string
	kind    ruleKind
}

type ruleKind uint8

const (
	reserved  ruleKind = iota // excluded unless reserved addresses are allowed
	reachable                 // a part of a reserved network that is not reserved
	relay                     // unscannable unless reserved addresses are allowed
	nobody                    // unscannable
)

// specialPurpose are the entries of IANA's registry of IPv4 special-purpose
// addresses that aren't globally reachable, exceptions inside of them, and
// multicast. The longest network that an address is in counts.
var specialPurpose = []rule{
	{cidr("0.0.0.0/8"), "this network", "RFC 791", reserved},
	{cidr("0.0.0.0/32"), "this host on this network", "RFC 1122", nobody},
	{cidr("10.0.0.0/8"), "private use", "RFC 1918", reserved},
	{cidr("100.64.0.0/10"), "shared address space", "RFC 6598", reserved},
	{cidr("127.0.0.0/8"), "loopback", "RFC 1122", reserved},
	{cidr("169.254.0.0/16"), "link local, and Steam's relays", "RFC 3927", relay},
	{cidr("172.16.0.0/12"), "private use", "RFC 1918", reserved},
	{cidr("192.0.0.0/24"), "IETF protocol assignments", "RFC 6890", reserved},
	{cidr("192.0.0.0/29"), "IPv4 service continuity prefix", "RFC 7335", reserved},
	{cidr("192.0.0.8/32"), "IPv4 dummy address", "RFC 7600", reserved},
	{cidr("192.0.0.9/32"), "port control protocol anycast", "RFC 7723", reachable},
	{cidr("192.0.0.10/32"), "traversal using relays around NAT anycast", "RFC 8155", reachable},
	{cidr("192.0.0.170/31"), "NAT64/DNS64 discovery", "RFC 8880", reserved},
	{cidr("192.0.2.0/24"), "documentation (TEST-NET-1)", "RFC 5737", reserved},
	{cidr("192.88.99.0/24"), "deprecated (6to4 relay anycast)", "RFC 7526", reserved},
	{cidr("192.168.0.0/16"), "private use", "RFC 1918", reserved},
	{cidr("198.18.0.0/15"), "benchmarking", "RFC 2544", reserved},
	{cidr("198.51.100.0/24"), "documentation (TEST-NET-2)", "RFC 5737", reserved},
	{cidr("203.0.113.0/24"), "documentation (TEST-NET-3)", "RFC 5737", reserved},
	{cidr("224.0.0.0/4"), "multicast", "RFC 5771", reserved},
	{cidr("240.0.0.0/4"), "reserved (class E)", "RFC 1112", reserved},
	{cidr("255.255.255.255/32"), "limited broadcast", "RFC 919", reserved},
}

func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// ruleSet finds the rule of an address and counts what was left out by it.
type ruleSet struct {
	rules    []rule
	counts   []atomic.Uint64 // targets left out, by rule
	table    bart.Table[int] // index of the rule
	segments []segment       // all addresses, in order
}

// segment are the addresses from first to last, and what becomes of them.
type segment struct {
	first, last uint32
	rule        int // an index, give or again
}

// What becomes of addresses that no rule leaves out.
const (
	give  = -1
	again = -2 // given out before
)

func (s *segment) len() uint64 { return uint64(s.last-s.first) + 1 }

func newRuleSet(allowReserved bool) *ruleSet {
	rs := &ruleSet{}
	for _, r := range specialPurpose {
		if !allowReserved || r.kind == nobody {
			rs.rules = append(rs.rules, r)
		}
	}
	rs.counts = make([]atomic.Uint64, len(rs.rules))
	for i, r := range rs.rules {
		rs.table.Insert(r.network, i)
	}
	rs.segments = rs.cut()
	return rs
}

// cut finds the segments: between two neighbouring ends of networks, one rule
// is that of all addresses.
func (rs *ruleSet) cut() []segment {
	starts := []uint32{0}
	for _, r := range rs.rules {
		first, last := bounds(r.network)
		starts = append(starts, first)
		if last+1 != 0 {
			starts = append(starts, last+1)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	segs := make([]segment, 0, len(starts))
	for i, first := range starts {
		last := ^uint32(0)
		if i+1 < len(starts) {
			last = starts[i+1] - 1
		}
		segs = append(segs, segment{first, last, rs.find(first)})
	}
	return segs
}

// find returns the index of the rule that leaves ip out, or give.
func (rs *ruleSet) find(ip uint32) int {
	i, ok := rs.table.Lookup(addrOf(ip))
	if !ok || rs.rules[i].kind == reachable {
		return give
	}
	return i
}

// within appends the segments of the addresses from first to last.
func (rs *ruleSet) within(segs []segment, first, last uint32) []segment {
	i, _ := slices.BinarySearchFunc(rs.segments, first, func(s segment, ip uint32) int {
		return cmp.Compare(s.last, ip)
	})
	for ; i < len(rs.segments) && rs.segments[i].first <= last; i++ {
		s := rs.segments[i]
		s.first, s.last = max(s.first, first), min(s.last, last)
		segs = append(segs, s)
	}
	return segs
}

// bounds are the first and the last address of a network.
func bounds(p netip.Prefix) (first, last uint32) {
	first = ipOf(p.Addr())
	return first, first | uint32(uint64(1)<<(32-p.Bits())-1)
}

// LeftOut is a network whose addresses are not given out.
type LeftOut struct {
	Network     netip.Prefix
	Name        string // what it is for
	Source      string // where that is written, such as "RFC 1918"
	Unscannable bool   // counted so, and not as excluded
	Targets     uint64 // left out because of it
}

// LeftOut returns the networks because of which targets were left out so far.
// A target counts for the smallest network that it is in.
func (l *List) LeftOut() []LeftOut {
	var out []LeftOut
	for i, r := range l.rules.rules {
		if n := l.rules.counts[i].Load(); n > 0 {
			out = append(out, LeftOut{r.network, r.name, r.source, r.kind != reserved, n})
		}
	}
	return out
}
