package list

import (
	"bytes"
	"slices"
)

// text reads a line of a list that is in no other format. It reports whether to
// continue.
func (r *reader) text(l line) bool {
	text := trimRight(trimLeft(l.text))
	if len(text) == 0 && l.fault == "" || len(text) > 0 && text[0] == '#' && l.fault != faultTruncated {
		return true
	}
	if l.fault != "" {
		return r.invalid(r.at(text), l.fault)
	}
	n, f := parse(text)
	if f == "" && !r.l.ports.missing(&n) { // as most lines
		return r.name(n, labels{})
	}
	if holdsLines(text) {
		return r.invalid(r.at(text), faultLineEnds)
	}
	addr, tag := cutTag(text)
	if len(tag) > 0 && tag[0] == '-' {
		addr, tag = joinRange(addr, tag)
	}
	if r.isStrayPort(addr, tag) {
		return r.invalid(r.at(text), faultStrayPort)
	}
	return r.named(addr, labels{tag: string(tag)}, text)
}

// named reads a name; all is the whole line.
func (r *reader) named(addr []byte, s labels, all []byte) bool {
	n, f := parse(addr)
	if f == faultPort {
		// The lists of master servers contain port 0. It can't be queried, but is not
		// invalid.
		if ip, isZero := bytes.CutSuffix(addr, []byte(":0")); isZero {
			if n, f = parse(ip); f == "" && n.kind == kindAddr {
				n.kind = kindAddrPort
			} else {
				f = faultPort
			}
		}
	}
	switch {
	case f == "" && r.l.ports.missing(&n):
		f = faultNoPorts
	case f == "" || f == faultIPv6:
		return r.name(n, s)
	case r.l.cfg.Resolve != nil && !r.l.cfg.OnlyArgs && isHost(addr):
		host, n, f := parseHost(addr)
		switch {
		case f != "":
			return r.invalid(r.at(addr), f)
		case r.take == nil:
			return true
		}
		return r.enqueue(pending{name: n, labels: s, host: host, where: r.at(addr)})
	}
	return r.invalid(r.at(all), f)
}

// holdsLines reports whether a line contains further targets after a carriage
// return, because the list ends its lines with a carriage return alone. Otherwise
// these targets would become part of the first one's tag.
func holdsLines(text []byte) bool {
	i := bytes.IndexByte(text, '\r')
	if i < 0 {
		return false
	}
	addr, _ := cutTag(trimLeft(text[i:]))
	_, f := parse(addr)
	return f == ""
}

// isStrayPort reports whether a tag was probably meant as the port of the address
// before it: the tag, or the word that it begins with, is a port, the address has no
// port, and Config.Ports is empty. The word must be at least 1024, since the tag may
// begin with another number.
func (r *reader) isStrayPort(addr, tag []byte) bool {
	word := tag
	if i := bytes.IndexAny(tag, " \t,;"); i >= 0 {
		word = tag[:i]
	}
	port, f := parsePort(word)
	if f != "" || len(word) < len(tag) && port < 1024 || len(r.l.ports.config) > 0 {
		return false
	}
	n, f := parse(addr)
	return f == "" && n.kind == kindAddr && n.ports == nil
}

// cutTag splits a line without surrounding white space into address and tag. A
// comma begins the tag, unless it is inside a list of ports.
func cutTag(line []byte) (addr, tag []byte) {
	for i, c := range line {
		switch {
		case c == ',':
			if end := portsEnd(line, i); end > 0 {
				return line[:end], trimLeft(line[end:])
			}
			return line[:i], trimLeft(line[i+1:])
		case isSpace(c):
			return line[:i], trimLeft(line[i+1:])
		}
	}
	return line, nil
}

// portsEnd returns the end of the list of ports that has a comma at i, or 0 if the
// comma is not in such a list.
func portsEnd(line []byte, i int) int {
	first := bytes.LastIndexByte(line[:i], ':') + 1
	end := i
	for end < len(line) && !isSpace(line[end]) {
		end++
	}
	if first == 0 || !isPortList(line[first:end]) {
		return 0
	}
	return end
}

// joinRange joins a range that has white space around its hyphen. cutTag has put
// the hyphen at the beginning of tag. If the result is not a range, joinRange
// returns its arguments.
func joinRange(first, tag []byte) (addr, rest []byte) {
	last, rest := cutTag(trimLeft(tag[1:]))
	addr = slices.Concat(first, tag[:1], last)
	if _, f := parse(addr); f != "" {
		return first, tag
	}
	return addr, rest
}
