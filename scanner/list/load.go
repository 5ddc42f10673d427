package list

import (
	"context"
	"slices"
	"sync"
)

// smallBlock is the maximum number of targets of a name that are stored one by one.
// A name with more targets takes less memory as a block.
const smallBlock = 64

// loader collects the targets of all inputs and puts them in random order.
type loader struct {
	ports   portRule
	keys    keyStream
	targets *buckets // targets that were named one by one
	notes   notes    // the labels of targets
	blocks  blocks   // networks and ranges
	order   order

	// filing waits for the goroutine of takeAll. The other fields may be used only
	// after that.
	filing sync.WaitGroup
	spare  []addrPort // the goroutine's current or last batch, for reuse
}

func newLoader(l *List) *loader {
	ld := &loader{ports: l.ports, targets: newBuckets(), keys: keyStream(l.cfg.Seed)}
	ld.order = order{keys: newScatterer(&ld.keys)}
	return ld
}

// take implements taker.
func (ld *loader) take(n *name, s labels) bool {
	ld.filing.Wait()
	switch {
	case n.form == formAddrPort:
		ld.add(n.ip, n.port, s)
	case ld.ports.count(n) <= smallBlock:
		ld.addSmall(n, s)
	default:
		ld.blocks.add(n.span(), ld.ports.of(n), s)
	}
	ld.tidy()
	return true
}

// addSmall adds the targets of n one by one.
func (ld *loader) addSmall(n *name, s labels) {
	if several := ld.ports.count(n); several > 1 {
		ld.order.small += several
	}
	at := n.span()
	for _, port := range ld.ports.of(n).list {
		for ip := at.first; ; ip++ {
			ld.add(ip, port, s)
			if ip == at.last {
				break
			}
		}
	}
}

// fewToFile is the number of targets that can be stored in less time than it takes
// to start a goroutine.
const fewToFile = 256

// takeAll implements bulkTaker. It stores large batches in another goroutine while
// the caller continues reading: storing targets writes to scattered memory, which
// takes as long as reading them.
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
		ld.add(a.ip, a.port, labels{})
	}
	ld.tidy()
}

func (ld *loader) add(ip uint32, port uint16, s labels) {
	k := ld.order.keys.scatter(ip, port)
	before := ld.targets.add(k)
	if s.empty() || ld.blocks.n > 0 && ld.blocks.has(ip, port) {
		return
	}
	ld.notes.add(k, before, s)
}

// tidy removes duplicates if there may be many of them.
func (ld *loader) tidy() {
	if ld.targets.full() || ld.notes.texts.full() {
		_ = ld.merge(context.Background()) // this context never ends
	}
}

// merge removes the duplicates of listed targets, and the labels that are no longer
// needed.
func (ld *loader) merge(ctx context.Context) error {
	err := ld.notes.sort(ctx)
	if err == nil {
		err = ld.targets.merge(ctx, ld.notes.visit)
	}
	if err == nil {
		ld.notes.sweep()
	}
	return err
}

// finish computes the order of all targets. The loader must not be used afterwards.
func (ld *loader) finish(ctx context.Context) (*order, error) {
	ld.filing.Wait()
	o := &ld.order
	parts := ld.blocks.stretches()
	o.nets = newNets(parts, &ld.keys)
	if err := ld.merge(ctx); err != nil {
		return nil, err
	}
	if err := ld.targets.pack(ctx, ld.notIn(parts)); err != nil {
		return nil, err
	}
	o.list, o.notes, o.named = ld.targets, &ld.notes, &ld.blocks
	o.listed = ld.targets.len()
	o.total = o.listed + o.nets.size()
	return o, nil
}

// notIn returns a filter that keeps the targets outside the given stretches, or nil
// if there are none.
func (ld *loader) notIn(parts []stretch) filter {
	if len(parts) == 0 {
		return nil
	}
	return func(bucket int, numbers []uint32) []uint32 {
		return slices.DeleteFunc(numbers, func(v uint32) bool {
			ip, port := ld.order.keys.gather(uint64(bucket)<<slotBits | uint64(v))
			return inStretch(parts, ip, port)
		})
	}
}
