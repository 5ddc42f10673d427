package transcript

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/wire"
)

// splitReply is one fragmented reply.
type splitReply struct {
	id         uint32
	short      bool // too short to have an ID
	layout     wire.Layout
	compressed bool
	fragments  [][]byte
}

// reply returns the reply that a fragment belongs to. If the fragment is new, reply
// adds it.
func (v *evidence) reply(b []byte, isNew bool) *splitReply {
	id, err := wire.SplitID(b)
	same := func(g *splitReply) bool { return g.id == id && g.short == (err != nil) }
	at := slices.IndexFunc(v.replies, same)
	if at < 0 {
		at = len(v.replies)
		v.replies = append(v.replies, &splitReply{id: id, short: err != nil})
	}
	g := v.replies[at]
	if isNew {
		g.fragments = append(g.fragments, b)
		if l, compressed := wire.ShowLayout(b); l != wire.LayoutUnknown {
			g.layout, g.compressed = l, compressed
		}
	}
	return g
}

// describe describes the fragment b of the reply.
func (g *splitReply) describe(b []byte) string {
	var f wire.Fragment
	switch {
	case g.short:
		return "a fragment that is too short"
	case g.layout == wire.LayoutUnknown:
		return fmt.Sprintf("a fragment, ID 0x%08x", g.id)
	case f.Decode(b, g.layout, g.compressed) != nil:
		return fmt.Sprintf("a fragment, ID 0x%08x: its number or total is not valid", g.id)
	}
	return fmt.Sprintf("fragment %d of %d, ID 0x%08x: %s", f.Number, f.Total, g.id, g.form())
}

// form returns the layout of the fragments and whether the reply is compressed.
func (g *splitReply) form() string {
	if g.compressed {
		return g.layout.String() + ", bzip2"
	}
	return g.layout.String()
}

// layouts lists the layouts of all fragmented replies.
func (v *evidence) layouts() string {
	var words []string
	for _, g := range v.replies {
		if w := g.form(); g.layout != wire.LayoutUnknown && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, "; ")
}

// fault explains why a reply is incomplete. It returns "" if the reply is complete or
// has no ID.
func (g *splitReply) fault() string {
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
	case g.short:
		return ""
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
