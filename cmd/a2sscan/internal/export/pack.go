package export

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/format"

	"github.com/a2sscan/a2sscan/sink/record"
)

// A packed row is a record as it is sorted: without the names of keys, with numbers in
// binary, and with numbers in place of texts that occur often.
//
//	row     the packer's number, the length of the record, object
//	object  for each key that is present: its number in node.keys plus 1, value; then 0
//	list    for each element: 1 and value, or 2 for null; then 0
//	map     for each member: 1, text, and 1 and text, or 2 for null; then 0
//	text    2 n and n bytes, or 2 i+1 for entry i of the packer's dictionary
//	number  as a varint; the bits of floating-point numbers in 8 or 4 bytes
const (
	absent  = 0
	present = 1
	null    = 2
)

// packer packs records. It serves one goroutine.
type packer struct {
	number  int
	root    *node
	cursor  record.Cursor
	object  uint32 // number of objects so far
	known   []known
	scratch []byte
	row     []byte
}

// known are the frequent texts of a column.
type known struct {
	dictionary
	plain bool    // most texts are new: no others become known
	count int     // of texts that were looked for since the last trial
	fresh int     // of texts that were new
	last  int32   // the entry before this one; -1: none
	next  []int32 // for each entry, the one that last followed it
}

// The limits of the frequent texts of a column, for each packer.
const (
	knownBytes   = 512 << 10
	knownEntries = 32 << 10
)

func newPacker(number int, root *node, leaves int) *packer {
	p := &packer{number: number, root: root, known: make([]known, leaves)}
	for i := range p.known {
		p.known[i].reset()
		p.known[i].last = -1
	}
	return p
}

// errNoRecord means that a line is no record.
var errNoRecord = errors.New("a line is not a record")

// pack returns the packed row of a record. It is valid until the next call.
func (p *packer) pack(line []byte) ([]byte, error) {
	p.row = append(p.row[:0], byte(p.number))
	p.row = binary.AppendUvarint(p.row, uint64(len(line)))
	p.cursor.Reset(line)
	p.members(p.root)
	if p.cursor.Err() != nil {
		return nil, errNoRecord
	}
	return p.row, nil
}

// members packs the members of the object that the cursor entered. A value that has
// another type counts as absent, and so does a key that was there before.
func (p *packer) members(n *node) {
	p.object++
	object := p.object
	next := 0 // keys mostly are in the order of the schema
	for p.cursor.Next() {
		i := n.find(p.cursor.Key(), next)
		if i < 0 {
			continue
		}
		next = i + 1
		c := n.keys[i]
		if c.seen == object {
			continue
		}
		if p.value(c, byte(i+1)) {
			c.seen = object
		}
	}
	p.row = append(p.row, absent)
}

// find returns the index of a key in n.keys; -1 if there is none. It looks from an
// index on at first.
func (n *node) find(key []byte, from int) int {
	for i, c := range n.keys[from:] {
		if c.key == string(key) {
			return from + i
		}
	}
	if i, ok := n.byKey[string(key)]; ok {
		return i
	}
	return -1
}

// value packs the value at the cursor, after a byte that stands before it. It reports
// false, and packs nothing, if the value has another type than the node.
func (p *packer) value(n *node, before byte) bool {
	opening := byte('{')
	switch n.kind {
	case kindLeaf:
		return p.leaf(n, before)
	case kindList:
		opening = '['
	}
	if p.cursor.First() != opening || !p.cursor.Enter() {
		return false
	}
	p.row = append(p.row, before)
	switch n.kind {
	case kindList:
		p.list(n)
	case kindMap:
		p.pairs(n)
	default:
		p.members(n)
	}
	return true
}

// list packs the elements of a list.
func (p *packer) list(n *node) {
	for p.cursor.Next() {
		if !p.value(n.inner[0], present) {
			p.row = append(p.row, null)
		}
	}
	p.row = append(p.row, absent)
}

// pairs packs the members of an object as a map, because the server chooses its keys.
// The key suggests the value.
func (p *packer) pairs(n *node) {
	key, value := &p.known[n.inner[0].leaf], &p.known[n.inner[1].leaf]
	for p.cursor.Next() {
		p.row = append(p.row, present)
		p.text(key, p.unescaped(p.cursor.Key()))
		raw := p.cursor.Raw()
		if len(raw) < 2 || raw[0] != '"' {
			p.row = append(p.row, null)
			continue
		}
		p.row = append(p.row, present)
		value.last = key.last
		p.text(value, p.unescaped(raw[1:len(raw)-1]))
	}
	p.row = append(p.row, absent)
}

// unescaped returns the text of a JSON string without its quotes.
func (p *packer) unescaped(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	p.scratch = record.AppendUnescaped(p.scratch[:0], s)
	return p.scratch
}

// leaf packs a value that is no object and no list.
func (p *packer) leaf(n *node, before byte) bool {
	raw := p.cursor.Raw()
	if n.column.kind == format.ByteArray {
		text, ok := p.content(n.is, raw)
		if ok {
			p.row = append(p.row, before)
			p.text(&p.known[n.leaf], text)
		}
		return ok
	}
	v, ok := parseNumber(n.is, raw)
	if !ok {
		return false
	}
	p.row = append(p.row, before)
	switch n.column.kind {
	case format.Double:
		p.row = binary.LittleEndian.AppendUint64(p.row, uint64(v))
	case format.Float:
		p.row = binary.LittleEndian.AppendUint32(p.row, uint32(v))
	default:
		p.row = binary.AppendVarint(p.row, v)
	}
	return true
}

// content returns the text that a value stands for.
func (p *packer) content(is record.ColumnType, raw []byte) ([]byte, bool) {
	switch {
	case is == record.ColumnJSON:
		return raw, len(raw) > 0 && string(raw) != "null"
	case len(raw) < 2 || raw[0] != '"':
		return nil, false
	}
	return p.unescaped(raw[1 : len(raw)-1]), true
}

// text packs a text.
func (p *packer) text(k *known, text []byte) {
	if i := k.number(text); i >= 0 {
		p.row = binary.AppendUvarint(p.row, uint64(i)<<1|1)
		return
	}
	p.row = binary.AppendUvarint(p.row, uint64(len(text))<<1)
	p.row = append(p.row, text...)
}

// number returns the number of a frequent text, or -1. It becomes k.last.
func (k *known) number(text []byte) int32 {
	if k.plain {
		return -1
	}
	last := k.last
	if last >= 0 && int(last) < len(k.next) && k.is(k.next[last], text) {
		k.last = k.next[last]
		return k.last
	}
	size := k.len()
	k.last = k.find(text, len(k.bytes) < knownBytes && k.len() < knownEntries)
	k.judge(k.last < 0 || k.len() > size)
	if last >= 0 {
		for int(last) >= len(k.next) {
			k.next = append(k.next, -1)
		}
		k.next[last] = k.last
	}
	return k.last
}

// judge counts a text. If most texts of a trial were new, looking for them does not
// pay.
func (k *known) judge(fresh bool) {
	if fresh {
		k.fresh++
	}
	if k.count++; k.count == trialValues {
		k.plain = k.fresh > trialValues/2
		k.count, k.fresh = 0, 0
	}
}
