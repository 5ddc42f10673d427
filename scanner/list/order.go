package list

import "math/bits"

// order is a random order of all targets. Listed targets come in the order of their
// keys, and targets of networks in the order of nets; the two are evenly mixed.
type order struct {
	keys  scatterer
	list  *keySet // targets that were named one by one
	nets  *nets
	named blocks // networks and ranges

	total uint64
	small uint64 // listed targets not named one by one; with duplicates
	ipv6  uint64 // IPv6 addresses, which have no place
}

// alone returns approximately how many targets were named one by one.
func (o *order) alone() uint64 { return o.list.len() - min(o.small, o.list.len()) }

// cursor is a position in an order that only moves forward.
type cursor struct {
	*order
	place  uint64
	listed uint64 // listed targets before this place
	share  uint64 // place * listed targets, modulo total
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

// next returns the target at the cursor and advances. The cursor must not be at the
// end.
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

// labels returns the labels of a target.
func (o *order) labels(ip uint32, port uint16) (s labels) {
	if own := o.list.find(o.keys.scatter(ip, port)); own != nil {
		return *own
	}
	if o.named.labelled {
		if first, _ := o.named.find(ip, port); first.labels != nil {
			return *first.labels
		}
	}
	return labels{}
}
