package reasm

import (
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// MaxReply is the maximum size in bytes of a reply that is reassembled or
// decompressed: 512 KiB, about eighty times the size of the largest reply in
// EC-106.
const MaxReply = 512 << 10

// maxSourceFragments is the protocol's own limit, which must not be changed: Source
// counts the fragments of a reply in a byte (document 000). A lower limit would reject
// replies of servers that were configured to send small fragments (EC-123). It would save
// nothing, because a group takes memory only for the fragments that arrived.
const maxSourceFragments = 255

// Our limits, each with its reason. The package documentation shows how they add up.
const (
	// The maximum number of incomplete groups of a source: three for the three
	// questions to a server, and one for a second reply to a repeated question. It is
	// also the maximum number of complete replies remembered for a source.
	maxGroups = 4
	// The default and the minimum of a Table's memory, in bytes. The default is a quarter
	// of the scanner's budget. The minimum has room for two groups of the largest size.
	defaultMaxBytes = 64 << 20
	leastMaxBytes   = 2 << 20
	// How long a group waits for its fragments. With the scanner's default timeouts, all
	// attempts at a question take less time than this.
	maxAge = 10 * time.Second
	// How long the duplicates of a complete reply are recognised. By default, the scanner
	// waits just as long for late replies.
	remember = 2 * time.Second
	// The maximum number of shards of a Table, a power of two. Each shard has its own lock,
	// so goroutines seldom wait for a lock if there are far fewer goroutines than shards.
	maxShards = 16
)

// Unused blocks and groups may take 1/idleShare of a shard's memory, and the digests of
// complete replies 1/rememberedShare.
const (
	idleShare       = 4
	rememberedShare = 8
)

// groupRoom is the number of bytes that the largest group can take. Each datagram leaves
// at most one block partly empty.
const groupRoom = groupCost + (MaxReply/blockData+1+maxSourceFragments)*blockSize

// ageList is a list of groups, the oldest first, linked by group.older and group.newer.
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
	size := len(datagram)
	need := int64(size+blockData-1) / blockData * blockSize
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

func (s *shard) evict(g *group) {
	if !g.done {
		s.stats.Evicted++
	}
	s.drop(g)
}

// limitGroups makes room for one more group of a source. Its second argument, done, says
// whether this group is complete. Complete and incomplete groups are limited separately:
// if the source already has maxGroups groups of this kind, the oldest of them is dropped.
func (s *shard) limitGroups(from uint64, done bool) {
	var oldest *group
	n := 0
	for g := s.sources[from]; g != nil; g = g.sibling {
		if g.done != done {
			continue
		}
		if n++; oldest == nil || g.since <= oldest.since { // if the times are equal, g is older
			oldest = g
		}
	}
	if n >= maxGroups {
		s.evict(oldest)
	}
}

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

func (s *shard) freeFragments(g *group) {
	s.stats.Fragments -= g.count
	for b := g.takeAll(); b != nil; {
		next := b.later
		s.mem.freeBlocks(b)
		b = next
	}
}
