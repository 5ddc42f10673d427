package scanner

// index finds the slot of a packed source. It is a hash table with open addressing
// and belongs to the loop. An entry has eight bytes: the slot, and half of the
// hash. The half distinguishes most sources without a look at the slot, which holds
// the full source. The table has no pointers, so the garbage collector never scans
// it, and it deletes without tombstones.
type index struct {
	slots   *slots
	entries []indexEntry
	n       int
}

type indexEntry struct {
	hash uint32
	slot int32 // slot number + 1; 0: free
}

// hash spreads a packed source over 64 bits (the multiplier is 2^64 divided by the
// golden ratio).
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

// recent remembers the sources of finished targets, for at least one turn and at most
// two, so that the scan can distinguish late replies from foreign ones. It holds at
// most 2 × maxRecent sources; a full turn ends early.
type recent struct {
	now, before sourceSet
}

const maxRecent = 1 << 19

func (r *recent) add(key uint64, m mark) {
	if r.now.n >= maxRecent {
		r.turn()
	}
	r.now.add(key, m)
}

func (r *recent) has(key uint64) bool { return r.now.has(key) || r.before.has(key) }

// find returns the mark of a source, and whether recent contains the source.
func (r *recent) find(key uint64) (mark, bool) {
	if m, ok := r.now.find(key); ok {
		return m, true
	}
	return r.before.find(key)
}

// unmark removes the mark of a source.
func (r *recent) unmark(key uint64) {
	r.now.unmark(key)
	r.before.unmark(key)
}

// turn forgets the sources that finished before the current turn began, and begins
// a new turn.
func (r *recent) turn() {
	r.now, r.before = r.before, r.now
	r.now.clear()
}

// mark is what the scan remembers of a closed target (see forgery.go).
type mark uint16

// sourceSet is a set of packed sources, each with a mark. It cannot hold the
// highest source, 255.255.255.255:65535.
type sourceSet struct {
	keys []uint64 // packed source + 1, with its mark in the bits above; 0: free
	n    int
}

const (
	sourceBits = 48
	sourceMask = 1<<sourceBits - 1
)

// slotOf returns the position of key, or where it would be inserted. keys must not
// be empty.
func (s *sourceSet) slotOf(key uint64) (i uint64, found bool) {
	mask := uint64(len(s.keys) - 1)
	for i = hash(key) & mask; s.keys[i] != 0; i = (i + 1) & mask {
		if s.keys[i]&sourceMask == key+1 {
			return i, true
		}
	}
	return i, false
}

func (s *sourceSet) has(key uint64) bool {
	_, ok := s.find(key)
	return ok
}

func (s *sourceSet) find(key uint64) (mark, bool) {
	if s.n == 0 {
		return 0, false
	}
	i, ok := s.slotOf(key)
	return mark(s.keys[i] >> sourceBits), ok
}

func (s *sourceSet) unmark(key uint64) {
	if s.n == 0 {
		return
	}
	if i, ok := s.slotOf(key); ok {
		s.keys[i] &= sourceMask
	}
}

func (s *sourceSet) add(key uint64, m mark) {
	if key >= sourceMask {
		return
	}
	if 4*(s.n+1) > 3*len(s.keys) {
		s.grow()
	}
	if i, ok := s.slotOf(key); !ok {
		s.keys[i] = key + 1 | uint64(m)<<sourceBits
		s.n++
	}
}

// remove deletes a key and closes the gap.
func (s *sourceSet) remove(key uint64) {
	if s.n == 0 {
		return
	}
	i, ok := s.slotOf(key)
	if !ok {
		return
	}
	s.n--
	mask := uint64(len(s.keys) - 1)
	for j := (i + 1) & mask; s.keys[j] != 0; j = (j + 1) & mask {
		home := hash(s.keys[j]&sourceMask-1) & mask
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
			s.add(k&sourceMask-1, mark(k>>sourceBits))
		}
	}
}

func (s *sourceSet) clear() {
	clear(s.keys)
	s.n = 0
}
