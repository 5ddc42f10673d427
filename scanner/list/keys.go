package list

import (
	"runtime"
	"slices"
)

// keySet collects the keys of targets and removes duplicates. A key is a number of
// 48 bits that a scatterer made of a target.
//
// Keys come in rounds. A round is sorted, its duplicates are dropped, and it becomes
// a run. Two runs of similar length are merged, so that there are few runs, and the
// memory depends on the number of distinct keys, however often each of them comes: 8
// bytes each, and as much again while they are merged.
type keySet struct {
	round  []uint64  // keys, and their indexes in the round, so that sorting puts the first mention first
	labels []*labels // of the round, by index; nil: none
	runs   []run     // the oldest first
}

// run is different keys in ascending order.
type run struct {
	keys  []uint64 // shifted left by indexBits; the lowest bit is set if the first mention has labels
	notes []note   // these labels, in the order of the keys
}

// note is the labels of a target.
type note struct {
	key    uint64
	labels *labels
}

const (
	indexBits = 16
	roundLen  = 1 << indexBits
	noKey     = uint64(1) << 63
	bigRun    = 1 << 20 // keys, 8 MiB
)

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
	r := run{keys: make([]uint64, 0, len(ks.round))}
	last := noKey
	for _, e := range ks.round {
		if key := e >> indexBits; key != last {
			last = key
			var s *labels
			if ks.labels != nil {
				s = ks.labels[e%roundLen]
			}
			r.add(key, s)
		}
	}
	clear(ks.labels)
	ks.round = ks.round[:0]
	ks.runs = append(ks.runs, r)
	for n := len(ks.runs); n > 1 && len(ks.runs[n-2].keys) <= 2*len(ks.runs[n-1].keys); n-- {
		ks.mergeLast()
	}
}

func (r *run) add(key uint64, s *labels) {
	e := key << indexBits
	if s != nil {
		e++
		r.notes = append(r.notes, note{key, s})
	}
	r.keys = append(r.keys, e)
}

// first returns the first key of a run, or noKey.
func (r *run) first() uint64 {
	if len(r.keys) == 0 {
		return noKey
	}
	return r.keys[0] >> indexBits
}

// take removes the first key, and returns its labels.
func (r *run) take() (s *labels) {
	if r.keys[0]%roundLen != 0 {
		s, r.notes = r.notes[0].labels, r.notes[1:]
	}
	r.keys = r.keys[1:]
	return s
}

// mergeLast merges the two youngest runs. If a key is in both, the entry of the older
// one counts.
func (ks *keySet) mergeLast() {
	last := len(ks.runs) - 1
	a, b := ks.runs[last-1], ks.runs[last]
	if len(a.keys) > bigRun {
		runtime.GC() // frees the runs that were merged before: at most 16 bytes per target are in use
	}
	out := run{keys: make([]uint64, 0, len(a.keys)+len(b.keys))}
	for len(a.keys)+len(b.keys) > 0 {
		x, y := a.first(), b.first()
		if x == y {
			b.take()
		}
		if x <= y {
			out.add(x, a.take())
		} else {
			out.add(y, b.take())
		}
	}
	ks.runs = append(slices.Delete(ks.runs, last-1, last+1), out) // Delete frees them
}

// finish merges everything, and returns the keys that keep keeps, in ascending order,
// and the labels of all keys. The set must not be used afterwards.
func (ks *keySet) finish(keep func(key uint64) bool) (keys []uint64, notes []note) {
	ks.endRound()
	for len(ks.runs) > 1 {
		ks.mergeLast()
	}
	all := ks.runs[0]
	for i := range all.keys {
		all.keys[i] >>= indexBits
	}
	return slices.DeleteFunc(all.keys, func(key uint64) bool { return !keep(key) }), all.notes
}
