package reasm

import (
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// shard is the part of a Table that holds all groups of a subset of the sources.
type shard struct {
	maxBytes int64 // does not change after New

	mu  sync.Mutex // guards the fields below
	mem memory
	// The newest group of each source. group.sibling links it to the older groups.
	sources map[uint64]*group
	waiting ageList // incomplete groups
	done    ageList // complete replies whose digests are kept
	stats   Stats   // all statistics except Bytes, which mem counts

	_ [64]byte // keeps the locks of two shards in different cache lines
}

type arrival struct {
	now      time.Duration
	from     uint64
	id       uint32
	sum      uint64 // digest of the datagram
	datagram []byte
}

// add implements Table.Add for a datagram whose split ID could be read.
func (s *shard) add(a *arrival, dst []byte) ([]byte, Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(a.now)
	// A server that uses one ID for all replies can have complete groups and an incomplete
	// group with that ID. A fragment whose digest is new belongs to the incomplete group.
	var g *group
	for o := s.sources[a.from]; o != nil; o = o.sibling {
		switch {
		case o.id != a.id:
		case o.holds(a.sum):
			s.stats.Duplicate++
			return dst, Duplicate, nil
		case !o.done:
			g = o
		}
	}
	if g != nil {
		// Drop truncated copies of this datagram, which would conflict with it.
		for b := g.cutShort(a.datagram); b != nil; b = g.cutShort(a.datagram) {
			s.take(g, b)
			s.stats.Conflict++
		}
	}
	p, conflict, err := locate(g, a.datagram)
	if err == nil && !conflict {
		err = s.makeRoom(g, a.datagram)
	}
	switch {
	case err != nil:
		return dst, Pending, s.refuse(err)
	case conflict:
		s.stats.Conflict++
		return dst, Conflict, nil
	}
	if g == nil {
		g = s.open(a)
	}
	if p.shape != g.shape {
		s.sort(g, p)
	}
	g.push(s.mem.store(a.datagram, a.sum), p.number)
	s.stats.Fragments++
	if !g.sorted() || g.count < int(g.shape.total) {
		return dst, Pending, nil
	}
	msg := g.appendLeading(dst)
	if end := g.emptyEnd(); end != nil && !readable(msg[len(dst):]) {
		err = s.refuse(wire.ErrMalformed)
		if end.sum != a.sum {
			// The empty last fragment arrived earlier. Only that fragment is dropped, and
			// this datagram stays stored, so this call returns no error.
			err = nil
		}
		s.take(g, end)
		return dst, Pending, err
	}
	return msg, s.complete(g, a.now), nil
}

// readable reports whether a message can be decoded to its end. If this is false for a
// message whose last fragment is empty, that fragment was cut (EC-116, EC-149).
func readable(msg []byte) bool {
	var err error
	switch wire.KindOf(msg) {
	case wire.KindInfo, wire.KindGoldSource:
		var in wire.Info
		err = in.Decode(msg)
	case wire.KindPlayers:
		var ps wire.Players
		_ = ps.Reset(msg, wire.ShipUnknown) // Err returns this error, too
		for ps.Next() {
		}
		err = ps.Err()
	case wire.KindRules:
		var rs wire.Rules
		_ = rs.Reset(msg)
		for rs.Next() {
		}
		err = rs.Err()
	default:
		return false
	}
	return err == nil
}

func (s *shard) refuse(err error) error {
	if err == wire.ErrTooLarge {
		s.stats.TooLarge++
	} else {
		s.stats.Malformed++
	}
	return err
}

func (s *shard) take(g *group, b *block) {
	g.remove(b)
	s.mem.freeBlocks(b)
	s.stats.Fragments--
}

// locate finds the place of a fragment: its number, and the shape of its reply. If the
// layout of the group is known, it determines the place, and conflict reports that the
// fragment contradicts the group. If the layout is unknown or the group is nil, only a
// fragment that shows its own layout has a place; for any other fragment p is zero.
//
// A fragment whose number is not 0 can look like fragment 0 in another layout. If such a
// fragment arrives first, the group gets a wrong layout, into which the real fragment 0
// does not fit. locate then accepts the real fragment 0, if the fragment in the group can
// also be decoded in the layout of fragment 0. So the result does not depend on the order
// of arrival.
func locate(g *group, datagram []byte) (p place, conflict bool, err error) {
	layout, compressed := wire.ShowLayout(datagram)
	if g == nil || !g.sorted() {
		if layout != wire.LayoutUnknown {
			p, err = decode(datagram, layout, compressed)
			return p, false, err
		}
		// A fragment that can't be decoded in any layout is rejected.
		for l := wire.LayoutGoldSource; l <= wire.LayoutSourceNoSize; l++ {
			if _, err = decode(datagram, l, false); err == nil {
				break
			}
		}
		return place{}, false, err
	}
	p, err = decode(datagram, g.shape.layout, g.shape.compressed)
	if err == nil && g.accepts(p) {
		return p, false, nil
	}
	shown, none := decode(datagram, layout, compressed)
	if none != nil {
		return place{}, err == nil, err
	}
	// Only a group of one fragment can have a wrong layout: GoldSource instead of Source,
	// or the reverse. The byte that holds the total in the Source layouts holds the
	// fragment's number in GoldSource's. The fragments of one reply have equal totals but
	// different numbers, so in the wrong layout a second fragment never fits.
	if g.count == 1 {
		q, err := decode(g.first.head(), shown.shape.layout, shown.shape.compressed)
		if err == nil && q.shape == shown.shape && q.number != shown.number {
			return shown, false, nil
		}
	}
	return place{}, true, nil
}

// decode reads a fragment's header. It rejects a fragment without payload, which must have
// been cut (EC-116). The exception is the last fragment of an uncompressed reply, because
// some servers send one fragment too many (EC-149).
func decode(datagram []byte, l wire.Layout, compressed bool) (place, error) {
	var f wire.Fragment
	if err := f.Decode(datagram, l, compressed); err != nil {
		return place{}, err
	}
	if mayBeEmpty := f.Total > 1 && f.Number == f.Total-1 && !compressed; len(f.Payload) == 0 && !mayBeEmpty {
		return place{}, wire.ErrMalformed
	}
	return place{shape{f.Layout, f.Compressed, f.Total}, f.Number}, nil
}

// sort assigns numbers to the fragments of a group after a new fragment, whose place is
// p, has shown the layout. It drops the fragments that contradict the new fragment or
// an earlier fragment of the group.
func (s *shard) sort(g *group, p place) {
	g.shape = p.shape
	for b := g.takeAll(); b != nil; {
		next := b.later
		q, err := decode(b.head(), p.shape.layout, p.shape.compressed)
		if err == nil && q.number != p.number && g.accepts(q) {
			g.push(b, q.number)
		} else {
			s.stats.Conflict++
			s.stats.Fragments--
			s.mem.freeBlocks(b)
		}
		b = next
	}
}

// open starts a group. If the source has too many incomplete groups, open drops the
// oldest of them.
func (s *shard) open(a *arrival) *group {
	s.limitGroups(a.from, false)
	g := s.mem.group()
	g.from, g.id, g.since = a.from, a.id, a.now
	g.sibling = s.sources[a.from]
	s.sources[a.from] = g
	s.waiting.push(g)
	s.stats.Groups++
	return g
}

// complete replaces the fragments of a complete group by their digests. It returns
// Whole, or Packed for a compressed reply.
func (s *shard) complete(g *group, now time.Duration) Outcome {
	o := Whole
	s.stats.Whole++
	if g.shape.compressed {
		o = Packed
		s.stats.Whole--
		s.stats.Packed++
	}
	var buf [8 * maxSourceFragments]byte
	sums := g.sums(buf[:0])
	s.stats.Groups--
	s.waiting.remove(g)
	s.freeFragments(g)

	s.limitGroups(g.from, true)
	g.done, g.since = true, now
	g.first, g.count = s.mem.store(sums, 0), len(sums)/8
	s.done.push(g)
	s.stats.Remembered++
	if int64(s.stats.Remembered)*(groupCost+blockSize) > s.maxBytes/rememberedShare {
		s.drop(s.done.oldest)
	}
	return o
}
