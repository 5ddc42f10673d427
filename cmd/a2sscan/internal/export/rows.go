package export

import (
	"errors"

	"github.com/a2sscan/a2sscan/sink/record"
)

// rows are the rows of a row group, stored by column.
type rows struct {
	root   *node
	n      uint32
	cursor record.Cursor
}

// errNoRecord means that a line is no record.
var errNoRecord = errors.New("a line is not a record")

// add adds a record as a row.
func (r *rows) add(line []byte) error {
	r.cursor.Reset(line)
	r.members(r.root, r.n)
	r.n++
	if r.cursor.Err() != nil {
		return errNoRecord
	}
	return nil
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

// members adds the members of the object that the cursor entered. place is the place
// of the object.
func (r *rows) members(n *node, place uint32) {
	next := 0 // keys mostly are in the order of the schema
	for r.cursor.Next() {
		if c := n.find(r.cursor.Key(), &next); c != nil {
			r.value(c, place)
		}
	}
}

// find returns the node of a key; nil if there is none. next is the number of the key
// behind the one that was found last.
func (n *node) find(key []byte, next *int) *node {
	for i, c := range n.keys[*next:] {
		if c.key == string(key) {
			*next += i + 1
			return c
		}
	}
	return n.byKey[string(key)]
}

// value adds the value at the cursor to the columns of a node. A value that has
// another type counts as absent, and so does a key that was there before.
func (r *rows) value(n *node, place uint32) {
	opening := byte('{')
	switch n.kind {
	case kindLeaf:
		if n.marks.free(place) && n.column.add(r.cursor.Raw()) {
			n.marks.add(place)
		}
		return
	case kindList:
		opening = '['
	}
	if r.cursor.First() != opening || n.kind != kindPath && !n.marks.free(place) || !r.cursor.Enter() {
		return
	}
	if n.kind == kindPath {
		r.members(n, place)
		return
	}
	n.marks.add(place)
	switch n.kind {
	case kindGroup:
		r.members(n, place)
	case kindList:
		r.list(n)
	case kindMap:
		r.pairs(n)
	}
}

// list adds the elements of a list.
func (r *rows) list(n *node) {
	first := n.elements
	for r.cursor.Next() {
		n.elements++
		r.value(n.inner[0], n.elements-1)
	}
	n.lengths = append(n.lengths, n.elements-first)
}

// pairs adds the members of an object as a map, because the server chooses its
// keys.
func (r *rows) pairs(n *node) {
	first := n.elements
	key, value := n.inner[0], n.inner[1]
	for r.cursor.Next() {
		key.column.addQuoted(r.cursor.Key())
		key.marks.add(n.elements)
		n.elements++
		r.value(value, n.elements-1)
	}
	n.lengths = append(n.lengths, n.elements-first)
}
