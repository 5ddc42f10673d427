package export

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// rows are the rows of a row group, stored by column.
type rows struct {
	root    *node
	packers []*packer
	n       uint32

	in   []byte // the rest of the packed row
	from int    // number of the packer that packed it
}

// add adds a packed row.
func (r *rows) add(row []byte) {
	r.in = row
	r.from = int(r.byte())
	r.uvarint() // the length of the record
	r.members(r.root, r.n)
	r.n++
}

func (r *rows) byte() byte {
	b := r.in[0]
	r.in = r.in[1:]
	return b
}

func (r *rows) uvarint() uint64 {
	if b := r.in[0]; b < 0x80 {
		r.in = r.in[1:]
		return uint64(b)
	}
	v, n := binary.Uvarint(r.in)
	r.in = r.in[n:]
	return v
}

// reset removes all rows.
func (r *rows) reset() {
	r.n = 0
	r.root.reset()
}

func (n *node) reset() {
	n.marks.reset()
	n.lengths, n.elements = n.lengths[:0], 0
	if n.kind == kindLeaf {
		n.column.reset()
	}
	for _, c := range n.inner {
		c.reset()
	}
}

// members adds the members of an object. place is the position of the object.
func (r *rows) members(n *node, place uint32) {
	for key := r.byte(); key != absent; key = r.byte() {
		r.value(n.keys[key-1], place)
	}
}

// value adds a value to the columns of a node.
func (r *rows) value(n *node, place uint32) {
	if n.kind == kindPath {
		r.members(n, place)
		return
	}
	n.marks.add(place)
	switch n.kind {
	case kindLeaf:
		r.leaf(n)
	case kindGroup:
		r.members(n, place)
	case kindList:
		r.list(n)
	case kindMap:
		r.mapping(n)
	}
}

// leaf adds a value to a column.
func (r *rows) leaf(n *node) {
	c := &n.column
	switch c.kind {
	case format.ByteArray:
		if v := r.uvarint(); v&1 == 1 {
			c.texts.addKnown(r.from, &r.packers[r.from].known[n.leaf].dictionary, int32(v>>1))
		} else {
			c.texts.add(r.in[:v>>1])
			r.in = r.in[v>>1:]
		}
	case format.Double:
		c.numbers = append(c.numbers, int64(binary.LittleEndian.Uint64(r.in)))
		r.in = r.in[8:]
	case format.Float:
		c.numbers = append(c.numbers, int64(binary.LittleEndian.Uint32(r.in)))
		r.in = r.in[4:]
	default:
		v := r.uvarint()
		c.numbers = append(c.numbers, int64(v>>1)^-int64(v&1))
	}
}

// list adds the elements of a list.
func (r *rows) list(n *node) {
	first := n.elements
	for is := r.byte(); is != absent; is = r.byte() {
		n.elements++
		if is == present {
			r.value(n.inner[0], n.elements-1)
		}
	}
	n.lengths = append(n.lengths, n.elements-first)
}

// mapping adds the members of a map.
func (r *rows) mapping(n *node) {
	key, value := n.inner[0], n.inner[1]
	pairs := r.packers[r.from].pairs[key.leaf].texts
	first := n.elements
	for is := r.uvarint(); is != absent; is = r.uvarint() {
		place := n.elements
		n.elements++
		if is >= firstPair {
			r.known(key, place, pairs[is-firstPair].key)
			r.known(value, place, pairs[is-firstPair].value)
			continue
		}
		r.value(key, place)
		if r.byte() == present {
			r.value(value, place)
		}
	}
	n.lengths = append(n.lengths, n.elements-first)
}

// known adds entry i of the packer's dictionary, a frequent string.
func (r *rows) known(n *node, place uint32, i int32) {
	n.marks.add(place)
	n.column.texts.addKnown(r.from, &r.packers[r.from].known[n.leaf].dictionary, i)
}
