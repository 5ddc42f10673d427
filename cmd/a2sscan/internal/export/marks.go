package export

// marks are the positions at which a node has a value, in ascending order. A position
// is the number of a row, or that of an element if the node is inside a list. Most
// nodes have a value at all positions, or at none, which takes no memory.
type marks struct {
	n    uint32
	gaps bool
	at   []uint32 // if there are gaps
}

func (m *marks) reset() { m.n, m.gaps, m.at = 0, false, m.at[:0] }

// add adds a position after all others.
func (m *marks) add(place uint32) {
	if !m.gaps {
		if place == m.n {
			m.n++
			return
		}
		m.gaps = true
		for i := range m.n {
			m.at = append(m.at, i)
		}
	}
	m.at = append(m.at, place)
	m.n++
}

// place returns the position of mark i.
func (m *marks) place(i uint32) uint32 {
	if m.gaps {
		return m.at[i]
	}
	return i
}

// stream holds the repetition levels of Parquet that all columns inside the same lists
// share. A slot is an index in these levels. Each element has a slot, and so has each
// list that is empty or absent.
type stream struct {
	reps  []byte   // repetition levels; nil: none, because the columns are in no list
	slots []uint32 // the slot of each element; nil: element i has slot i
}

func (s *stream) slot(place uint32) uint32 {
	if s.slots == nil {
		return place
	}
	return s.slots[place]
}

func (s *stream) rep(slot uint32) byte {
	if s.reps == nil {
		return 0
	}
	return s.reps[slot]
}

// levels appends the definition levels of a node to dst. above are those of its parent,
// m are the positions at which the node has a value, and def is their level.
func (s *stream) levels(dst, above []byte, m *marks, def int) []byte {
	from := len(dst)
	dst = append(dst, above...)
	defs := dst[from:]
	switch {
	case m.gaps:
		for _, place := range m.at {
			defs[s.slot(place)] = byte(def)
		}
	case s.slots == nil:
		defs = defs[:m.n]
		for i := range defs {
			defs[i] = byte(def)
		}
	default:
		for _, slot := range s.slots[:m.n] {
			defs[slot] = byte(def)
		}
	}
	return dst
}

// elements returns the stream of the elements of list n, and their definition levels. s
// is the stream of the list itself, and defs are its definition levels.
func (s *stream) elements(n *node, defs []byte) (in stream, levels []byte) {
	size := len(defs) + int(n.elements)
	in.reps, in.slots = make([]byte, 0, size), make([]uint32, 0, n.elements)
	levels = make([]byte, 0, size)
	next := uint32(0)
	until := func(slot uint32) {
		levels = append(levels, defs[next:slot]...)
		if s.reps == nil {
			in.reps = append(in.reps, make([]byte, slot-next)...)
		} else {
			in.reps = append(in.reps, s.reps[next:slot]...)
		}
	}
	for i, length := range n.lengths {
		slot := s.slot(n.marks.place(uint32(i)))
		until(slot)
		next = slot + 1
		in.reps = append(in.reps, s.rep(slot))
		if length == 0 {
			levels = append(levels, byte(n.def))
			continue
		}
		first := len(levels)
		for e := range length {
			in.slots = append(in.slots, uint32(first)+e)
			levels = append(levels, byte(n.def+1))
		}
		for range length - 1 {
			in.reps = append(in.reps, byte(n.rep))
		}
	}
	until(uint32(len(defs)))
	return in, levels
}
