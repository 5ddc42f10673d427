package export

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// texts are the values of a column of texts: a dictionary, and for each value the
// number of its entry. If most of the first values differ, there is no dictionary,
// and the entries are the values.
type texts struct {
	bytes []byte   // the entries, one after another
	ends  []uint32 // behind 0 and each entry
	index []int32  // number of the entry, for each value; unless plain
	plain bool

	slots []uint64 // hash table: upper half of the hash, and the number of the entry plus 1
	next  []int32  // for each entry, the one that last followed it as a value
}

// trialValues is how many values decide whether a dictionary pays.
const trialValues = 1024

var seed = maphash.MakeSeed()

func (t *texts) reset() {
	t.bytes, t.ends, t.index, t.plain = t.bytes[:0], append(t.ends[:0], 0), t.index[:0], false
	t.next = t.next[:0]
	clear(t.slots)
}

// len returns the number of entries.
func (t *texts) len() int { return len(t.ends) - 1 }

func (t *texts) entry(i int32) []byte { return t.bytes[t.ends[i]:t.ends[i+1]] }

// append adds an entry.
func (t *texts) append(text []byte) {
	t.bytes = append(t.bytes, text...)
	t.ends = append(t.ends, uint32(len(t.bytes)))
}

// add adds a value.
func (t *texts) add(text []byte) {
	if t.plain {
		t.append(text)
		return
	}
	last := int32(-1)
	if n := len(t.index); n > 0 {
		last = t.index[n-1]
		if guess := t.next[last]; bytes.Equal(t.entry(guess), text) {
			t.index = append(t.index, guess)
			return
		}
	}
	i := t.find(text)
	if last >= 0 {
		t.next[last] = i
	}
	t.index = append(t.index, i)
	if len(t.index) == trialValues && t.len() > trialValues*3/4 {
		t.unpack()
	}
}

// find returns the number of the entry of a text, which it adds if there is none.
func (t *texts) find(text []byte) int32 {
	if 2*t.len() >= len(t.slots) {
		t.grow()
	}
	hash := maphash.Bytes(seed, text)
	for at := hash; ; at++ {
		slot := &t.slots[at&uint64(len(t.slots)-1)]
		if *slot == 0 {
			*slot = hash&^(1<<32-1) | uint64(t.len()+1)
			t.append(text)
			t.next = append(t.next, 0)
			return int32(t.len() - 1)
		}
		if (*slot^hash)>>32 == 0 {
			if i := int32(uint32(*slot)) - 1; bytes.Equal(t.entry(i), text) {
				return i
			}
		}
	}
}

// grow doubles the hash table.
func (t *texts) grow() {
	t.slots = make([]uint64, max(2*len(t.slots), 64))
	for i := range t.len() {
		hash := maphash.Bytes(seed, t.entry(int32(i)))
		for at := hash; ; at++ {
			if slot := &t.slots[at&uint64(len(t.slots)-1)]; *slot == 0 {
				*slot = hash&^(1<<32-1) | uint64(i+1)
				break
			}
		}
	}
}

// unpack replaces the dictionary by the values.
func (t *texts) unpack() {
	old := texts{bytes: t.bytes, ends: t.ends}
	t.plain, t.bytes, t.ends = true, nil, []uint32{0}
	for _, i := range t.index {
		t.append(old.entry(i))
	}
	t.index = t.index[:0]
}

// width returns the number of bits in which the numbers of entries are written: whole
// bytes, because compression then finds sequences that are repeated.
func width(entries int) int {
	switch n := bits.Len(uint(max(entries-1, 0))); {
	case n == 0:
		return 0
	case n <= 8:
		return 8
	case n <= 16:
		return 16
	default:
		return 24
	}
}
