package scanner

import (
	"slices"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// snapshot says where the scan stands behind all outcomes of now.
func (e *engine) snapshot() *Snapshot {
	e.stats.Elapsed = e.clock()
	e.allow(e.stats.Elapsed)
	e.stats.Socket = e.sock.Stats()
	s := &Snapshot{
		Position: e.stats.Taken,
		Place:    e.place,
		Open:     make([]Target, 0, e.slots.n+e.addrs.n),
		Stats:    e.stats,

		Silent:       slices.Clip(e.second.silent),
		SilentLabels: slices.Clip(e.second.labels),
		Looked:       e.second.next,
	}
	for i := range e.index.all {
		l := e.slots.labels.get(i)
		s.Open = append(s.Open, l.target(e.slots.at(i).source()))
	}
	for _, h := range e.addrs.held {
		for _, t := range h.targets {
			s.Open = append(s.Open, t.label.target(t.addr))
		}
	}
	return s
}

// unmarked reports whether every snapshot that was taken is on its way: one
// that waits for a slow caller is not overtaken by another.
func (e *engine) unmarked() bool {
	for i := range e.backlog {
		if e.backlog[i].snapshot != nil {
			return false
		}
	}
	return true
}

// excluded reports whether an address is to be sent nothing more.
func (e *engine) excluded(addr uint64) bool {
	return e.cfg.Excluded != nil && e.cfg.Excluded(udp.Unpack(addr).Addr())
}
