package scanner

// index finds the slot of a packed source: a hash table with open addressing
// that belongs to the loop. An entry is eight bytes: the slot, and half of the
// hash, which tells most sources apart without reading the slot, where the full
// source is. It holds no pointers, so the garbage collector never scans it, and
// it deletes without tombstones.
type index struct {
	slots   *slots
	entries []indexEntry
	n       int
}

type indexEntry struct {
	hash uint32
	slot int32 // + 1; 0: free
}

// hash spreads a packed source over 64 bits (the multiplier is 2^64 divided
// by the golden ratio).
func hash(key uint64) uint64 {
	h := key * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// get returns the slot of key, or -1.
func (x *index) get(key uint64) int32 {
	if at := x.find(key); at >= 0 {
		return x.entries[at].slot - 1
	}
	return -1
}

// find returns the position of key, or -1.
func (x *index) find(key uint64) int {
	if x.n == 0 {
		return -1
	}
	h, mask := uint32(hash(key)), uint32(len(x.entries)-1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch e := x.entries[i]; {
		case e.slot == 0:
			return -1
		case e.hash == h && x.slots.at(e.slot-1).source() == key:
			return int(i)
		}
	}
}

// put adds a slot whose source is not in the index.
func (x *index) put(slot int32) {
	if 4*(x.n+1) > 3*len(x.entries) {
		x.grow()
	}
	x.add(indexEntry{uint32(hash(x.slots.at(slot).source())), slot + 1})
	x.n++
}

func (x *index) add(e indexEntry) {
	mask := uint32(len(x.entries) - 1)
	i := e.hash & mask
	for x.entries[i].slot != 0 {
		i = (i + 1) & mask
	}
	x.entries[i] = e
}

// remove deletes a key and closes the gap.
func (x *index) remove(key uint64) {
	at := x.find(key)
	if at < 0 {
		return
	}
	x.n--
	mask := uint32(len(x.entries) - 1)
	i := uint32(at)
	for j := (i + 1) & mask; x.entries[j].slot != 0; j = (j + 1) & mask {
		home := x.entries[j].hash & mask
		if (j-home)&mask >= (j-i)&mask {
			x.entries[i] = x.entries[j]
			i = j
		}
	}
	x.entries[i] = indexEntry{}
}

func (x *index) grow() {
	old := x.entries
	x.entries = make([]indexEntry, max(1024, 2*len(old)))
	for _, e := range old {
		if e.slot != 0 {
			x.add(e)
		}
	}
}

// all yields every slot in the index.
func (x *index) all(yield func(slot int32) bool) {
	for _, e := range x.entries {
		if e.slot != 0 && !yield(e.slot-1) {
			return
		}
	}
}

// recent remembers the sources that finished, for at least one turn and at most
// two, so that a late reply can be told from a foreign one. It holds at most
// 2 × maxRecent sources: beyond that the oldest turn ends early.
type recent struct {
	now, before sourceSet
}

const maxRecent = 1 << 19

func (r *recent) add(key uint64) {
	if r.now.n >= maxRecent {
		r.turn()
	}
	r.now.add(key)
}

func (r *recent) has(key uint64) bool { return r.now.has(key) || r.before.has(key) }

// turn forgets the sources that finished before the last turn.
func (r *recent) turn() {
	r.now, r.before = r.before, r.now
	r.now.clear()
}

// sourceSet is a set of packed sources.
type sourceSet struct {
	keys []uint64 // packed source + 1; 0: free
	n    int
}

func (s *sourceSet) has(key uint64) bool {
	if s.n == 0 {
		return false
	}
	mask := uint64(len(s.keys) - 1)
	for i := hash(key) & mask; s.keys[i] != 0; i = (i + 1) & mask {
		if s.keys[i] == key+1 {
			return true
		}
	}
	return false
}

func (s *sourceSet) add(key uint64) {
	if 4*(s.n+1) > 3*len(s.keys) {
		s.grow()
	}
	mask := uint64(len(s.keys) - 1)
	i := hash(key) & mask
	for ; s.keys[i] != 0; i = (i + 1) & mask {
		if s.keys[i] == key+1 {
			return
		}
	}
	s.keys[i] = key + 1
	s.n++
}

// remove deletes a key and closes the gap.
func (s *sourceSet) remove(key uint64) {
	if s.n == 0 {
		return
	}
	mask := uint64(len(s.keys) - 1)
	i := hash(key) & mask
	for ; s.keys[i] != key+1; i = (i + 1) & mask {
		if s.keys[i] == 0 {
			return
		}
	}
	s.n--
	for j := (i + 1) & mask; s.keys[j] != 0; j = (j + 1) & mask {
		home := hash(s.keys[j]-1) & mask
		if (j-home)&mask >= (j-i)&mask {
			s.keys[i] = s.keys[j]
			i = j
		}
	}
	s.keys[i] = 0
}

func (s *sourceSet) grow() {
	old := s.keys
	*s = sourceSet{keys: make([]uint64, max(1024, 2*len(old)))}
	for _, k := range old {
		if k != 0 {
			s.add(k - 1)
		}
	}
}

func (s *sourceSet) clear() {
	clear(s.keys)
	s.n = 0
}
