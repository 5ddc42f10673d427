package export

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/format"

	"github.com/a2sscan/a2sscan/sink/record"
)

// A packed row is a record in the form in which it is sorted: without the names of
// keys, with numbers in binary, and with numbers in place of frequent strings.
//
//	row     the packer's number, the length of the record, object
//	object  for each key that is present: its number in node.keys plus 1, value; then 0
//	list    for each element: 1 and value, or 2 for null; then 0
//	map     for each member: n+2 for entry n of the packer's pairs, or 1, text, and 1
//	        and text, or 2 for null; then 0
//	text    2 n and n bytes, or 2 i+1 for entry i of the packer's dictionary
//	number  as a varint; the bits of floating-point numbers in 8 or 4 bytes
const (
	absent  = 0
	present = 1
	null    = 2

	firstPair = 2
)

// packer packs records. Only one goroutine may use it.
type packer struct {
	number  int
	root    *node
	cursor  record.Cursor
	object  uint32 // number of objects so far
	known   []known
	pairs   []pairs // by the column of the key
	scratch []byte
	row     []byte
}

// known has the frequent strings of a column.
type known struct {
	dictionary
	plain bool // most strings are new, so they are no longer looked up
	count int  // strings that were looked up in this trial
	fresh int  // strings of this trial that were new
}

// pairs has the frequent members of a map. Its dictionary has their JSON.
type pairs struct {
	known
	texts []pair // for each entry
}

// pair has the numbers of a key and a value in the dictionaries of their columns. A
// number is -1 if the string is not in the dictionary.
type pair struct{ key, value int32 }

// longestPair is the maximum length of a frequent pair in bytes.
const longestPair = 64

// These limit a dictionary of frequent strings. Each packer has one for each column.
const (
	knownBytes   = 512 << 10
	knownEntries = 4 << 10
)

func newPacker(number int, root *node, leaves int) *packer {
	p := &packer{number: number, root: root, known: make([]known, leaves), pairs: make([]pairs, leaves)}
	for i := range p.known {
		p.known[i].reset()
		p.pairs[i].reset()
	}
	return p
}

// errNoRecord means that a line is not a record.
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

// members packs the members of the object that the cursor has entered. It skips values
// of the wrong type and repeated keys.
func (p *packer) members(n *node) {
	p.object++
	object := p.object
	last, next := n, 0
	for {
		i := last.then
		if i >= len(n.keys) || !p.cursor.NextIs(n.keys[i].quoted) {
			if !p.cursor.Next() {
				break
			}
			if i = n.find(p.cursor.Key(), next); i < 0 {
				continue
			}
			last.then = i
		}
		c := n.keys[i]
		last, next = c, i+1
		if c.seen != object && p.value(c, byte(i+1)) {
			c.seen = object
		}
	}
	p.row = append(p.row, absent)
}

// find returns the index of key in n.keys, or -1 if it is not there. It tries the index
// from and those after it first.
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

// value packs the byte before and the value at the cursor. If the value has another
// type than the node, it packs nothing and returns false.
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
		p.mapping(n)
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

// mapping packs the members of an object as a map, because the server chooses its keys.
func (p *packer) mapping(n *node) {
	key, value := n.inner[0].leaf, n.inner[1].leaf
	for {
		if raw, size := p.cursor.NextPair(); raw != nil {
			p.pair(key, value, raw, size)
			continue
		}
		if !p.cursor.Next() {
			break
		}
		p.row = append(p.row, present)
		p.text(key, p.unescaped(p.cursor.Key()))
		if text, ok := p.content(record.ColumnText); ok {
			p.row = append(p.row, present)
			p.text(value, text)
		} else {
			p.row = append(p.row, null)
		}
	}
	p.row = append(p.row, absent)
}

// pair packs a member of a map. raw is its JSON without the outer quotes, and size is
// the length of its key.
func (p *packer) pair(key, value int, raw []byte, size int) {
	first, second := raw[:size], raw[size+len(record.Between):]
	if len(raw) <= longestPair {
		k := &p.pairs[key]
		i := k.number(raw)
		if i >= 0 && int(i) == len(k.texts) {
			k.texts = append(k.texts, pair{p.known[key].number(first), p.known[value].number(second)})
		}
		if i >= 0 && k.texts[i].key >= 0 && k.texts[i].value >= 0 {
			p.row = binary.AppendUvarint(p.row, uint64(i)+firstPair)
			return
		}
	}
	p.row = append(p.row, present)
	p.text(key, first)
	p.row = append(p.row, present)
	p.text(value, second)
}

// unescaped returns the string that s encodes. s is a JSON string without its quotes.
// The result is valid until the next call.
func (p *packer) unescaped(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	p.scratch = record.AppendUnescaped(p.scratch[:0], s)
	return p.scratch
}

// leaf packs the byte before and a value that is neither an object nor a list. If the
// value has the wrong type, it packs nothing and returns false.
func (p *packer) leaf(n *node, before byte) bool {
	if n.column.kind == format.ByteArray {
		text, ok := p.content(n.is)
		if ok {
			p.row = append(p.row, before)
			p.text(n.leaf, text)
		}
		return ok
	}
	v, ok := parseNumber(n.is, p.cursor.Raw())
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

// content returns the string at the cursor, or the JSON of the value if is is
// ColumnJSON. It returns false if the value is not a string, or is null.
func (p *packer) content(is record.ColumnType) ([]byte, bool) {
	if is == record.ColumnJSON {
		raw := p.cursor.Raw()
		return raw, len(raw) > 0 && string(raw) != "null"
	}
	if text := p.cursor.Plain(); text != nil {
		return text, true
	}
	raw := p.cursor.Raw()
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	return p.unescaped(raw[1 : len(raw)-1]), true
}

// text packs a string of a column.
func (p *packer) text(column int, text []byte) {
	if i := p.known[column].number(text); i >= 0 {
		p.row = binary.AppendUvarint(p.row, uint64(i)<<1|1)
		return
	}
	p.row = binary.AppendUvarint(p.row, uint64(len(text))<<1)
	p.row = append(p.row, text...)
}

// number returns the number of a frequent string. It returns -1 if the string is not in
// the dictionary and can't be added.
func (k *known) number(text []byte) int32 {
	if k.plain {
		return -1
	}
	size := k.len()
	i := k.find(text, len(k.bytes) < knownBytes && size < knownEntries)
	k.judge(i < 0 || k.len() > size)
	return i
}

// judge counts a lookup. If most strings of a trial were new, lookups do not pay, and
// it ends them.
func (k *known) judge(fresh bool) {
	if fresh {
		k.fresh++
	}
	if k.count++; k.count == trialValues {
		k.plain = k.fresh > trialValues/2
		k.count, k.fresh = 0, 0
	}
}
