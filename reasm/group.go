package reasm

import (
	"encoding/binary"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// groupCost is the number of bytes that a group takes in addition to its blocks,
// including the entry of its source in the shard's map.
const groupCost = 256

// group is one split reply. It holds the fragments that have arrived. Once the reply is
// complete, the group holds only the digests that identify late duplicates. An arriving
// fragment changes the state of the group:
//
//	          shows no layout                     completes the reply
//	(new) ──────────────────────▶ held ──┐      ┌──────────────────────▶ done
//	  │                                  │      │
//	  └──────────────────────────────────┴─▶ sorted
//	          shows the layout
//
// The numbers of the fragments are known once the group is sorted. While it is held, they
// are unknown, because their position in the header depends on the layout.
type group struct {
	from  uint64
	id    uint32
	done  bool
	since time.Duration // when the first fragment arrived, or when the reply became complete

	sibling      *group // the next older group of the same source
	older, newer *group // neighbours in the shard's list by age

	shape shape
	count int     // number of fragments held, or of digests if the group is done
	size  int     // bytes of the fragments held, headers included
	seen  numbers // numbers of the fragments held, once the group is sorted

	// The fragments in order of arrival. If the group is done, the blocks hold digests
	// instead.
	first, last *block
}

// shape holds the properties that all fragments of a reply share.
type shape struct {
	// LayoutUnknown means that the other fields are unknown, too.
	layout     wire.Layout
	compressed bool
	total      uint8
}

type place struct {
	shape  shape
	number uint8
}

type numbers [4]uint64

func (s *numbers) has(n uint8) bool { return s[n>>6]&(1<<(n&63)) != 0 }
func (s *numbers) add(n uint8)      { s[n>>6] |= 1 << (n & 63) }
func (s *numbers) remove(n uint8)   { s[n>>6] &^= 1 << (n & 63) }

// holds reports whether the group contains, or contained, a datagram with the digest sum.
func (g *group) holds(sum uint64) bool {
	if !g.done {
		b := g.first
		for b != nil && b.sum != sum {
			b = b.later
		}
		return b != nil
	}
	left := g.count * 8
	for b := g.first; b != nil; b = b.more {
		for i := 0; i < min(left, blockData); i += 8 {
			if binary.LittleEndian.Uint64(b.data[i:]) == sum {
				return true
			}
		}
		left -= blockData
	}
	return false
}

func (g *group) sums(dst []byte) []byte {
	for b := g.first; b != nil; b = b.later {
		dst = binary.LittleEndian.AppendUint64(dst, b.sum)
	}
	return dst
}

func (g *group) sorted() bool { return g.shape.layout != wire.LayoutUnknown }

// accepts reports whether p has the same total as the group and a number that the
// group does not have yet.
func (g *group) accepts(p place) bool {
	return p.shape.total == g.shape.total && !g.seen.has(p.number)
}

// push adds a fragment that the group does not have. Its second argument, number, is 0 if
// the group is not sorted yet.
func (g *group) push(b *block, number uint8) {
	b.number, b.later = number, nil
	if g.first == nil {
		g.first = b
	} else {
		g.last.later = b
	}
	g.last = b
	g.count++
	g.size += int(b.size)
	g.seen.add(number)
}

// cutShort returns a fragment of the group that is a proper prefix of the datagram, or
// nil. Such a fragment was cut (EC-116).
func (g *group) cutShort(datagram []byte) *block {
	b := g.first
	for b != nil && !(int(b.size) < len(datagram) && b.begins(datagram)) {
		b = b.later
	}
	return b
}

// remove takes a fragment out of the group. If no fragment is left, the layout is
// unknown again.
func (g *group) remove(b *block) {
	var before *block
	at := &g.first
	for *at != b {
		before, at = *at, &(*at).later
	}
	*at = b.later
	if g.last == b {
		g.last = before
	}
	g.count--
	g.size -= int(b.size)
	g.seen.remove(b.number)
	if g.count == 0 {
		g.shape = shape{}
	}
}

func (g *group) takeAll() *block {
	b := g.first
	g.first, g.last = nil, nil
	g.count, g.size = 0, 0
	g.seen = numbers{}
	return b
}

// emptyEnd returns fragment number total-1 if it has arrived and has no payload, else nil.
func (g *group) emptyEnd() *block {
	for b := g.first; b != nil; b = b.later {
		if b.number == g.shape.total-1 && int(b.size) == g.shape.layout.HeaderLen() {
			return b
		}
	}
	return nil
}

// lacksOnlyEnd reports whether the last fragment is the only one missing, and all other
// fragments have the same size. The missing fragment may then be empty (EC-149).
func (g *group) lacksOnlyEnd() bool {
	if g.count != int(g.shape.total)-1 || g.seen.has(g.shape.total-1) {
		return false
	}
	for b := g.first; b != nil; b = b.later {
		if b.size != g.first.size {
			return false
		}
	}
	return true
}

// appendLeading appends the payloads of fragment 0 and of the fragments after it,
// up to the first missing fragment. For a compressed reply it first appends the
// declared size and the checksum, as Unpack expects.
func (g *group) appendLeading(dst []byte) []byte {
	var at [maxSourceFragments]*block
	var f wire.Fragment
	for b := g.first; b != nil; b = b.later {
		at[b.number] = b
	}
	for i, b := range at[:] {
		if b == nil {
			break
		}
		head := b.head()
		// The fragment was already decoded in this layout, so Decode can't fail.
		_ = f.Decode(head, g.shape.layout, g.shape.compressed)
		if i == 0 && g.shape.compressed {
			dst = binary.LittleEndian.AppendUint32(dst, f.DeclaredSize)
			dst = binary.LittleEndian.AppendUint32(dst, f.CRC)
		}
		dst = b.appendTo(dst, len(head)-len(f.Payload))
	}
	return dst
}
