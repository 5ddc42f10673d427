package scanner

import "github.com/a2sscan/a2sscan/scanner/internal/session"

// recent remembers the sources of finished targets, each with its mark, for at least
// one turn and at most two, so that the scan can distinguish late replies from foreign
// ones. It holds at most 2 × maxRecent sources; a full turn ends early.
type recent struct {
	now, before map[uint64]session.Mark
}

const maxRecent = 1 << 18

func newRecent() recent { return recent{map[uint64]session.Mark{}, map[uint64]session.Mark{}} }

func (r *recent) add(source uint64, m session.Mark) {
	if len(r.now) >= maxRecent {
		r.turn()
	}
	r.now[source] = m
}

// find returns the mark of a source, and whether recent contains the source.
func (r *recent) find(source uint64) (m session.Mark, ok bool) {
	if m, ok = r.now[source]; !ok {
		m, ok = r.before[source]
	}
	return m, ok
}

// unmark empties the mark of a source that recent contains.
func (r *recent) unmark(source uint64) { r.now[source] = session.Mark{} }

// turn forgets the sources that finished before the current turn began, and begins
// a new turn.
func (r *recent) turn() {
	r.now, r.before = r.before, r.now
	clear(r.now)
}

// sweep is the set of the targets of a scan in which all have the same port and no
// address occurs twice: a bit for each address of every /16 that has a target.
type sweep struct {
	port  uint16
	pages map[uint16]*[1 << 10]uint64
}

func (s *sweep) add(source uint64) {
	ip := ipOf(source)
	page := s.pages[uint16(ip>>16)]
	if page == nil {
		page = new([1 << 10]uint64)
		s.pages[uint16(ip>>16)] = page
	}
	page[ip>>6&(1<<10-1)] |= 1 << (ip & 63)
}

func (s *sweep) has(source uint64) bool {
	ip := ipOf(source)
	page := s.pages[uint16(ip>>16)]
	return page != nil && uint16(source) == s.port && page[ip>>6&(1<<10-1)]&(1<<(ip&63)) != 0
}
