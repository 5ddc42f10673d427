package list

// smallBlock is the maximum number of targets of a name that are stored one by one.
// A name with more targets takes less memory as a block. It must not change: the
// order depends on it.
const smallBlock = 64

// loader collects the targets of all inputs and puts them in random order.
type loader struct {
	ports  portRule
	stream keyStream
	shared sharedLabels
	order  *order
}

// labels are the strings that belong to a target: its tag, and what a master server
// reported about it.
type labels struct{ tag, master string }

// sharedLabels lets targets with equal labels share them: many targets often have the
// same tag.
type sharedLabels map[labels]*labels

// maxShared limits the memory for labels that no target may have any more.
const maxShared = 1 << 12

// of returns s for many targets, or nil if s is empty.
func (sl *sharedLabels) of(s labels) *labels {
	if s == (labels{}) {
		return nil
	}
	shared := (*sl)[s]
	if shared == nil {
		if len(*sl) >= maxShared || *sl == nil {
			*sl = sharedLabels{}
		}
		kept := s // the parameter must not escape: most calls allocate nothing
		shared = &kept
		(*sl)[s] = shared
	}
	return shared
}

func newLoader(l *List) *loader {
	ld := &loader{ports: l.ports, stream: keyStream(l.cfg.Seed)}
	ld.order = &order{keys: newScatterer(&ld.stream), list: new(keySet)}
	return ld
}

// take adds the targets of a name. It is never enough.
func (ld *loader) take(n *name, s labels) bool {
	count := ld.ports.count(n)
	shared := ld.shared.of(s)
	switch {
	case n.kind == kindIPv6:
		ld.order.ipv6++
	case n.kind == kindAddrPort:
		ld.add(n.first, n.port, shared)
	case count <= smallBlock:
		if count > 1 {
			ld.order.small += count
		}
		for _, port := range ld.ports.of(n) {
			for ip := uint64(n.first); ip <= uint64(n.last); ip++ {
				ld.add(uint32(ip), port, shared)
			}
		}
	default:
		ld.order.named.add(n.span, ld.ports.of(n), shared)
	}
	return true
}

func (ld *loader) add(ip uint32, port uint16, s *labels) {
	if s != nil && ld.order.named.has(ip, port) {
		s = nil // the labels of the block count
	}
	ld.order.list.add(ld.order.keys.scatter(ip, port), s)
}

// finish computes the order of all targets. The loader must not be used afterwards.
func (ld *loader) finish() *order {
	o := ld.order
	parts := o.named.stretches()
	o.nets = newNets(parts, &ld.stream)
	o.list.finish(func(key uint64) bool {
		ip, port := o.keys.gather(key)
		return !contains(parts, ip, port)
	})
	o.total = o.list.len() + o.nets.size()
	return o
}
