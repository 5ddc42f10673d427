package list

import (
	"context"
	"sync"
)

// smallBlock is how many targets a name may stand for to be listed: from there
// on, a block takes less memory than its targets.
const smallBlock = 64

// loader collects what inputs name, and makes an order of it.
type loader struct {
	*List
	keys   stream
	bag    *bag
	blocks blocks
	notes  notes
	texts  textStore
	order  order

	filing sync.WaitGroup // what is taken in bulk: wait before anything here is touched
	spare  []addrPort     // what was filed last: to be filled again when filing is done
}

func newLoader(l *List) *loader {
	ld := &loader{List: l, bag: newBag(), keys: stream(l.cfg.Seed)}
	ld.order = order{keys: newScatterer(&ld.keys)}
	return ld
}

// take implements taker.
func (ld *loader) take(n *name, s said) bool {
	ld.filing.Wait()
	switch {
	case n.form == formAddrPort:
		ld.add(n.ip, n.port, s)
	case ld.count(n) <= smallBlock:
		if several := ld.count(n); several > 1 {
			ld.order.small += several
		}
		at := n.span()
		for _, port := range ld.portsOf(n).list {
			for ip := at.first; ; ip++ {
				ld.add(ip, port, s)
				if ip == at.last {
					break
				}
			}
		}
	default:
		ld.blocks.add(n.span(), ld.portsOf(n), ld.texts.add(s))
	}
	return true
}

// fewToFile is how many targets are filed sooner than another goroutine starts.
const fewToFile = 256

// takeAll implements bulkTaker. Many are filed while the caller looks for the
// next: where they go is all over the memory, and takes as long as reading.
func (ld *loader) takeAll(all []addrPort) (empty []addrPort) {
	ld.filing.Wait()
	if len(all) < fewToFile {
		ld.file(all)
		return all[:0]
	}
	empty, ld.spare = ld.spare[:0], all
	ld.filing.Go(func() { ld.file(all) })
	return empty
}

func (ld *loader) file(all []addrPort) {
	for _, a := range all {
		ld.add(a.ip, a.port, said{})
	}
}

func (ld *loader) add(ip uint32, port uint16, s said) {
	k := ld.order.keys.scatter(ip, port)
	before := ld.bag.add(k)
	if s.nothing() || ld.blocks.n > 0 && ld.blocks.has(ip, port) {
		return
	}
	ld.notes.add(k, before, ld.texts.add(s))
}

// finish makes the order.
func (ld *loader) finish(ctx context.Context) (*order, error) {
	ld.filing.Wait()
	o := &ld.order
	parts := ld.blocks.stretches()
	o.nets = newNets(parts, &ld.keys)
	ld.notes.sort(ctx)
	err := ld.bag.sort(ctx, func(bucket int, came, left []uint32) []uint32 {
		if ld.notes.any && len(left) < len(came) {
			ld.notes.onlyFirst(bucket, came)
		}
		if len(parts) == 0 {
			return left
		}
		return ld.outside(parts, bucket, left)
	})
	if err != nil {
		return nil, err
	}
	o.list, o.notes, o.texts, o.named = ld.bag, &ld.notes, &ld.texts, &ld.blocks
	o.listed = ld.bag.len()
	o.total = o.listed + o.nets.size()
	return o, nil
}

// outside returns those of a bucket that are in no block.
func (ld *loader) outside(parts []stretch, bucket int, left []uint32) []uint32 {
	out := left[:0]
	for _, v := range left {
		ip, port := ld.order.keys.gather(uint64(bucket)<<slotBits | uint64(v))
		if !inStretch(parts, ip, port) {
			out = append(out, v)
		}
	}
	return out
}

// defaultPorts are those of an address that is named without one.
var defaultPorts = Ports{list: []uint16{DefaultPort}, has: func() []uint64 {
	has := make([]uint64, 1<<16/64)
	has[DefaultPort/64] |= 1 << (DefaultPort % 64)
	return has
}()}

// portsOf returns the ports of a name that does not say one.
func (l *List) portsOf(n *name) *Ports {
	switch {
	case n.ports != nil:
		return n.ports
	case l.cfg.Ports.Len() > 0:
		return &l.cfg.Ports
	}
	return &defaultPorts
}

// needsPorts reports whether n can't be asked, for lack of ports.
func (l *List) needsPorts(n *name) bool {
	return (n.form == formNetwork || n.form == formRange) &&
		n.ports == nil && l.cfg.Ports.Len() == 0
}

// count returns how many targets n stands for.
func (l *List) count(n *name) uint64 {
	if n.form == formAddrPort {
		return 1
	}
	return n.span().len() * uint64(l.portsOf(n).Len())
}
