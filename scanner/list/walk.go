package list

import (
	"net/netip"
	"slices"

	"github.com/a2sscan/a2sscan/scanner/target"
)

// giver yields the targets from place from on, without those that are excluded or
// belong to another shard.
type giver struct {
	cfg    *Config
	counts *counters
	yield  func(target.Target) bool
	from   uint64 // the first place to yield
	place  uint64 // of the next target
}

// publishPlaces is how many targets giver may skip before it updates the published
// progress.
const publishPlaces = 1 << 12

// pass advances to the next place, and reports whether to yield its target. If not,
// pass counts the reason.
func (g *giver) pass(ip uint32, port uint16) bool {
	g.place++
	if g.place%publishPlaces == 0 {
		g.counts.place.Store(g.place)
	}
	switch {
	case g.place <= g.from:
		g.behind(ip, port)
		return false
	case !g.cfg.Shard.has(ip):
		g.counts.otherShard.Add(1)
		return false
	}
	return !g.excluded(ip)
}

// behind reports a target before the first place to Config.Passed.
func (g *giver) behind(ip uint32, port uint16) {
	c := g.cfg
	if c.Passed != nil && port != 0 && c.Shard.has(ip) && g.rules().find(ip) == nil {
		c.Passed(addrOf(ip))
	}
}

// rules returns the current rules.
func (g *giver) rules() *ruleSet { return g.cfg.Exclusions.now.Load() }

// excluded reports whether a rule excludes an address, and counts that.
func (g *giver) excluded(ip uint32) bool {
	s := g.rules().find(ip)
	if s == nil {
		return false
	}
	s.targets.Add(1)
	if s.Unscannable {
		g.counts.unscannable.Add(1)
	} else {
		g.counts.excluded.Add(1)
	}
	return true
}

// give yields the target that was passed last, and reports whether to continue.
func (g *giver) give(ip uint32, port uint16, s labels) bool {
	g.counts.place.Store(g.place)
	if port == 0 { // the lists of master servers have such targets
		g.counts.unscannable.Add(1)
		g.counts.noPort.Add(1)
		return true
	}
	given := g.counts.given.Add(1)
	more := g.yield(target.Target{
		Addr:   netip.AddrPortFrom(addrOf(ip), port),
		Tag:    string(s.tag),
		Master: string(s.master),
		Place:  g.place - 1,
	})
	return more && given != g.cfg.Max
}

// random yields the targets of an order.
func (g *giver) random(o *order) {
	if g.cfg.Passed == nil {
		g.place = min(g.from, o.total)
	}
	for c := o.from(g.place); c.place < o.total; {
		ip, port := c.next()
		if g.pass(ip, port) && !g.give(ip, port, o.labels(ip, port)) {
			return
		}
	}
	g.counts.place.Store(g.place)
}

// walk yields targets in input order. It is a taker.
type walk struct {
	giver
	ports portRule
	seen  addrSet // targets that were named one by one
	done  blocks  // targets that were named as networks or ranges
}

// take implements taker.
func (w *walk) take(n *name, s labels) bool {
	switch n.form {
	case formAddrPort:
		return w.target(n.ip, n.port, s)
	case formNetwork, formRange:
		return w.block(n.span(), w.ports.of(n), s)
	}
	for _, port := range w.ports.of(n).list {
		if !w.target(n.ip, port, s) {
			return false
		}
	}
	return true
}

// target yields one listed target, unless it was named before.
func (w *walk) target(ip uint32, port uint16, s labels) bool {
	if w.done.n > 0 && w.done.has(ip, port) || !w.seen.add(pack(ip, port)) {
		w.counts.duplicate.Add(1)
		return true
	}
	return !w.pass(ip, port) || w.give(ip, port, s)
}

func pack(ip uint32, port uint16) uint64 { return uint64(ip)<<16 | uint64(port) }

// block yields the targets of a block, port by port.
func (w *walk) block(all span, ports *Ports, s labels) bool {
	var sets, last []int
	var parts []span
	for i, port := range ports.list {
		sets = w.done.with(sets[:0], port)
		if i == 0 || !slices.Equal(sets, last) {
			parts = without(parts[:0], all, w.done.holes(sets, all))
			last = append(last[:0], sets...)
		}
		again := all.len()
		for _, part := range parts {
			again -= part.len()
		}
		w.counts.duplicate.Add(again)
		for _, part := range parts {
			if !w.each(part, port, s) {
				return false
			}
		}
	}
	w.done.add(all, ports, labels{})
	return true
}

// each yields the addresses of part with the given port one by one, and counts
// those that were listed before as duplicates.
func (w *walk) each(part span, port uint16, s labels) bool {
	if w.seen.n == 0 && w.cfg.Passed == nil && w.place+part.len() <= w.from {
		w.place += part.len()
		return true
	}
	for ip := part.first; ; ip++ {
		if w.seen.n > 0 && w.seen.has(pack(ip, port)) {
			w.counts.duplicate.Add(1)
		} else if w.pass(ip, port) && !w.give(ip, port, s) {
			return false
		}
		if ip == part.last {
			return true
		}
	}
}
