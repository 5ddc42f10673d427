package list

import (
	"math/bits"
)

// order is a random order of all targets. Listed targets come in the order of their
// scattered numbers, and targets of networks in the order of nets; the two are
// evenly mixed.
type order struct {
	list  *buckets
	nets  *nets
	keys  scatterer
	notes *notes
	named *blocks

	listed, total uint64
	small         uint64 // listed targets not named one by one; with duplicates
}

// alone returns approximately how many targets were named one by one.
func (o *order) alone() uint64 { return o.listed - min(o.small, o.listed) }

// cursor is a position in an order that only moves forward.
type cursor struct {
	*order
	place  uint64
	listed uint64 // listed targets before this place
	share  uint64 // place * listed targets, modulo total
	bucket uint64 // of the next listed target
}

// from returns a cursor at index place, which must not be greater than total.
func (o *order) from(place uint64) *cursor {
	c := &cursor{order: o, place: place}
	if o.total > 0 {
		hi, lo := bits.Mul64(place, o.listed)
		c.listed, c.share = bits.Div64(hi, lo, o.total)
	}
	if c.listed < o.listed {
		c.bucket = uint64(o.list.bucketOf(c.listed))
	}
	return c
}

// next returns the target at the cursor and advances. The cursor must not be at the
// end.
func (c *cursor) next() (ip uint32, port uint16) {
	c.place++
	c.share += c.order.listed
	if c.share < c.total {
		return c.nets.at(c.place - 1 - c.listed)
	}
	c.share -= c.total
	for c.list.starts[c.bucket+1] <= c.listed {
		c.bucket++
	}
	k := c.bucket<<slotBits | uint64(c.list.at(c.listed))
	c.listed++
	return c.keys.gather(k)
}

// labels returns the labels of a target.
func (o *order) labels(ip uint32, port uint16) labels {
	if o.notes.any {
		if s, found := o.notes.find(o.keys.scatter(ip, port)); found {
			return s
		}
	}
	return o.named.labels(ip, port)
}
