package export

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"

	"github.com/a2sscan/a2sscan/sink/record"
)

// values are the values of a column, with the encoding that suits them.
type values struct {
	kind     format.Type
	count    int
	encoding format.Encoding
	min, max []byte // as in statistics; nil: unknown

	dictionary []byte // nil: there is none
	entries    int
	index      []int32

	numbers []int64
	texts   *texts
}

// longestBound is the maximum length of a string in the statistics, in bytes.
const longestBound = 64

// values chooses the encoding of a column.
func (e *encoder) values(c *column) *values {
	v := &values{kind: c.kind, encoding: format.Plain, numbers: c.numbers, count: len(c.numbers)}
	switch {
	case c.kind == format.ByteArray:
		e.texts(v, &c.texts)
		return v
	case v.count == 0:
		return v
	case c.is == record.ColumnMillis:
		v.encoding = format.DeltaBinaryPacked
	case c.kind != format.Boolean && e.numbers.build(c.numbers):
		v.encoding, v.index, v.entries = format.RLEDictionary, e.numbers.index, len(e.numbers.entries)
		e.entries = appendNumbers(e.entries[:0], c.kind, e.numbers.entries)
		v.dictionary = e.entries
	}
	v.min, v.max = numberBounds(c)
	return v
}

// texts chooses the encoding of a column of strings, and sets v.
func (e *encoder) texts(v *values, t *texts) {
	v.texts = t
	if t.plain {
		v.count, v.encoding = t.len(), format.DeltaLengthByteArray
	} else {
		v.count, v.encoding, v.index, v.entries = len(t.index), format.RLEDictionary, t.index, t.len()
	}
	if v.count == 0 {
		v.encoding = format.Plain
		return
	}
	least, most := t.entry(0), t.entry(0)
	e.entries = e.entries[:0]
	for i := range t.len() {
		text := t.entry(int32(i))
		if bytes.Compare(text, least) < 0 {
			least = text
		} else if bytes.Compare(text, most) > 0 {
			most = text
		}
		if !t.plain {
			e.entries = binary.LittleEndian.AppendUint32(e.entries, uint32(len(text)))
			e.entries = append(e.entries, text...)
		}
	}
	if !t.plain {
		v.dictionary = e.entries
	}
	if len(least) <= longestBound && len(most) <= longestBound {
		v.min, v.max = bytes.Clone(least), bytes.Clone(most)
	}
}

// size returns the approximate size of the encoded values.
func (v *values) size() int {
	switch {
	case v.dictionary != nil:
		return v.count * width(v.entries) / 8
	case v.texts != nil:
		return len(v.texts.bytes)
	}
	return 8 * v.count
}

// append appends the values with indexes from from to to-1 to a page. part is scratch
// space.
func (v *values) append(page []byte, part *[]byte, from, to int) []byte {
	if from == to {
		return page
	}
	switch {
	case v.dictionary != nil:
		bits := width(v.entries)
		*part, _ = (&rle.Encoding{BitWidth: bits}).EncodeInt32((*part)[:0], v.index[from:to])
		page = append(page, byte(bits))
	case v.texts != nil:
		ends := v.texts.ends[from : to+1]
		texts := v.texts.bytes[ends[0]:ends[len(ends)-1]]
		*part, _ = (&delta.LengthByteArrayEncoding{}).EncodeByteArray((*part)[:0], texts, ends)
	case v.encoding == format.DeltaBinaryPacked:
		*part, _ = (&delta.BinaryPackedEncoding{}).EncodeInt64((*part)[:0], v.numbers[from:to])
	default:
		return appendNumbers(page, v.kind, v.numbers[from:to])
	}
	return append(page, *part...)
}

// appendNumbers appends numbers as PLAIN encodes them.
func appendNumbers(b []byte, kind format.Type, numbers []int64) []byte {
	switch kind {
	case format.Boolean:
		for i, n := range numbers {
			if i%8 == 0 {
				b = append(b, 0)
			}
			b[len(b)-1] |= byte(n) << (i % 8)
		}
	case format.Int64, format.Double:
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
	default:
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
	}
	return b
}

// numberBounds returns the least and the greatest number of a column, as PLAIN encodes
// them.
func numberBounds(c *column) (least, most []byte) {
	a, z := c.numbers[0], c.numbers[0]
	for _, n := range c.numbers[1:] {
		if c.compare(n, a) < 0 {
			a = n
		} else if c.compare(n, z) > 0 {
			z = n
		}
	}
	return appendNumbers(nil, c.kind, []int64{a}), appendNumbers(nil, c.kind, []int64{z})
}

// compare compares two numbers as the type of the column orders them.
func (c *column) compare(a, b int64) int {
	switch {
	case c.kind == format.Double:
		return cmp.Compare(math.Float64frombits(uint64(a)), math.Float64frombits(uint64(b)))
	case c.kind == format.Float:
		return cmp.Compare(math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)))
	case c.is == record.ColumnID, c.is == record.ColumnUint64:
		return cmp.Compare(uint64(a), uint64(b))
	}
	return cmp.Compare(a, b)
}

// numberDictionary is a dictionary of the numbers of one column.
type numberDictionary struct {
	entries []int64
	index   []int32 // number of the entry, for each value
	slots   []int32 // hash table: number of the entry plus 1
}

// mostNumbers is the maximum number of entries in a dictionary of numbers.
const mostNumbers = 4096

// build makes the dictionary. It returns false if too many numbers differ for a
// dictionary to pay.
func (d *numberDictionary) build(numbers []int64) bool {
	if d.slots == nil {
		d.slots = make([]int32, 4*mostNumbers)
	}
	clear(d.slots)
	d.entries, d.index = d.entries[:0], d.index[:0]
	last, entry := int64(0), int32(-1)
	for i, n := range numbers {
		if n != last || entry < 0 {
			last, entry = n, d.find(n)
			if len(d.entries) > mostNumbers || i >= 64 && 2*len(d.entries) > i+1 {
				return false
			}
		}
		d.index = append(d.index, entry)
	}
	return true
}

// find returns the number of the entry for n, which it adds if there is none.
func (d *numberDictionary) find(n int64) int32 {
	const multiplier = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio; it spreads the bits
	for at := uint64(n) * multiplier >> 50; ; at++ {
		slot := &d.slots[at%uint64(len(d.slots))]
		if *slot == 0 {
			d.entries = append(d.entries, n)
			*slot = int32(len(d.entries))
			return *slot - 1
		}
		if d.entries[*slot-1] == n {
			return *slot - 1
		}
	}
}
