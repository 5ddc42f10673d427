package list

import (
	"bytes"
	"context"
	"fmt"
)

// taker receives the names in the inputs, one after the other. take reports whether
// it wants more.
type taker interface {
	take(n *name, s labels) bool
}

// bulkTaker is a taker that can take many addresses with ports at once.
type bulkTaker interface {
	taker
	// takeAll takes many addresses, in order. It may keep the slice, and returns an
	// empty one for the next call.
	takeAll(all []addrPort) (empty []addrPort)
}

// addrPort is an address with its port.
type addrPort struct {
	ip   uint32
	port uint16
}

// handover passes the names in the inputs to a taker, in the order in which they
// were read, and counts their targets. It looks up host names on the way. Its
// methods that return a bool report whether to continue.
type handover struct {
	ctx     context.Context
	ports   portRule
	to      taker
	bulk    bulkTaker  // the same as to, if that is a bulkTaker
	batch   []addrPort // for bulk
	hosts   hostQueue
	invalid invalidLines

	checkOnly bool   // pass nothing on
	named     name   // scratch memory for the name that is passed on
	targets   uint64 // of the input that is being read
}

// begin starts another input.
func (h *handover) begin(in *input) {
	h.targets = 0
	h.invalid.in, h.invalid.line, h.invalid.n = in, 0, 0
}

// addrPort passes on an address with its port.
func (h *handover) addrPort(ip uint32, port uint16, s labels) bool {
	h.named = name{form: formAddrPort, ip: ip, port: port}
	return h.name(&h.named, s)
}

// addToBatch passes on an address with its port, without labels. It adds them to
// the batch if the taker takes batches.
func (h *handover) addToBatch(ip uint32, port uint16) bool {
	if h.bulk == nil || !h.hosts.empty() {
		return h.addrPort(ip, port, labels{})
	}
	h.batch = append(h.batch, addrPort{ip, port})
	return true
}

// endBatch passes on the batch.
func (h *handover) endBatch() {
	h.targets += uint64(len(h.batch))
	h.batch = h.bulk.takeAll(h.batch)
}

// name passes on a name, or keeps it until the host names before it have been
// looked up.
func (h *handover) name(n *name, s labels) bool {
	if h.hosts.empty() {
		return h.take(n, s)
	}
	return h.enqueue(pending{name: *n, labels: s.clone()})
}

func (h *handover) take(n *name, s labels) bool {
	h.targets += h.ports.count(n)
	return h.checkOnly || h.to.take(n, s)
}

// host starts the lookup of a host name, with or without a port.
func (h *handover) host(text []byte, s labels) bool {
	host, port, hasPort := bytes.Cut(text, []byte(":"))
	p := pending{labels: s.clone(), host: string(host), where: h.invalid.at(text)}
	p.name.form = formAddr
	if hasPort {
		v, f := parsePort(port)
		if f != 0 {
			return h.invalid.add(text, f)
		}
		p.name.form, p.name.port = formAddrPort, v
	}
	if h.checkOnly {
		return true
	}
	p.found = h.hosts.lookUp(h.ctx, p.host)
	return h.enqueue(p)
}

// enqueue adds p to the queue and passes on the elements that are ready. It waits
// if the queue is too long.
func (h *handover) enqueue(p pending) bool {
	h.hosts.add(p)
	for h.hosts.ready() {
		if !h.next() {
			return false
		}
	}
	return true
}

// wait waits for the pending lookups and passes on everything in the queue.
func (h *handover) wait() bool {
	for !h.hosts.empty() {
		if !h.next() {
			return false
		}
	}
	return true
}

// next passes on the first element of the queue.
func (h *handover) next() bool {
	p := h.hosts.first()
	if p.found == nil {
		return h.take(&p.name, p.labels)
	}
	select {
	case l := <-p.found:
		h.invalid.counts.resolved.Add(1)
		return h.resolved(&p, l)
	case <-h.ctx.Done():
		return false
	}
}

// resolved passes on the addresses of a host name.
func (h *handover) resolved(p *pending, l lookup) bool {
	n, found := p.name, false
	for _, a := range l.addrs {
		if a = a.Unmap(); a.Is4() {
			found = true
			n.ip = ipOf(a)
			if !h.take(&n, p.labels) {
				return false
			}
		}
	}
	if found {
		return true
	}
	p.where.Err = ErrNoIPv4
	if l.err != nil {
		p.where.Err = fmt.Errorf("the name was not found: %w", l.err)
	}
	return h.invalid.addAt(p.where)
}
