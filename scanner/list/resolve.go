package list

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
)

// How host names are looked up.
const (
	maxLookups = 32   // at once
	maxPending = 1024 // names and targets behind them
)

// ErrNoIPv4 says that a host name has no IPv4 address.
var ErrNoIPv4 = errors.New("the name has no IPv4 address")

// hostQueue has targets that wait for host names before them, so that all come
// in the order in which they were read.
type hostQueue struct {
	all     []pending
	lookups chan struct{} // one for each that runs
}

// pending is a name that waits.
type pending struct {
	name  name
	said  said
	host  string
	where Invalid
	found chan lookup // nil: there is nothing to look up
}

// lookup is what became of a host name.
type lookup struct {
	addrs []netip.Addr
	err   error
}

func (s said) clone() said { return said{bytes.Clone(s.tag), bytes.Clone(s.master)} }

func (q *hostQueue) empty() bool { return len(q.all) == 0 }

// add puts p at the end and hands on what is ready. It waits when too many
// are there.
func (q *hostQueue) add(r *reader, p pending) bool {
	q.all = append(q.all, p)
	for len(q.all) > 0 && (len(q.all) >= maxPending || q.all[0].ready()) {
		if !q.first(r) {
			return false
		}
	}
	return true
}

func (p *pending) ready() bool { return p.found == nil || len(p.found) > 0 }

// wait hands on all that are there.
func (q *hostQueue) wait(r *reader) bool {
	for !q.empty() {
		if !q.first(r) {
			return false
		}
	}
	return true
}

// first hands on the first.
func (q *hostQueue) first(r *reader) bool {
	p := q.all[0]
	q.all = q.all[1:]
	if p.found == nil {
		return r.take(&p.name, p.said)
	}
	select {
	case l := <-p.found:
		return r.looked(&p, l)
	case <-r.ctx.Done():
		return false
	}
}

// host begins to look up a name, with or without a port behind it.
func (r *reader) host(text string, s said) bool {
	p := pending{said: s.clone(), found: make(chan lookup, 1), where: Invalid{
		File: show([]byte(r.in.title())), Line: r.line, Text: show([]byte(text)),
	}}
	host, port, hasPort := bytes.Cut([]byte(text), []byte(":"))
	p.host = string(host)
	p.name.form = formAddr
	if hasPort {
		v, f := parsePort(port)
		if f != 0 {
			return r.invalid([]byte(text), f)
		}
		p.name.form, p.name.port = formAddrPort, v
	}
	if r.quiet {
		return true
	}
	if r.hosts.lookups == nil {
		r.hosts.lookups = make(chan struct{}, maxLookups)
	}
	go r.lookUp(r.ctx, p)
	return r.hosts.add(r, p)
}

func (r *reader) lookUp(ctx context.Context, p pending) {
	select {
	case r.hosts.lookups <- struct{}{}:
		defer func() { <-r.hosts.lookups }()
	case <-ctx.Done():
		return
	}
	addrs, err := r.cfg.Resolve(ctx, p.host)
	p.found <- lookup{addrs, err}
}

// looked hands on the addresses of a name.
func (r *reader) looked(p *pending, l lookup) bool {
	if !r.quiet {
		r.counts.resolved.Add(1)
	}
	n, found := p.name, false
	for _, a := range l.addrs {
		if a = a.Unmap(); a.Is4() {
			found = true
			n.ip = ipOf(a)
			if !r.take(&n, p.said) {
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
	return !r.reject() || r.complain(p.where)
}

// maxHost is how long a host name may be, in bytes (RFC 1035, section 2.3.4).
const maxHost = 253

// isHost reports whether b looks like a host name, with or without a port: what
// is all digits and dots was meant to be an address.
func isHost(b []byte) bool {
	host, _, _ := bytes.Cut(b, []byte(":"))
	if len(host) == 0 || len(host) > maxHost || host[0] == '.' || host[0] == '-' {
		return false
	}
	letters := false
	for _, c := range host {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters = true
		case '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_':
		default:
			return false
		}
	}
	return letters
}
