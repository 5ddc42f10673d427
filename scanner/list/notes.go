package list

import (
	"cmp"
	"context"
	"slices"
)

// notes holds the labels of targets: 16 bytes per target, plus the text of the
// labels. Labels can be looked up after a merge.
type notes struct {
	parts [noteParts][]note
	texts textStore
	any   bool
}

const (
	noteParts = 1 << 8
	posBits   = 24
	posMask   = 1<<posBits - 1
)

// note holds the labels of one target. Until the next merge it also holds how many
// numbers the target's bucket had when the note was made. This shows whether the
// target had been named before without labels.
type note struct {
	key  uint64
	text uint64 // number of the text << posBits | size of the bucket then; 0: dropped
}

func (n note) pos() uint32 { return uint32(n.text & posMask) }

func (n note) number() uint64 { return n.text >> posBits }

func (ns *notes) add(key uint64, pos uint32, s labels) {
	ns.any = true
	part := &ns.parts[key>>(keyBits-8)]
	*part = append(*part, note{key, ns.texts.add(s)<<posBits | uint64(min(pos, posMask))})
}

// sort sorts the notes before a merge of the buckets. If a target has several
// notes, only the first is kept.
func (ns *notes) sort(ctx context.Context) error {
	if !ns.any {
		return nil
	}
	return inParallel(ctx, noteParts, func() func(int) {
		return func(i int) { ns.parts[i] = firstNotes(ns.parts[i]) }
	})
}

func firstNotes(part []note) []note {
	slices.SortFunc(part, func(a, b note) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.pos(), b.pos()))
	})
	return slices.CompactFunc(part, func(a, b note) bool { return a.key == b.key })
}

func compareKey(n note, key uint64) int { return cmp.Compare(n.key, key) }

// of returns the notes of the targets in a bucket.
func (ns *notes) of(bucket int) []note {
	part := ns.parts[bucket>>8]
	first, _ := slices.BinarySearchFunc(part, uint64(bucket)<<slotBits, compareKey)
	last, _ := slices.BinarySearchFunc(part, uint64(bucket+1)<<slotBits, compareKey)
	return part[first:last]
}

// visit is a visitor of the buckets. It marks for removal the notes of targets that
// were first named without labels, and makes the other notes final.
func (ns *notes) visit(bucket int, known, came []uint32) {
	if !ns.any {
		return
	}
	here := ns.of(bucket)
	for i := range here {
		n := &here[i]
		if n.pos() >= uint32(len(known)) && !isFirst(n, known, came) {
			n.text = 0
		} else {
			n.text &^= posMask
		}
	}
}

// isFirst reports whether a new note belongs to the first mention of its target.
func isFirst(n *note, known, came []uint32) bool {
	if _, found := slices.BinarySearch(known, uint32(n.key)); found {
		return false
	}
	first := slices.Index(came, uint32(n.key))
	return first < 0 || uint32(len(known)+first) >= n.pos()
}

// sweep removes the notes that visit marked. If unused labels may take as much
// memory as the others, it removes these too.
func (ns *notes) sweep() {
	if !ns.any {
		return
	}
	for i := range ns.parts {
		ns.parts[i] = slices.DeleteFunc(ns.parts[i], func(n note) bool { return n.text == 0 })
	}
	if ns.texts.full() {
		ns.sweepTexts()
	}
}

func (ns *notes) sweepTexts() {
	var inUse []uint64
	for _, part := range ns.parts {
		for _, n := range part {
			inUse = append(inUse, n.number())
		}
		slices.Sort(inUse)
		inUse = slices.Compact(inUse)
	}
	moved := ns.texts.sweep(inUse)
	for _, part := range ns.parts {
		for i := range part {
			at, _ := slices.BinarySearch(inUse, part[i].number())
			part[i].text = moved[at]<<posBits | uint64(part[i].pos())
		}
	}
}

// find returns the text of a target.
func (ns *notes) find(key uint64) (s labels, found bool) {
	part := ns.parts[key>>(keyBits-8)]
	i, found := slices.BinarySearchFunc(part, key, compareKey)
	if !found {
		return labels{}, false
	}
	return ns.texts.get(part[i].number()), true
}
