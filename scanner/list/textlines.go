package list

import (
	"bufio"
	"bytes"
	"slices"
)

// textLines reads lines of text. Its methods that return a bool report whether
// to continue.
type textLines struct {
	out   *handover
	ports portRule
	hosts bool      // names may be host names
	lists portLists // port lists found in lines
	named name      // scratch memory for the name in the line
}

// line reads a line of a list.
func (t *textLines) line(l line) bool {
	t.out.invalid.line = l.number
	switch {
	case l.long:
		return t.long(l.text)
	case l.cut:
		return t.out.invalid.add(trimLeft(l.text), FaultTruncated)
	}
	return t.complete(l.text)
}

// long counts and reports a line that is too long as invalid, unless it is a
// comment.
func (t *textLines) long(text []byte) bool {
	text = trimLeft(text)
	return len(text) > 0 && text[0] == '#' || t.out.invalid.add(text, FaultLong)
}

func (t *textLines) complete(text []byte) bool {
	text = trimRight(trimLeft(text))
	if len(text) == 0 || text[0] == '#' {
		return true
	}
	if ip, port, ok := parseQuick(text); ok {
		return t.out.addToBatch(ip, port)
	}
	if holdsLines(text) {
		return t.out.invalid.add(text, FaultLineEnds)
	}
	addr, tag := cutTag(text)
	if len(tag) > 0 && tag[0] == '-' {
		addr, tag = joinRange(addr, tag)
	}
	if t.isStrayPort(addr, tag) {
		return t.out.invalid.add(text, FaultStrayPort)
	}
	return t.name(addr, labels{tag: tag}, text)
}

// following adds the addresses in the next lines of the buffer to the batch, up to
// the first line that parseQuick can't read, and passes the batch on. It returns
// the number of these lines and their size.
func (t *textLines) following(b *bufio.Reader) (lines int, size int64) {
	text, _ := b.Peek(b.Buffered())
	used, before := 0, len(t.out.batch)
	for {
		ip, port, n := quickLine(text[used:])
		if n == 0 {
			break
		}
		used += n
		t.out.batch = append(t.out.batch, addrPort{ip, port})
	}
	_, _ = b.Discard(used) // it is buffered
	lines = len(t.out.batch) - before
	t.out.endBatch()
	return lines, int64(used)
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
	return isTarget(addr)
}

// isStrayPort reports whether a tag was probably meant as the port of the address
// before it: the tag is a port number, the address has no port, and Config.Ports is
// empty.
func (t *textLines) isStrayPort(addr, tag []byte) bool {
	if _, f := parsePort(tag); f != 0 || t.ports.configured() {
		return false
	}
	n, f := parse(addr)
	return f == 0 && n.form == formAddr && n.ports == nil
}

// joinRange joins a range that has white space around its hyphen. cutTag has put
// the hyphen at the beginning of tag. If the result is not a range, joinRange
// returns its arguments.
func joinRange(first, tag []byte) (addr, rest []byte) {
	last, rest := cutTag(trimLeft(tag[1:]))
	addr = slices.Concat(first, tag[:1], last)
	if _, f := parse(addr); f != 0 {
		return first, tag
	}
	return addr, rest
}

// name reads a name; all is the whole line.
func (t *textLines) name(addr []byte, s labels, all []byte) bool {
	var f Fault
	t.named, f = t.lists.parse(addr)
	if f == FaultPort {
		t.named, f = parseNoPort(addr)
	}
	switch {
	case f == 0 && t.ports.missing(&t.named):
		f = FaultNoPorts
	case f == 0:
		return t.out.name(&t.named, s)
	case t.hosts && isHost(addr):
		return t.out.host(addr, s)
	}
	return t.out.invalid.add(all, f)
}

// parseNoPort reads an address with port 0. The lists of master servers contain such
// addresses. They can't be queried, but they are not counted as invalid.
func parseNoPort(addr []byte) (name, Fault) {
	ip, isZero := bytes.CutSuffix(addr, []byte(":0"))
	n, f := parse(ip)
	if !isZero || f != 0 || n.form != formAddr {
		return name{}, FaultPort
	}
	n.form = formAddrPort
	return n, 0
}
