package transcript

import (
	"fmt"
	"math"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/wire"
)

// splits are the fragmented replies of one server, in the order of their first
// fragments.
type splits struct {
	replies []*splitReply
}

// splitReply is one fragmented reply.
type splitReply struct {
	id         uint32
	short      bool // too short to have an ID
	layout     wire.Layout
	compressed bool
	fragments  [][]byte
}

// add adds a fragment and returns the reply that it belongs to.
func (s *splits) add(b []byte) *splitReply {
	g := s.of(b)
	if len(g.fragments) == 0 {
		s.replies = append(s.replies, g)
	}
	g.fragments = append(g.fragments, b)
	if l, compressed := wire.ShowLayout(b); l != wire.LayoutUnknown {
		g.layout, g.compressed = l, compressed
	}
	return g
}

// of returns the reply that a fragment belongs to. For the first fragment of a
// reply it returns a new one.
func (s *splits) of(b []byte) *splitReply {
	id, err := wire.SplitID(b)
	for _, g := range s.replies {
		if g.id == id && g.short == (err != nil) {
			return g
		}
	}
	return &splitReply{id: id, short: err != nil}
}

// describe describes the fragment b of the reply.
func (g *splitReply) describe(b []byte) string {
	if g.short {
		return "a fragment that is too short"
	}
	var f wire.Fragment
	if g.layout == wire.LayoutUnknown {
		return fmt.Sprintf("a fragment, ID 0x%08x", g.id)
	}
	if f.Decode(b, g.layout, g.compressed) != nil {
		return fmt.Sprintf("a fragment, ID 0x%08x: its number or total is not valid", g.id)
	}
	return fmt.Sprintf("fragment %d of %d, ID 0x%08x: %s",
		f.Number, f.Total, g.id, g.form())
}

// form returns the layout of the fragments and whether the reply is compressed.
func (g *splitReply) form() string {
	if g.compressed {
		return g.layout.String() + ", bzip2"
	}
	return g.layout.String()
}

// fault explains why a reply is incomplete. It returns "" if the reply is complete or
// has no ID.
func (g *splitReply) fault() string {
	if g.short {
		return ""
	}
	arrived := map[int]bool{}
	least, most := math.MaxInt, 0 // the totals that fragments claim
	for _, b := range g.fragments {
		var f wire.Fragment
		if f.Decode(b, g.layout, g.compressed) == nil {
			arrived[int(f.Number)] = true
			least, most = min(least, int(f.Total)), max(most, int(f.Total))
		}
	}
	var have, lost []int
	for n := range most {
		if arrived[n] {
			have = append(have, n)
		} else {
			lost = append(lost, n)
		}
	}
	what := fmt.Sprintf("reply 0x%08x: %s arrived", g.id, console.Plural(len(g.fragments), "fragment"))
	switch {
	case g.layout == wire.LayoutUnknown:
		return what + ", but none can be the first"
	case most == 0:
		return what + ", but their numbers are not valid"
	case least != most:
		return fmt.Sprintf("%s, but they disagree on how many there are: %d to %d", what, least, most)
	case len(lost) == 0:
		return ""
	}
	return fmt.Sprintf("reply 0x%08x (layout %s): %d of %d fragments arrived: %s; missing: %s",
		g.id, g.form(), len(have), most, console.NumberList(have), console.NumberList(lost))
}
