package scanner

import (
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// label is what a target has beside its address: the tag from its list, the master's
// data about it, and how it is to be asked. Most lists have none of these, so the scan
// holds a pointer, which is nil for such targets, and a label costs memory only where
// there is one.
type label struct {
	tag, master string
	challenge   wire.Challenge // for the first attempt at INFO, or NoChallenge
	infoOnly    bool
}

// labelOf returns the label of a target of the list.
func labelOf(t *Target) *label {
	if t.Tag == "" && t.Master == "" && t.Challenge == 0 && !t.InfoOnly {
		return nil
	}
	l := &label{tag: t.Tag, master: t.Master, challenge: wire.NoChallenge, infoOnly: t.InfoOnly}
	if t.Challenge != 0 {
		l.challenge = wire.Challenge(t.Challenge)
	}
	return l
}

// questions returns those of all that the target is asked.
func (l *label) questions(all Questions) Questions {
	if l != nil && l.infoOnly {
		return all & AskInfo
	}
	return all
}

// remembered returns the challenge for the first attempt at INFO, or NoChallenge.
func (l *label) remembered() wire.Challenge {
	if l == nil {
		return wire.NoChallenge
	}
	return l.challenge
}

// mark writes the label into its target's result.
func (l *label) mark(r *Result) {
	if l != nil {
		r.Tag, r.Master = l.tag, l.master
	}
}

// target returns a target as its list gave it, but without its Place and Challenge.
func (l *label) target(addr uint64) Target {
	t := Target{Addr: udp.Unpack(addr)}
	if l != nil {
		t.Tag, t.Master, t.InfoOnly = l.tag, l.master, l.infoOnly
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
