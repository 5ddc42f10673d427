package list

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/a2sscan/a2sscan/scanner/target"
)

// maxTried is the maximum number of targets that Count checks to find the addresses that
// it returns. These checks take about a second.
const maxTried = 1 << 24

// Count fills Stats as From would, but yields no targets and ignores Config.Max. It
// returns the addresses of the first n targets that From would yield, or fewer if many
// targets are excluded. Count does not visit each target of a network. So counting all
// addresses with all ports takes only a moment, or a few seconds with Config.Shard. After
// Count, From yields nothing, and Err returns the error that ended Count early.
//
// If most is not 0, the caller will drop all further targets of an address after that
// many. Count returns how many targets this will be, and leaves them out of first.
func (l *List) Count(ctx context.Context, n, most int) (first []netip.AddrPort, over uint64) {
	l.started.Store(true)
	err := l.Load(ctx)
	tried, taken := 0, map[uint32]int{}
	try := func(ip uint32, port uint16) (more bool) {
		tried++
		addr := netip.AddrPortFrom(addrOf(ip), port)
		if port != 0 && l.cfg.Shard.has(ip) && l.cfg.Exclusions.find(ip) == nil && !slices.Contains(first, addr) {
			if most == 0 || taken[ip] < most {
				first = append(first, addr)
				taken[ip]++
			}
		}
		return len(first) < n && tried < maxTried
	}
	switch o := l.order; {
	case err != nil:
	case o != nil:
		for c := o.from(0); c.place < o.total && try(c.next()); {
		}
		over, err = l.count(ctx, o, uint64(most))
	default:
		o, err = l.collect(ctx, try)
		if err == nil {
			over, err = l.count(ctx, o, uint64(most))
		}
	}
	if err != nil {
		l.err.Store(&err)
	}
	return first, over
}

// collect reads all inputs, and returns an order of their targets. It also calls try with
// the targets, in the order of the input, until try returns false.
func (l *List) collect(ctx context.Context, try func(ip uint32, port uint16) bool) (*order, error) {
	ld, named, more := newLoader(l), uint64(0), true
	err := l.read(ctx, l.inputs, func(n name, _ labels) bool {
		named += l.ports.count(&n)
		ports := l.ports.of(&n)
		if n.kind == kindAddrPort {
			ports = []uint16{n.port}
		}
		for i := 0; more && n.kind != kindIPv6 && i < len(ports); i++ {
			for ip := uint64(n.first); more && ip <= uint64(n.last); ip++ {
				more = try(uint32(ip), ports[i])
			}
		}
		return ld.take(n, labels{})
	})
	o := ld.finish()
	l.counts.duplicate.Add(named - o.total - o.ipv6)
	return o, err
}

// count counts the outcome of every target of an order. It returns how many targets are
// beyond the first most targets of their addresses. If most is 0, there is no limit.
func (l *List) count(ctx context.Context, o *order, most uint64) (over uint64, err error) {
	g := giver{cfg: &l.cfg, counts: &l.counts, yield: func(target.Target) bool { return true }}
	listed := map[uint32]uint64{} // how many listed targets an address has, if there is a limit
	for i := range o.list.len() {
		if i%roundLen == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if ip, port := o.keys.gather(o.list.at(i)); g.pass(ip, port) {
			if g.give(ip, port, labels{}); most > 0 && port != 0 {
				listed[ip]++
			}
		}
	}
	ranges := l.cfg.Exclusions.ranges()
	for _, part := range o.nets.parts {
		ports, given := uint64(len(part.ports)), l.cfg.Shard.count(ctx, part.span)
		g.counts.otherShard.Add((part.len() - given) * ports)
		for _, r := range ranges {
			first, last := max(part.first, r.first), min(part.last, r.last)
			if first > last || r.source == nil {
				continue
			}
			n := l.cfg.Shard.count(ctx, span{first, last})
			g.exclude(r.source, n*ports)
			given -= n
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		g.counts.given.Add(given * ports)
		if most > 0 {
			over += given * beyond(ports, most)
		}
	}
	over += o.overListed(listed, most)
	g.ipv6(o.ipv6)
	l.counts.place.Store(o.total)
	return over, nil
}

// overListed returns by how much targets that were named one by one raise the number of
// targets beyond the first most targets of their addresses. Its argument listed has the
// number of such targets per address.
func (o *order) overListed(listed map[uint32]uint64, most uint64) (over uint64) {
	parts := slices.SortedFunc(slices.Values(o.nets.parts), func(a, b stretch) int { return cmp.Compare(a.last, b.last) })
	for ip, n := range listed {
		ports := uint64(0)
		i, _ := slices.BinarySearchFunc(parts, ip, func(s stretch, ip uint32) int { return cmp.Compare(s.last, ip) })
		if i < len(parts) && parts[i].first <= ip {
			ports = uint64(len(parts[i].ports))
		}
		over += beyond(ports+n, most) - beyond(ports, most)
	}
	return over
}

func beyond(n, most uint64) uint64 { return n - min(n, most) }

// excluded is a range of addresses with the source that excludes them. If no source
// excludes them, source is nil.
type excluded struct {
	span
	source *source
}

// ranges divides all IPv4 addresses into ranges, in ascending order. All addresses of a
// range have the same source, or none.
func (x *Exclusions) ranges() (all []excluded) {
	type network struct {
		last   uint64
		source *source
	}
	outer := []network{{last: 1<<32 - 1}} // the networks that contain the next address, from the largest to the smallest
	at := uint64(0)
	upTo := func(last uint64) { // adds the range that ends with its argument; its source is that of the smallest network in outer
		if last >= at && last < 1<<32 {
			all = append(all, excluded{span{uint32(at), uint32(last)}, outer[len(outer)-1].source})
			at = last + 1
		}
	}
	for p, s := range x.now.Load().AllSorted4() {
		n := spanOf(p)
		for outer[len(outer)-1].last < uint64(n.first) {
			upTo(outer[len(outer)-1].last)
			outer = outer[:len(outer)-1]
		}
		if n.first > 0 {
			upTo(uint64(n.first) - 1)
		}
		outer = append(outer, network{uint64(n.last), s})
	}
	for len(outer) > 0 {
		upTo(outer[len(outer)-1].last)
		outer = outer[:len(outer)-1]
	}
	return all
}
