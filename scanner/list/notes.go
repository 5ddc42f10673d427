package list

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// said is what a line says beside its target. Its bytes are the reader's.
type said struct{ tag, master []byte }

func (s said) nothing() bool { return len(s.tag)+len(s.master) == 0 }

// textStore keeps what was said in memory that never moves. A text is found by a
// number; 0 is none.
type textStore struct {
	slabs  [][]byte
	recent []uint64 // by hash: the same is often said of many
	seed   maphash.Seed
}

const (
	textSlab  = 1 << 20
	textBits  = 20
	maxRecent = 1 << 10
)

func (ts *textStore) add(s said) uint64 {
	if s.nothing() {
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

func (ts *textStore) is(at uint64, s said) bool {
	old := ts.get(at)
	return string(old.tag) == string(s.tag) && string(old.master) == string(s.master)
}

// put appends a text: two lengths, tag, master.
func (ts *textStore) put(s said) uint64 {
	need := 2*binary.MaxVarintLen64 + len(s.tag) + len(s.master)
	last := len(ts.slabs) - 1
	if last < 0 || cap(ts.slabs[last])-len(ts.slabs[last]) < need {
		ts.slabs = append(ts.slabs, make([]byte, 0, max(need, textSlab)))
		last++
	}
	b := ts.slabs[last]
	at := uint64(last)<<textBits | uint64(len(b))
	b = binary.AppendUvarint(b, uint64(len(s.tag)))
	b = binary.AppendUvarint(b, uint64(len(s.master)))
	ts.slabs[last] = append(append(b, s.tag...), s.master...)
	return at + 1
}

func (ts *textStore) get(at uint64) said {
	if at == 0 {
		return said{}
	}
	at--
	b := ts.slabs[at>>textBits][at&(1<<textBits-1):]
	tag, n := binary.Uvarint(b)
	b = b[n:]
	master, n := binary.Uvarint(b)
	b = b[n:]
	return said{b[:tag:tag], b[tag : tag+master : tag+master]}
}

// notes are the texts of some targets, which they are found by after sort. 16
// bytes each.
type notes struct {
	parts [noteParts][]note
	any   bool
}

const (
	noteParts = 1 << 8
	posBits   = 24
	posMask   = 1<<posBits - 1
)

// note says which text is that of a target. Beside it stands how many targets
// were in the target's bucket when the note was made: by that it is known
// whether something was said when the target was named first.
type note struct {
	key  uint64
	text uint64 // number of the text << posBits | position; 0: no use
}

func (n note) pos() uint32 { return uint32(n.text & posMask) }

func (ns *notes) add(key uint64, pos uint32, text uint64) {
	ns.any = true
	part := &ns.parts[key>>(keyBits-8)]
	*part = append(*part, note{key, text<<posBits | uint64(min(pos, posMask))})
}

// sort makes notes ready to be found. Of several of one target the first stays.
func (ns *notes) sort(ctx context.Context) {
	if !ns.any {
		return
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= noteParts {
					return
				}
				ns.parts[i] = firstNotes(ns.parts[i])
			}
		})
	}
	workers.Wait()
}

func firstNotes(part []note) []note {
	slices.SortFunc(part, func(a, b note) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.pos(), b.pos()))
	})
	return slices.CompactFunc(part, func(a, b note) bool { return a.key == b.key })
}

func compareKey(n note, key uint64) int { return cmp.Compare(n.key, key) }

// of returns the notes of a bucket.
func (ns *notes) of(bucket int) []note {
	part := ns.parts[bucket>>8]
	first, _ := slices.BinarySearchFunc(part, uint64(bucket)<<slotBits, compareKey)
	last, _ := slices.BinarySearchFunc(part, uint64(bucket+1)<<slotBits, compareKey)
	return part[first:last]
}

// onlyFirst takes away the notes of a bucket's targets that were named before,
// without any.
func (ns *notes) onlyFirst(bucket int, came []uint32) {
	here := ns.of(bucket)
	for i := range here {
		first := slices.Index(came, uint32(here[i].key))
		if first >= 0 && uint32(first) < here[i].pos() {
			here[i].text = 0
		}
	}
}

// find returns the number of the text of a target.
func (ns *notes) find(key uint64) (text uint64, found bool) {
	part := ns.parts[key>>(keyBits-8)]
	i, found := slices.BinarySearchFunc(part, key, compareKey)
	if !found {
		return 0, false
	}
	return part[i].text >> posBits, true
}
