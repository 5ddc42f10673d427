package list

import "slices"

// keySet collects the keys of targets and removes duplicates. A key is the 48-bit number
// that a scatterer made from a target.
//
// The set collects keys in rounds. It sorts each round and removes the duplicates; the
// result is a run. Two runs of similar length are merged, so that there are few runs.
type keySet struct {
	// round holds each key with its index in the round. Sorting therefore puts the first
	// mention of a key before its other mentions.
	round  []uint64
	labels []*labels // labels of the keys in round, by index
	runs   []run     // the oldest first
}

// run is a sequence of keys in ascending order, without duplicates.
type run struct {
	keys  sorted
	notes []note // the labels, in the order of their keys; most keys have none
}

// sorted holds keys in ascending order. Each key is shifted left by indexBits; the lowest
// bit is set if the first mention of the key has labels.
type sorted []uint64

type note struct {
	key    uint64
	labels *labels
}

const (
	indexBits = 16
	roundLen  = 1 << indexBits
	noKey     = uint64(1) << 63
)

func (s sorted) len() uint64 { return uint64(len(s)) }

func (s sorted) at(i uint64) uint64 { return s[i] >> indexBits }

// first returns the first key, or noKey if there is none.
func (s sorted) first() uint64 {
	if len(s) == 0 {
		return noKey
	}
	return s.at(0)
}

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
	r, last := run{keys: make(sorted, 0, len(ks.round))}, noKey
	for _, e := range ks.round {
		key := e >> indexBits
		if key == last {
			continue
		}
		last = key
		s, e := ks.labels[e%roundLen], key<<indexBits
		if s != nil {
			e++
			r.notes = append(r.notes, note{key, s})
		}
		r.keys = append(r.keys, e)
	}
	ks.round = ks.round[:0]
	ks.runs = append(ks.runs, r)
	for n := len(ks.runs); n > 1 && ks.runs[n-2].keys.len() <= 2*ks.runs[n-1].keys.len(); n-- {
		ks.mergeLast()
	}
}

// mergeLast merges the two latest runs. If a key is in both, the labels in the older run
// are used.
func (ks *keySet) mergeLast() {
	last := len(ks.runs) - 1
	a, b := ks.runs[last-1], ks.runs[last]
	out := run{make(sorted, 0, len(a.keys)+len(b.keys)), make([]note, 0, len(a.notes)+len(b.notes))}
	for len(a.keys)+len(b.keys) > 0 {
		from, x, y := &a, a.keys.first(), b.keys.first()
		switch {
		case x == y:
			b.take()
		case y < x:
			from = &b
		}
		e, notes := from.take()
		out.keys, out.notes = append(out.keys, e), append(out.notes, notes...)
	}
	ks.runs = append(slices.Delete(ks.runs, last-1, last+1), out) // Delete also zeroes the unused slots, so that their labels can be freed
}

// take removes the first key of a run and its labels.
func (r *run) take() (e uint64, notes []note) {
	e, r.keys = r.keys[0], r.keys[1:]
	if e%roundLen != 0 {
		notes, r.notes = r.notes[:1], r.notes[1:]
	}
	return e, notes
}

// finish merges all runs. It returns the keys for which keep returns true, and the labels
// of all keys. After finish, the set must not be used.
func (ks *keySet) finish(keep func(key uint64) bool) (sorted, []note) {
	ks.endRound()
	for len(ks.runs) > 1 {
		ks.mergeLast()
	}
	all := ks.runs[0]
	return slices.DeleteFunc(all.keys, func(e uint64) bool { return !keep(e >> indexBits) }), all.notes
}
