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
//
// The lower 16 bits of an entry are its index in the round, so that sorting puts the
// first mention of a key first. In a run they are labelled or 0: whether the first
// mention has labels.
type keySet struct {
	round  []uint64
	labels []*labels // of the entries of the round, by index; nil: none
	runs   []run     // the oldest first
	free   [][]uint64

	notes []note // of every round, one for each key whose first mention in the round has labels
	limit int    // drop duplicates when there are so many notes
}

const (
	roundLen  = 1 << 16
	indexBits = 16
	labelled  = 1
)

// run is sorted entries with different keys, in chunks that are full except the last.
type run struct {
	chunks [][]uint64
	n      int
}

func (r *run) at(i uint64) uint64 { return r.chunks[i/roundLen][i%roundLen] }

// note is the labels of a target.
type note struct {
	key    uint64
	labels *labels
}

// add adds a target. s is nil if it has no labels.
func (ks *keySet) add(key uint64, s *labels) {
	if ks.round == nil {
		ks.round = ks.chunk()
	}
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

// chunk returns an empty chunk.
func (ks *keySet) chunk() []uint64 {
	if n := len(ks.free); n > 0 {
		c := ks.free[n-1]
		ks.free = ks.free[:n-1]
		return c
	}
	return make([]uint64, 0, roundLen)
}

// endRound makes a run of the round, and merges it with shorter and similar runs.
func (ks *keySet) endRound() {
	slices.Sort(ks.round)
	kept := ks.round[:0]
	for _, e := range ks.round {
		key := e >> indexBits
		if n := len(kept); n > 0 && kept[n-1]>>indexBits == key {
			continue
		}
		kept = append(kept, key<<indexBits)
		if ks.labels != nil && ks.labels[e%roundLen] != nil {
			kept[len(kept)-1] |= labelled
			ks.notes = append(ks.notes, note{key, ks.labels[e%roundLen]})
		}
	}
	clear(ks.labels)
	ks.round = nil
	ks.runs = append(ks.runs, run{[][]uint64{kept}, len(kept)})
	for n := len(ks.runs); n > 1 && ks.runs[n-2].n <= 2*ks.runs[n-1].n; n-- {
		ks.mergeLast()
	}
	if len(ks.notes) > ks.limit {
		ks.sortNotes()
		ks.limit = max(roundLen, 2*len(ks.notes))
	}
}

// mergeLast merges the two youngest runs. If a key is in both, the entry of the older
// one counts.
func (ks *keySet) mergeLast() {
	last := len(ks.runs) - 1
	a, b := ks.runs[last-1], ks.runs[last]
	var out run
	x, y := a.chunks[0], b.chunks[0]
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		var e uint64
		switch {
		case j == len(y) || i < len(x) && x[i]>>indexBits < y[j]>>indexBits:
			e = x[i]
			i++
		case i == len(x) || y[j]>>indexBits < x[i]>>indexBits:
			e = y[j]
			j++
		default:
			e = x[i]
			i++
			j++
		}
		if out.n%roundLen == 0 {
			out.chunks = append(out.chunks, ks.chunk())
		}
		to := &out.chunks[len(out.chunks)-1]
		*to = append(*to, e)
		out.n++
		if i > 0 && i == len(x) {
			x, i = ks.next(&a), 0
		}
		if j > 0 && j == len(y) {
			y, j = ks.next(&b), 0
		}
	}
	ks.runs = append(ks.runs[:last-1], out)
}

// next frees the first chunk of a run and returns the second, or nil.
func (ks *keySet) next(r *run) []uint64 {
	ks.free = append(ks.free, r.chunks[0][:0])
	r.chunks = r.chunks[1:]
	if len(r.chunks) == 0 {
		return nil
	}
	return r.chunks[0]
}

// sortNotes sorts the notes by key, and keeps the first of each.
func (ks *keySet) sortNotes() {
	slices.SortStableFunc(ks.notes, func(a, b note) int { return cmp.Compare(a.key, b.key) })
	n := len(ks.notes)
	ks.notes = slices.CompactFunc(ks.notes, func(a, b note) bool { return a.key == b.key })
	clear(ks.notes[len(ks.notes):n])
}

// finish returns the keys that keep keeps in one run, and the notes of all targets
// whose first mention has labels, sorted by key. The keySet is empty afterwards.
func (ks *keySet) finish(keep func(key uint64) bool) (run, []note) {
	if len(ks.round) > 0 {
		ks.endRound()
	}
	for len(ks.runs) > 1 {
		ks.mergeLast()
	}
	if len(ks.runs) == 0 {
		return run{}, nil
	}
	all := ks.runs[0]
	ks.sortNotes()
	notes, from := ks.notes[:0], 0
	n := uint64(0)
	for i := range uint64(all.n) {
		e := all.at(i)
		key := e >> indexBits
		if e&labelled != 0 {
			for ks.notes[from].key < key {
				from++
			}
			notes = append(notes, ks.notes[from])
		}
		if keep(key) {
			all.chunks[n/roundLen][n%roundLen] = key
			n++
		}
	}
	all.chunks = all.chunks[:(n+roundLen-1)/roundLen]
	all.n = int(n)
	*ks = keySet{}
	return all, slices.Clip(notes)
}
