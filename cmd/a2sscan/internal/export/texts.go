package export

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// dictionary numbers strings in the order in which they first occur.
type dictionary struct {
	bytes []byte   // the entries, one after another
	ends  []uint32 // 0, and the end of each entry in bytes
	slots []slot   // hash table; its size is a power of two
}

// slot is an entry in the hash table.
type slot struct {
	key   key
	entry uint32 // its number plus 1; 0: the slot is free
}

// key identifies a string in the hash table. Strings of up to exactBytes bytes are
// equal if their keys are. For a longer string, low is a hash, and the strings must be
// compared.
type key struct {
	low, high uint64
	size      uint32
}

const exactBytes = 16

var seed = maphash.MakeSeed()

// keyOf returns the key of a string.
func keyOf(text []byte) key {
	k := key{size: uint32(len(text))}
	switch n := len(text); {
	case n > exactBytes:
		k.low = maphash.Bytes(seed, text)
	case n >= 8:
		k.low, k.high = binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[n-8:])
	case n >= 4:
		k.low = uint64(binary.LittleEndian.Uint32(text)) | uint64(binary.LittleEndian.Uint32(text[n-4:]))<<32
	case n > 0:
		k.low = uint64(text[0]) | uint64(text[n/2])<<8 | uint64(text[n-1])<<16
	}
	return k
}

// start returns the slot at which the search for a key begins, modulo the size of the
// hash table.
func (k key) start() uint64 {
	const multiplier = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio; it spreads the bits
	high, low := bits.Mul64(k.low^multiplier, k.high^uint64(k.size)<<56^multiplier)
	return high ^ low
}

func (d *dictionary) reset() {
	d.bytes, d.ends = d.bytes[:0], append(d.ends[:0], 0)
	clear(d.slots)
}

// len returns the number of entries.
func (d *dictionary) len() int { return len(d.ends) - 1 }

func (d *dictionary) entry(i int32) []byte { return d.bytes[d.ends[i]:d.ends[i+1]] }

// append adds an entry, but does not enter it in the hash table.
func (d *dictionary) append(text []byte) {
	d.bytes = append(d.bytes, text...)
	d.ends = append(d.ends, uint32(len(d.bytes)))
}

// find returns the number of the entry for text. If there is none, it adds the entry if
// add is set, and returns -1 otherwise.
func (d *dictionary) find(text []byte, add bool) int32 {
	if 4*d.len() >= 3*len(d.slots) {
		d.grow()
	}
	k := keyOf(text)
	for at := k.start(); ; at++ {
		s := &d.slots[at&uint64(len(d.slots)-1)]
		if s.entry == 0 {
			if !add {
				return -1
			}
			*s = slot{k, uint32(d.len() + 1)}
			d.append(text)
			return int32(s.entry - 1)
		}
		if s.key == k && (len(text) <= exactBytes || bytes.Equal(d.entry(int32(s.entry-1)), text)) {
			return int32(s.entry - 1)
		}
	}
}

// grow doubles the hash table.
func (d *dictionary) grow() {
	old := d.slots
	d.slots = make([]slot, max(2*len(old), 64))
	for _, s := range old {
		if s.entry == 0 {
			continue
		}
		at := s.key.start()
		for d.slots[at&uint64(len(d.slots)-1)].entry != 0 {
			at++
		}
		d.slots[at&uint64(len(d.slots)-1)] = s
	}
}

// texts has the values of a column of strings: a dictionary, and for each value the
// number of its entry. If most values differ, there is no index, and the entries are
// the values.
type texts struct {
	dictionary
	index []int32 // number of the entry, for each value; empty if plain
	plain bool

	same [][]int32 // for each packer and each of its entries: the number of the entry here plus 1; 0: unknown
}

// trialValues is the number of values between two decisions whether a dictionary pays.
const trialValues = 8192

func (t *texts) reset() {
	t.dictionary.reset()
	t.index, t.plain = t.index[:0], false
	for _, same := range t.same {
		clear(same)
	}
}

// add adds a value.
func (t *texts) add(text []byte) {
	if t.plain {
		t.append(text)
		return
	}
	t.put(t.find(text, true))
}

// put adds a value that is entry i. If most values differ, it gives up the index.
func (t *texts) put(i int32) {
	t.index = append(t.index, i)
	if n := len(t.index); n%trialValues == 0 && t.len() > n/2 {
		t.unpack()
	}
}

// addKnown adds a value that is entry i of a packer's dictionary.
func (t *texts) addKnown(packer int, known *dictionary, i int32) {
	if t.plain {
		t.append(known.entry(i))
		return
	}
	for len(t.same) <= packer {
		t.same = append(t.same, nil)
	}
	if same := t.same[packer]; int(i) >= len(same) {
		t.same[packer] = append(same, make([]int32, known.len()-len(same))...)
	}
	ours := &t.same[packer][i]
	if *ours == 0 {
		*ours = t.find(known.entry(i), true) + 1
	}
	t.put(*ours - 1)
}

// unpack makes the values the entries, in place of the distinct strings.
func (t *texts) unpack() {
	old := t.dictionary
	t.plain, t.bytes, t.ends = true, nil, []uint32{0}
	for _, i := range t.index {
		t.append(old.entry(i))
	}
	t.index = t.index[:0]
}

// width returns the number of bits in which the number of an entry is written: whole
// bytes, because compression then finds repeated sequences.
func width(entries int) int {
	return (bits.Len(uint(max(entries-1, 0))) + 7) / 8 * 8
}
