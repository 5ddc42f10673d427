package scanner

// index finds the slot of a packed source: a hash table with open addressing
// that belongs to the loop. It holds no pointers, so the garbage collector
// never looks into it, and it deletes without leaving marks behind.
type index struct {
	keys  []uint64 // packed source + 1; 0: free
	slots []int32
	n     int
}

// hash spreads a packed source over 64 bits (the multiplier is 2^64 divided
// by the golden ratio).
func hash(key uint64) uint64 {
	h := key * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// get returns the slot of key, or -1.
func (x *index) get(key uint64) int32 {
	if x.n == 0 {
		return -1
	}
	mask := uint64(len(x.keys) - 1)
	for i := hash(key) & mask; ; i = (i + 1) & mask {
		switch x.keys[i] {
		case key + 1:
			return x.slots[i]
		case 0:
			return -1
		}
	}
}

// put adds a key that is not there.
func (x *index) put(key uint64, slot int32) {
	if 4*(x.n+1) > 3*len(x.keys) {
		x.grow()
	}
	mask := uint64(len(x.keys) - 1)
	i := hash(key) & mask
	for x.keys[i] != 0 {
		i = (i + 1) & mask
	}
	x.keys[i], x.slots[i] = key+1, slot
	x.n++
}

// remove takes a key out, and moves those behind it up.
func (x *index) remove(key uint64) {
	mask := uint64(len(x.keys) - 1)
	i := hash(key) & mask
	for x.keys[i] != key+1 {
		if x.keys[i] == 0 {
			return
		}
		i = (i + 1) & mask
	}
	x.n--
	for j := (i + 1) & mask; x.keys[j] != 0; j = (j + 1) & mask {
		home := hash(x.keys[j]-1) & mask
		if (j-home)&mask >= (j-i)&mask {
			x.keys[i], x.slots[i] = x.keys[j], x.slots[j]
			i = j
		}
	}
	x.keys[i] = 0
}

func (x *index) grow() {
	old := *x
	size := max(1024, 2*len(old.keys))
	*x = index{keys: make([]uint64, size), slots: make([]int32, size)}
	for i, k := range old.keys {
		if k != 0 {
			x.put(k-1, old.slots[i])
		}
	}
}

// recent remembers the sources that finished, for at least one turn and at
// most two, so that a late reply is told from a foreign one. It holds at most
// 2 × maxRecent of them: beyond that the oldest turn ends early.
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

// turn forgets what finished before the last turn.
func (r *recent) turn() {
	r.now, r.before = r.before, r.now
	r.now.clear()
}

// sourceSet is a set of packed sources, without deletion.
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
