package reasm

import (
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// ageList is a list of groups, the oldest first. The links are fields of the
// groups, so removing a group is cheap.
type ageList struct{ oldest, newest *group }

func (l *ageList) push(g *group) {
	g.older = l.newest
	if l.newest == nil {
		l.oldest = g
	} else {
		l.newest.newer = g
	}
	l.newest = g
}

func (l *ageList) remove(g *group) {
	if g.older == nil {
		l.oldest = g.newer
	} else {
		g.older.newer = g.newer
	}
	if g.newer == nil {
		l.newest = g.older
	} else {
		g.newer.older = g.older
	}
	g.older, g.newer = nil, nil
}

// expire drops complete groups after two seconds and incomplete groups after
// ten.
func (s *shard) expire(now time.Duration) {
	for g := s.done.oldest; g != nil && now-g.since > remember; g = s.done.oldest {
		s.drop(g)
	}
	for g := s.waiting.oldest; g != nil && now-g.since > maxAge; g = s.waiting.oldest {
		s.drop(g)
		s.stats.Expired++
	}
}

// makeRoom frees memory for a datagram of g, or of a new group if g is nil. It
// returns wire.ErrTooLarge if the datagram would make the group exceed a limit. It
// drops complete groups first, and then the oldest of the incomplete groups other
// than g. There is always a group to drop, since the memory of a shard is enough
// for two groups of the largest size.
func (s *shard) makeRoom(g *group, datagram []byte) error {
	need := blocksFor(len(datagram)) * blockSize
	size := len(datagram)
	if g == nil {
		need += groupCost
	} else {
		size += g.size
	}
	if size > MaxReply || g != nil && g.count == maxSourceFragments {
		return wire.ErrTooLarge
	}
	for s.mem.used+need > s.maxBytes {
		victim := s.done.oldest
		if victim == nil {
			victim = s.waiting.oldest
		}
		if victim == g {
			victim = g.newer
		}
		s.evict(victim)
	}
	return nil
}

// evict drops a group to make room, and counts it if it is incomplete.
func (s *shard) evict(g *group) {
	if !g.done {
		s.stats.Evicted++
	}
	s.drop(g)
}

// limitGroups makes room for one more group of a source: if the source has reached
// its limit of incomplete groups, or of complete ones if done is set, it drops the
// oldest of them.
func (s *shard) limitGroups(from uint64, done bool) {
	var oldest *group
	n := 0
	for g := s.sources[from]; g != nil; g = g.sibling {
		if g.done != done {
			continue
		}
		if n++; oldest == nil || g.since <= oldest.since { // the later in the list, the older
			oldest = g
		}
	}
	if n >= maxGroups {
		s.evict(oldest)
	}
}

// unlink removes a group from the list of its source.
func (s *shard) unlink(g *group) {
	first := s.sources[g.from]
	at := &first
	for *at != g {
		at = &(*at).sibling
	}
	*at = g.sibling
	if first == nil {
		delete(s.sources, g.from)
	} else if at == &first {
		s.sources[g.from] = first
	}
	g.sibling = nil
}

// drop removes a group, complete or not, and frees its memory.
func (s *shard) drop(g *group) {
	s.unlink(g)
	if g.done {
		s.done.remove(g)
		s.stats.Remembered--
		s.mem.freeBlocks(g.first)
	} else {
		s.waiting.remove(g)
		s.stats.Groups--
		s.freeFragments(g)
	}
	s.mem.freeGroup(g)
}

// freeFragments frees all fragments of an incomplete group.
func (s *shard) freeFragments(g *group) {
	s.stats.Fragments -= g.count
	for b := g.takeAll(); b != nil; {
		next := b.later
		s.mem.freeBlocks(b)
		b = next
	}
}
