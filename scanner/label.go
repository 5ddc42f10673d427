package scanner

import "github.com/a2sscan/a2sscan/scanner/udp"

// label is the tag of a target from its list and the master's data about it. The
// scan passes it on to the Result. Most lists have neither, so the scan holds a
// pointer, which is nil for such targets, and a label costs memory only where there
// is one.
type label struct{ tag, master string }

// labelOf returns the label of a target of the list.
func labelOf(t *Target) *label {
	if t.Tag == "" && t.Master == "" {
		return nil
	}
	return &label{t.Tag, t.Master}
}

// mark writes the label into its target's result.
func (l *label) mark(r *Result) {
	if l != nil {
		r.Tag, r.Master = l.tag, l.master
	}
}

// target returns a target as its list gave it, but without its Place.
func (l *label) target(addr uint64) Target {
	t := Target{Addr: udp.Unpack(addr)}
	if l != nil {
		t.Tag, t.Master = l.tag, l.master
	}
	return t
}

// labels holds the labels of open targets, indexed by slot, in chunks like the
// slots. A chunk is allocated when it gets its first label.
type labels struct{ chunks [][]*label }

func (s *labels) get(i int32) *label {
	if c := int(i / chunkSlots); c < len(s.chunks) && s.chunks[c] != nil {
		return s.chunks[c][i%chunkSlots]
	}
	return nil
}

// set sets the label of slot i; nil removes it.
func (s *labels) set(i int32, l *label) {
	c := int(i / chunkSlots)
	if l == nil && (c >= len(s.chunks) || s.chunks[c] == nil) {
		return
	}
	for c >= len(s.chunks) {
		s.chunks = append(s.chunks, nil)
	}
	if s.chunks[c] == nil {
		s.chunks[c] = make([]*label, chunkSlots)
	}
	s.chunks[c][i%chunkSlots] = l
}
