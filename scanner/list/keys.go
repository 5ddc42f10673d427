package list

import (
	"cmp"
	"slices"
)

// keySet collects the keys of targets and removes duplicates. A key is a number of
// 48 bits that a scatterer made of a target.
//
// Keys come in rounds. A round is sorted, its duplicates are dropped, and it becomes
// a run. Two runs of similar length are merged, so that there are few runs, and the
// memory depends on the number of distinct keys, however often each of them comes. A
// key takes 8 bytes: the chunks of merged runs are used again, and nothing is ever
// copied to a larger array.
type keySet struct {
	round  []uint64  // keys, and their indexes in the round, so that sorting puts the first mention first
	labels []*labels // of the round, by index; nil: none
	runs   []run     // the oldest first; after finish there is one
	free   []*chunk
}

// run is different keys in ascending order. The lower bits of an entry are labelled or
// 0: whether the first mention of its key has labels.
type run struct {
	chunks []*chunk
	start  int    // of the entries that are left, in chunks[0]
	n      int    // how many there are
	notes  []note // the labels of these entries, in their order
}

type chunk [roundLen]uint64

const (
	roundLen  = 1 << 16
	indexBits = 16
	labelled  = 1
)

// note is the labels of a target.
type note struct {
	key    uint64
	labels *labels
}

// add adds a target. s is nil if it has no labels.
func (ks *keySet) add(key uint64, s *labels) {
	if s != nil {
		if ks.labels == nil {
			ks.labels = make([]*labels, roundLen)
		}
		ks.labels[len(ks.round)] = s
	}
	ks.round = append(ks.round, key<<indexBits|uint64(len(ks.round)))
	if len(ks.round) == roundLen {
		ks.endRound()
	}
}

// endRound makes a run of the round, and merges it with shorter and similar runs.
func (ks *keySet) endRound() {
	slices.Sort(ks.round)
	var r run
	last := uint64(1) << 63
	for _, e := range ks.round {
		key := e >> indexBits
		if key == last {
			continue
		}
		last = key
		if ks.labels != nil && ks.labels[e%roundLen] != nil {
			r.notes = append(r.notes, note{key, ks.labels[e%roundLen]})
			ks.push(&r, key<<indexBits|labelled)
		} else {
			ks.push(&r, key<<indexBits)
		}
	}
	clear(ks.labels)
	ks.round = ks.round[:0]
	ks.runs = append(ks.runs, r)
	for n := len(ks.runs); n > 1 && ks.runs[n-2].n <= 2*ks.runs[n-1].n; n-- {
		ks.mergeLast()
	}
}

// push appends an entry to a run from which nothing has been taken.
func (ks *keySet) push(r *run, e uint64) {
	if r.n%roundLen == 0 {
		if len(ks.free) == 0 {
			ks.free = append(ks.free, new(chunk))
		}
		last := len(ks.free) - 1
		r.chunks = append(r.chunks, ks.free[last])
		ks.free = ks.free[:last]
	}
	r.chunks[r.n/roundLen][r.n%roundLen] = e
	r.n++
}

// first returns the first key of a run, or one that is larger than all.
func (r *run) first() uint64 {
	if r.n == 0 {
		return 1 << 63
	}
	return r.chunks[0][r.start] >> indexBits
}

// move takes the first entry of a run and appends it to another one, unless that is nil.
func (ks *keySet) move(from, to *run) {
	e := from.chunks[0][from.start]
	if to != nil {
		ks.push(to, e)
	}
	if e&labelled != 0 {
		if to != nil {
			to.notes = append(to.notes, from.notes[0])
		}
		from.notes = from.notes[1:]
	}
	from.n--
	if from.start++; from.start == roundLen || from.n == 0 {
		ks.free = append(ks.free, from.chunks[0])
		from.chunks, from.start = from.chunks[1:], 0
	}
}

// mergeLast merges the two youngest runs. If a key is in both, the entry of the older
// one counts.
func (ks *keySet) mergeLast() {
	last := len(ks.runs) - 1
	a, b := ks.runs[last-1], ks.runs[last]
	var out run
	for a.n+b.n > 0 {
		x, y := a.first(), b.first()
		if x == y {
			ks.move(&b, nil)
		}
		if x <= y {
			ks.move(&a, &out)
		} else {
			ks.move(&b, &out)
		}
	}
	ks.runs = append(ks.runs[:last-1], out)
}

// finish merges everything, and drops the keys that keep does not keep. Then len, at
// and find can be used, and add can't.
func (ks *keySet) finish(keep func(key uint64) bool) {
	ks.endRound()
	for len(ks.runs) > 1 {
		ks.mergeLast()
	}
	all := &ks.runs[0]
	n := 0
	for i := range uint64(all.n) {
		if key := ks.at(i) >> indexBits; keep(key) {
			all.chunks[n/roundLen][n%roundLen] = key
			n++
		}
	}
	all.chunks, all.n = all.chunks[:(n+roundLen-1)/roundLen], n
	ks.round, ks.labels, ks.free = nil, nil, nil
}

// len returns the number of keys.
func (ks *keySet) len() uint64 { return uint64(ks.runs[0].n) }

// at returns the key with index i in ascending order.
func (ks *keySet) at(i uint64) uint64 { return ks.runs[0].chunks[i/roundLen][i%roundLen] }

// find returns the labels of a target, or nil.
func (ks *keySet) find(key uint64) *labels {
	notes := ks.runs[0].notes
	i, found := slices.BinarySearchFunc(notes, key, func(n note, key uint64) int { return cmp.Compare(n.key, key) })
	if !found {
		return nil
	}
	return notes[i].labels
}
