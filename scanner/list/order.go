package list

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// order is a random order of all targets. Listed targets come in the order of their
// keys, and targets of networks in the order of nets; the two sequences are evenly mixed.
type order struct {
	keys  scatterer
	list  sorted // the keys of targets that were named one by one
	notes []note // labels of the targets in list, and of some targets in networks
	nets  *nets
	named blocks // networks and ranges

	total uint64
	// small counts the listed targets that come from small networks and ranges, and from
	// addresses with several ports. It includes duplicates.
	small uint64
	ipv6  uint64 // number of IPv6 addresses, which have no place in the order
}

// cursor is a position in an order. It only moves forward.
type cursor struct {
	*order
	place  uint64
	listed uint64 // number of listed targets before this place
	share  uint64 // place * number of all listed targets, modulo total
}

// from returns a cursor at index place, which must not be greater than total.
func (o *order) from(place uint64) *cursor {
	c := &cursor{order: o, place: place}
	if o.total > 0 {
		hi, lo := bits.Mul64(place, o.list.len())
		c.listed, c.share = bits.Div64(hi, lo, o.total)
	}
	return c
}

// next returns the target at the cursor and advances. The cursor must not be at the end of
// the order.
func (c *cursor) next() (ip uint32, port uint16) {
	c.place++
	c.share += c.list.len()
	if c.share < c.total {
		return c.nets.at(c.place - 1 - c.listed)
	}
	c.share -= c.total
	c.listed++
	return c.keys.gather(c.list.at(c.listed - 1))
}

func (o *order) labels(ip uint32, port uint16) (s labels) {
	byKey := func(n note, key uint64) int { return cmp.Compare(n.key, key) }
	if i, found := slices.BinarySearchFunc(o.notes, o.keys.scatter(ip, port), byKey); found {
		return *o.notes[i].labels
	}
	if o.named.labelled {
		if first, _ := o.named.find(ip, port); first.labels != nil {
			return *first.labels
		}
	}
	return labels{}
}

// nets yields the targets of blocks in a random order. It computes each target from
// its index, without storing the order.
//
// The order is a sequence of rounds. An address with n ports is in the first n rounds,
// once in each, and with a different port each time. The order of addresses is the same in
// all rounds of a tier, so that queries to one address are a round apart. Addresses start
// with different ports, so that each round mixes the ports.
type nets struct {
	parts []stretch // sorted by number of ports, the largest first
	ends  []uint64  // the number of addresses up to the end of each part
	tiers []tier
	size  uint64 // the number of targets
	turn  perm   // permutation of all addresses; chooses the first port of an address
}

// tier is a sequence of rounds with the same addresses.
type tier struct {
	start uint64 // number of targets before the tier
	round uint64 // first round of the tier
	perm  perm   // permutation of the addresses in these rounds
}

func newNets(parts []stretch, keys *keyStream) *nets {
	n := &nets{parts: slices.Clone(parts), turn: newPerm(1<<32, keys)}
	slices.SortStableFunc(n.parts, func(a, b stretch) int {
		return cmp.Compare(len(b.ports), len(a.ports))
	})
	total := uint64(0)
	for i := range n.parts {
		total += n.parts[i].len()
		n.ends = append(n.ends, total)
	}
	round := uint64(0)
	for i := len(n.parts) - 1; i >= 0; i-- {
		if until := uint64(len(n.parts[i].ports)); until > round {
			n.tiers = append(n.tiers, tier{n.size, round, newPerm(n.ends[i], keys)})
			n.size += (until - round) * n.ends[i]
			round = until
		}
	}
	return n
}

func (n *nets) at(place uint64) (ip uint32, port uint16) {
	i := len(n.tiers) - 1
	for n.tiers[i].start > place {
		i--
	}
	t := &n.tiers[i]
	place -= t.start
	address := t.perm.at(place % t.perm.size)
	k := 0
	if len(n.ends) > 1 {
		k = sort.Search(len(n.ends), func(k int) bool { return n.ends[k] > address })
	}
	part := &n.parts[k]
	ip = part.last - uint32(n.ends[k]-1-address)
	if len(part.ports) == 1 {
		return ip, part.ports[0]
	}
	round := t.round + place/t.perm.size + n.turn.at(uint64(ip))
	return ip, part.ports[round%uint64(len(part.ports))]
}
