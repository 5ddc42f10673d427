package list

import (
	"bytes"
	"context"
	"fmt"
)

// taker takes the names in the inputs, one after the other, and reports whether it
// wants more.
type taker interface {
	take(n *name, s labels) bool
}

// bulkTaker is a taker that takes many addresses with ports at once.
type bulkTaker interface {
	taker
	// takeAll is take for many, in order. It may keep all, and returns an empty
	// slice for the next.
	takeAll(all []addrPort) (empty []addrPort)
}

// addrPort is an address with its port.
type addrPort struct {
	ip   uint32
	port uint16
}

// handover hands the names in the inputs to a taker, in the order in which they
// were read, and counts their targets. Host names are looked up on the way. Its
// methods that return a bool report whether to continue.
type handover struct {
	ctx     context.Context
	ports   portRule
	to      taker
	bulk    bulkTaker  // to, if it is one
	batch   []addrPort // for bulk
	hosts   hostQueue
	invalid invalidLines

	checkOnly bool   // hand over nothing
	named     name   // that is handed over
	targets   uint64 // of the input that is being read
}

// begin begins with another input.
func (h *handover) begin(in *input) {
	h.targets = 0
	h.invalid.in, h.invalid.line, h.invalid.n = in, 0, 0
}

// addrPort hands over an address with its port.
func (h *handover) addrPort(ip uint32, port uint16, s labels) bool {
	h.named = name{form: formAddrPort, ip: ip, port: port}
	return h.name(&h.named, s)
}

// addToBatch is addrPort without a text, for the batch if there is one.
func (h *handover) addToBatch(ip uint32, port uint16) bool {
	if h.bulk == nil || !h.hosts.empty() {
		return h.addrPort(ip, port, labels{})
	}
	h.batch = append(h.batch, addrPort{ip, port})
	return true
}

// endBatch hands over the batch.
func (h *handover) endBatch() {
	h.targets += uint64(len(h.batch))
	h.batch = h.bulk.takeAll(h.batch)
}

// name hands over a name, or keeps it until the host names before it are looked
// up.
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

// host begins to look up a host name, with or without a port.
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

// enqueue adds p to the queue and hands over what is ready. It waits when the
// queue is long.
func (h *handover) enqueue(p pending) bool {
	h.hosts.add(p)
	for h.hosts.ready() {
		if !h.next() {
			return false
		}
	}
	return true
}

// wait hands over everything that waits for host names.
func (h *handover) wait() bool {
	for !h.hosts.empty() {
		if !h.next() {
			return false
		}
	}
	return true
}

// next hands over the first element of the queue.
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

// resolved hands over the addresses of a host name.
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
