package list

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/a2sscan/a2sscan/scanner/target"
)

// giver yields targets. It skips excluded targets, targets of other shards, and targets
// before the first place to yield.
type giver struct {
	cfg    *Config
	counts *counters
	yield  func(target.Target) bool
	from   uint64 // the first place to yield
	place  uint64 // place of the next target
}

// pass advances to the next place, and reports whether to yield the target there. It counts
// a target that is excluded or belongs to another shard.
func (g *giver) pass(ip uint32, port uint16) bool {
	g.place++
	if g.place%4096 == 0 { // targets that are not yielded count as progress, too
		g.counts.place.Store(g.place)
	}
	here := g.cfg.Shard.has(ip)
	if g.place <= g.from {
		if g.cfg.Passed != nil && port != 0 && here && g.cfg.Exclusions.find(ip) == nil {
			g.cfg.Passed(addrOf(ip))
		}
		return false
	}
	if !here {
		g.counts.otherShard.Add(1)
		return false
	}
	s := g.cfg.Exclusions.find(ip)
	if s == nil {
		return true
	}
	g.exclude(s, 1)
	return false
}

func (g *giver) exclude(s *source, n uint64) {
	s.targets.Add(n)
	if s.Unscannable {
		g.counts.unscannable.Add(n)
	} else {
		g.counts.excluded.Add(n)
	}
}

func (g *giver) ipv6(n uint64) {
	g.counts.unscannable.Add(n)
	g.cfg.Exclusions.ipv6.targets.Add(n)
}

// give yields the target for which pass has just reported true, and reports whether to
// continue.
func (g *giver) give(ip uint32, port uint16, s labels) bool {
	g.counts.place.Store(g.place)
	if port == 0 { // lists of master servers contain such targets
		g.counts.unscannable.Add(1)
		g.counts.noPort.Add(1)
		return true
	}
	given := g.counts.given.Add(1)
	more := g.yield(target.Target{
		Addr: netip.AddrPortFrom(addrOf(ip), port), Tag: s.tag, Master: s.master, Place: g.place - 1,
	})
	return more && given != g.cfg.Max
}

// walk yields targets in the order of the input, while the lists are read.
type walk struct {
	giver
	ports portRule
	seen  map[uint64]struct{} // addresses and ports of the targets that were named one by one
	done  blocks              // targets that were named as networks or ranges
}

func (w *walk) take(n name, s labels) bool {
	switch n.kind {
	case kindIPv6:
		if w.place >= w.from {
			w.ipv6(1)
		}
		return true
	case kindAddrPort:
		return w.target(n.first, n.port, s)
	case kindAddr:
		for _, port := range w.ports.of(&n) {
			if !w.target(n.first, port, s) {
				return false
			}
		}
		return true
	}
	fresh := len(w.seen) == 0 && w.done.n == 0
	for _, port := range w.ports.of(&n) {
		if fresh && w.cfg.Passed == nil && w.place+n.len() <= w.from {
			// If the input begins with a network, a resumed scan skips the network at
			// once, even if it has billions of targets.
			w.place += n.len()
			continue
		}
		for ip := uint64(n.first); ip <= uint64(n.last); ip++ {
			ip := uint32(ip)
			if !fresh && w.named(ip, port) {
				w.counts.duplicate.Add(1)
			} else if w.pass(ip, port) && !w.give(ip, port, s) {
				return false
			}
		}
	}
	w.done.add(n.span, w.ports.of(&n), nil)
	return true
}

// target yields one listed target, unless it was named before.
func (w *walk) target(ip uint32, port uint16, s labels) bool {
	if w.named(ip, port) {
		w.counts.duplicate.Add(1)
		return true
	}
	w.seen[pack(ip, port)] = struct{}{}
	return !w.pass(ip, port) || w.give(ip, port, s)
}

func pack(ip uint32, port uint16) uint64 { return uint64(ip)<<16 | uint64(port) }

func (w *walk) named(ip uint32, port uint16) bool {
	_, listed := w.seen[pack(ip, port)]
	if !listed {
		_, listed = w.done.find(ip, port)
	}
	return listed
}

// smallBlock is the maximum number of targets in a network or range that is stored target by
// target. A larger network or range takes less memory as a block. smallBlock must not
// change, because the order depends on it.
const smallBlock = 64

// loader collects the targets of all inputs and puts them in random order.
type loader struct {
	ports  portRule
	stream keyStream
	listed keySet
	shared map[labels]*labels // many targets often have the same tag
	order  *order
}

// labels are the strings that belong to a target: its tag, and what a master server
// reported about it.
type labels struct{ tag, master string }

// maxShared is the maximum length of loader.shared, because the map may hold labels that
// no target needs.
const maxShared = 1 << 12

func newLoader(l *List) *loader {
	stream := keyStream(l.cfg.Seed)
	keys := scatterer{newPerm(1<<32, &stream)}
	return &loader{
		ports: l.ports, stream: stream, listed: keySet{labels: make([]*labels, roundLen)},
		shared: map[labels]*labels{}, order: &order{keys: keys},
	}
}

// take adds the targets of a name. It always returns true, because a loader needs all
// names.
func (ld *loader) take(n name, s labels) bool {
	count, ports := ld.ports.count(&n), ld.ports.of(&n)
	shared := ld.shared[s]
	if shared == nil && s != (labels{}) {
		if len(ld.shared) >= maxShared {
			clear(ld.shared)
		}
		copied := s // s must not escape to the heap, so that most calls allocate nothing
		shared = &copied
		ld.shared[s] = shared
	}
	switch {
	case n.kind == kindIPv6:
		ld.order.ipv6++
	case n.kind == kindAddrPort:
		ld.add(n.first, n.port, shared)
	case count <= smallBlock:
		if count > 1 {
			ld.order.small += count
		}
		for _, port := range ports {
			for ip := uint64(n.first); ip <= uint64(n.last); ip++ {
				ld.add(uint32(ip), port, shared)
			}
		}
	default:
		ld.order.named.add(n.span, ports, shared)
	}
	return true
}

func (ld *loader) add(ip uint32, port uint16, s *labels) {
	if s != nil {
		if _, inBlock := ld.order.named.find(ip, port); inBlock {
			s = nil // the target gets the labels of the block
		}
	}
	ld.listed.add(ld.order.keys.scatter(ip, port), s)
}

func (ld *loader) finish() *order {
	o := ld.order
	parts := o.named.stretches()
	o.nets = newNets(parts, &ld.stream)
	o.list, o.notes = ld.listed.finish(func(key uint64) bool {
		ip, port := o.keys.gather(key)
		i, _ := slices.BinarySearchFunc(parts, ip, func(s stretch, ip uint32) int { return cmp.Compare(s.last, ip) })
		if i == len(parts) || parts[i].first > ip {
			return true
		}
		_, inNetwork := slices.BinarySearch(parts[i].ports, port)
		return !inNetwork
	})
	o.total = o.list.len() + o.nets.size
	return o
}
