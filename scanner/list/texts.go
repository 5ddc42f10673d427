package list

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
)

// labels are the strings that belong to a target: its tag, and what a master server
// reported about it. The slices are valid only until the reader of the list
// continues.
type labels struct{ tag, master []byte }

func (l labels) empty() bool { return len(l.tag)+len(l.master) == 0 }

// textStore stores labels in memory that does not move. A number identifies each of
// them; 0 stands for empty labels.
type textStore struct {
	slabs  [][]byte
	recent []uint64 // by hash: many targets in a row often have the same text
	seed   maphash.Seed
	size   int // bytes in the slabs
	limit  int // sweep when size exceeds it
	floor  int // the least limit; 0: minSweep
}

const (
	textSlab  = 1 << 20
	textBits  = 20
	maxRecent = 1 << 10

	// minSweep is the size of the texts below which sweeping is not worthwhile.
	minSweep = 4 << 20
)

// add stores a text and returns its number.
func (ts *textStore) add(s labels) uint64 {
	if s.empty() {
		return 0
	}
	if ts.recent == nil {
		ts.recent, ts.seed = make([]uint64, maxRecent), maphash.MakeSeed()
	}
	h := maphash.Bytes(ts.seed, s.tag) ^ maphash.Bytes(ts.seed, s.master)*3
	if old := ts.recent[h%maxRecent]; old != 0 && ts.is(old, s) {
		return old
	}
	at := ts.put(s)
	ts.recent[h%maxRecent] = at
	return at
}

func (ts *textStore) is(at uint64, s labels) bool {
	old := ts.get(at)
	return string(old.tag) == string(s.tag) && string(old.master) == string(s.master)
}

// put appends a text: two lengths, tag, master.
func (ts *textStore) put(s labels) uint64 {
	need := 2*binary.MaxVarintLen64 + len(s.tag) + len(s.master)
	last := len(ts.slabs) - 1
	if last < 0 || cap(ts.slabs[last])-len(ts.slabs[last]) < need {
		ts.slabs = append(ts.slabs, make([]byte, 0, max(need, textSlab)))
		last++
	}
	b := ts.slabs[last]
	at := uint64(last)<<textBits | uint64(len(b))
	ts.size -= len(b)
	b = binary.AppendUvarint(b, uint64(len(s.tag)))
	b = binary.AppendUvarint(b, uint64(len(s.master)))
	b = append(append(b, s.tag...), s.master...)
	ts.size += len(b)
	ts.slabs[last] = b
	return at + 1
}

// get returns the text with the given number.
func (ts *textStore) get(at uint64) labels {
	if at == 0 {
		return labels{}
	}
	at--
	b := ts.slabs[at>>textBits][at&(1<<textBits-1):]
	tag, n := binary.Uvarint(b)
	b = b[n:]
	master, n := binary.Uvarint(b)
	b = b[n:]
	return labels{b[:tag:tag], b[tag : tag+master : tag+master]}
}

// full reports whether the size of the labels may have doubled since the last
// sweep.
func (ts *textStore) full() bool { return ts.size >= max(ts.limit, cmp.Or(ts.floor, minSweep)) }

// sweep keeps only the texts with the given numbers, which must be in ascending
// order, and returns their new numbers.
func (ts *textStore) sweep(keep []uint64) (moved []uint64) {
	kept := textStore{floor: ts.floor}
	moved = make([]uint64, len(keep))
	for i, at := range keep {
		moved[i] = kept.put(ts.get(at))
		if slab := (at - 1) >> textBits; i+1 < len(keep) && (keep[i+1]-1)>>textBits > slab {
			clear(ts.slabs[:slab+1]) // the remaining steps do not need these slabs
		}
	}
	kept.limit = 2 * kept.size
	*ts = kept
	return moved
}
