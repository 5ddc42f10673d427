package list

import (
	"bytes"
	"context"
	"fmt"
)

// taker receives the names in the inputs, one after the other. take reports whether
// to continue.
type taker interface {
	take(n *name, s labels) bool
}

// bulkTaker is a taker that also takes batches of addresses with ports.
type bulkTaker interface {
	taker
	// takeAll takes a batch, in order. It may keep the slice, and returns an empty
	// slice for the next batch.
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
	bulk    bulkTaker  // the same as to if that is a bulkTaker, otherwise nil
	batch   []addrPort // addresses to pass to bulk
	hosts   hostQueue
	invalid invalidLines

	checkOnly bool   // look for invalid lines only; pass nothing to the taker
	named     name   // scratch memory for the name that is passed on
	targets   uint64 // number of targets of the current input
}

// begin resets the counts and the position for another input.
func (h *handover) begin(in *input) {
	h.targets = 0
	h.invalid.in, h.invalid.line, h.invalid.n = in, 0, 0
}

// addrPort passes an address with its port to the taker.
func (h *handover) addrPort(ip uint32, port uint16, s labels) bool {
	h.named = name{form: formAddrPort, ip: ip, port: port}
	return h.name(&h.named, s)
}

// addToBatch adds an address without labels to the batch. If the taker takes no
// batches, or host names are pending, it passes the address on at once.
func (h *handover) addToBatch(ip uint32, port uint16) bool {
	if h.bulk == nil || !h.hosts.empty() {
		return h.addrPort(ip, port, labels{})
	}
	h.batch = append(h.batch, addrPort{ip, port})
	return true
}

// endBatch passes the batch to the bulkTaker.
func (h *handover) endBatch() {
	h.targets += uint64(len(h.batch))
	h.batch = h.bulk.takeAll(h.batch)
}

// name passes a name to the taker. If host names are pending, it queues the name
// behind them.
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

// host starts the lookup of a host name, with or without a port, and queues it.
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

// enqueue adds p to the queue and passes on the elements at its front that are
// ready. If the queue is too long, it waits for the first one.
func (h *handover) enqueue(p pending) bool {
	h.hosts.add(p)
	for h.hosts.ready() {
		if !h.next() {
			return false
		}
	}
	return true
}

// wait waits for all pending lookups and passes on everything in the queue.
func (h *handover) wait() bool {
	for !h.hosts.empty() {
		if !h.next() {
			return false
		}
	}
	return true
}

// next removes the first element of the queue, waits for its lookup, and passes it
// on.
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

// resolved passes on the IPv4 addresses that lookup l found for a host name. If
// there are none, the line with the name is invalid.
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
