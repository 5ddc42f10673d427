package list

import (
	"bytes"
	"slices"
)

// text reads a line of a list that is in no other format. It reports whether to
// continue.
func (r *reader) text(l line) bool {
	text := bytes.TrimSpace(l.text)
	switch n, f := parse(text); {
	case len(text) == 0 && l.fault == "", bytes.HasPrefix(text, []byte("#")) && l.fault != faultTruncated:
		return true
	case l.fault != "":
		return r.invalid(r.at(text), l.fault)
	case f == "" && !r.l.ports.missing(&n): // as most lines
		return r.name(n, labels{})
	}
	if i := bytes.IndexByte(text, '\r'); i >= 0 {
		// If the list ends its lines with a carriage return alone, the other targets must
		// not become part of the first one's tag.
		addr, _ := cutTag(bytes.TrimSpace(text[i:]))
		if _, f := parse(addr); f == "" {
			return r.invalid(r.at(text), faultLineEnds)
		}
	}
	addr, tag := cutTag(text)
	if len(tag) > 0 && tag[0] == '-' { // perhaps a range with white space around its hyphen
		last, rest := cutTag(bytes.TrimSpace(tag[1:]))
		whole := slices.Concat(addr, tag[:1], last)
		if _, f := parse(whole); f == "" {
			addr, tag = whole, rest
		}
	}
	if isStray(tag) && r.l.ports.isBare(addr) {
		return r.invalid(r.at(text), faultStrayPort)
	}
	return r.named(addr, labels{tag: string(tag)}, text)
}

// isStray reports whether a tag was probably meant as the port of the address before
// it: the tag, or the word that it begins with, is a port. A word before more text must
// be at least 1024, since the text may begin with another number.
func isStray(tag []byte) bool {
	word := tag
	if i := bytes.IndexAny(tag, " \t,;"); i >= 0 {
		word = tag[:i]
	}
	port, f := parsePort(word)
	return f == "" && (len(word) == len(tag) || port >= 1024)
}

// cutTag splits a line without surrounding white space into address and tag. A
// comma begins the tag, unless it is inside a list of ports.
func cutTag(line []byte) (addr, tag []byte) {
	for i, c := range line {
		switch {
		case c == ',':
			ports := bytes.LastIndexByte(line[:i], ':') + 1
			end := i + max(slices.IndexFunc(line[i:], isSpace), 0)
			if end == i {
				end = len(line)
			}
			if ports > 0 && isPortList(line[ports:end]) {
				return line[:end], bytes.TrimSpace(line[end:])
			}
			return line[:i], bytes.TrimSpace(line[i+1:])
		case isSpace(c):
			return line[:i], bytes.TrimSpace(line[i+1:])
		}
	}
	return line, nil
}
