package list

import "slices"

// keySet collects the keys of targets and removes duplicates. A key is the 48-bit number
// that a scatterer made from a target.
//
// The set collects keys in rounds. It sorts each round and removes the duplicates; the
// result is a run. Two runs of similar length are merged, so that there are few runs. Runs
// are made of blocks. A merge refills the blocks that it has emptied, so it takes little
// extra memory.
type keySet struct {
	// round holds each key with its index in the round. Sorting therefore puts the first
	// mention of a key before its other mentions.
	round  []uint64
	labels []*labels  // labels of the keys in round, by index
	runs   []run      // the oldest first
	empty  [][]uint64 // blocks for reuse
}

// run is a sequence of keys in ascending order, without duplicates.
type run struct {
	keys  sorted
	taken int    // number of keys that were taken from the first block
	notes []note // the labels, in the order of their keys; most keys have none
}

// sorted holds keys in ascending order, in blocks of roundLen keys; only the last block
// may have fewer. Each key is shifted left by indexBits; the lowest bit is set if the first
// mention of the key has labels.
type sorted [][]uint64

type note struct {
	key    uint64
	labels *labels
}

const (
	indexBits = 16
	roundLen  = 1 << indexBits
	noKey     = uint64(1) << 63
)

func (s sorted) len() (n uint64) {
	if last := len(s) - 1; last >= 0 {
		n = uint64(last*roundLen + len(s[last]))
	}
	return n
}

func (s sorted) at(i uint64) uint64 { return s[i/roundLen][i%roundLen] >> indexBits }

// add adds the key of a target. s is nil if the target has no labels.
func (ks *keySet) add(key uint64, s *labels) {
	ks.labels[len(ks.round)] = s
	ks.round = append(ks.round, key<<indexBits|uint64(len(ks.round)))
	if len(ks.round) == roundLen {
		ks.endRound()
	}
}

// endRound turns the round into a run, and merges this run with earlier runs that are at
// most twice as long.
func (ks *keySet) endRound() {
	slices.Sort(ks.round)
	r := run{}
	last := noKey
	for _, e := range ks.round {
		if key := e >> indexBits; key != last {
			last = key
			ks.put(&r, key, ks.labels[e%roundLen])
		}
	}
	ks.round = ks.round[:0]
	ks.runs = append(ks.runs, r)
	for n := len(ks.runs); n > 1 && ks.runs[n-2].keys.len() <= 2*ks.runs[n-1].keys.len(); n-- {
		ks.mergeLast()
	}
}

func (ks *keySet) put(r *run, key uint64, s *labels) {
	last := len(r.keys) - 1
	if last < 0 || len(r.keys[last]) == roundLen {
		if len(ks.empty) == 0 {
			ks.empty = append(ks.empty, make([]uint64, 0, roundLen))
		}
		last++
		r.keys = append(r.keys, ks.empty[len(ks.empty)-1])
		ks.empty = ks.empty[:len(ks.empty)-1]
	}
	e := key << indexBits
	if s != nil {
		e++
		r.notes = append(r.notes, note{key, s})
	}
	r.keys[last] = append(r.keys[last], e)
}

func (r *run) first() uint64 {
	if len(r.keys) == 0 {
		return noKey
	}
	return r.keys[0][r.taken] >> indexBits
}

// take removes the first key of a run, and returns the labels of that key.
func (ks *keySet) take(r *run) (s *labels) {
	if r.keys[0][r.taken]%roundLen != 0 {
		s, r.notes = r.notes[0].labels, r.notes[1:]
	}
	if r.taken++; r.taken == len(r.keys[0]) {
		ks.empty = append(ks.empty, r.keys[0][:0])
		r.keys, r.taken = r.keys[1:], 0
	}
	return s
}

// mergeLast merges the two latest runs. If a key is in both, the labels in the older run
// are used.
func (ks *keySet) mergeLast() {
	last := len(ks.runs) - 1
	a, b, out := ks.runs[last-1], ks.runs[last], run{}
	for {
		x, y := a.first(), b.first()
		if x == y {
			if x == noKey {
				break
			}
			ks.take(&b)
		}
		if x <= y {
			ks.put(&out, x, ks.take(&a))
		} else {
			ks.put(&out, y, ks.take(&b))
		}
	}
	ks.runs = append(slices.Delete(ks.runs, last-1, last+1), out) // Delete also zeroes the unused slots, so that their labels can be freed
}

// finish merges all runs. It returns the keys for which keep returns true, and the labels
// of all keys. After finish, the set must not be used.
func (ks *keySet) finish(keep func(key uint64) bool) (sorted, []note) {
	ks.endRound()
	for len(ks.runs) > 1 {
		ks.mergeLast()
	}
	all, chosen := ks.runs[0], run{}
	notes := all.notes
	for key := all.first(); key != noKey; key = all.first() {
		if ks.take(&all); keep(key) {
			ks.put(&chosen, key, nil)
		}
	}
	return chosen.keys, notes
}
