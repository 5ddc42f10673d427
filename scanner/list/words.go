package list

import (
	"bytes"
	"slices"
)

// nextWord returns the first word of a line, and the rest of the line. White space, commas
// and semicolons separate words. A comma between ports does not separate words, and neither
// does white space around the hyphen of a range. The word "connect" before an address is
// ignored.
func nextWord(line []byte) (word, rest []byte) {
	line = trimCommand(trimSeparators(line))
	end := 0
	for ; end < len(line); end++ {
		c := line[end]
		if c == ',' && bytes.IndexByte(line[:end], ':') >= 0 {
			port := line[end+1:]
			if i := slices.IndexFunc(port, isSeparator); i >= 0 {
				port = port[:i]
			}
			if isPortList.Match(port) {
				continue
			}
		}
		if isSeparator(c) {
			break
		}
	}
	return joinRange(line[:end], line[end:])
}

// joinRange joins the parts of a range that has white space around its hyphen, such as
// "192.0.2.1 - 192.0.2.9". It also returns the text after the range. If there is no such
// range, joinRange returns its arguments.
func joinRange(first, rest []byte) (word, after []byte) {
	if last := bytes.TrimSpace(rest); len(last) > 1 && last[0] == '-' && isAddress(string(first)) {
		to, after := cutTag(bytes.TrimSpace(last[1:]))
		if joined := slices.Concat(first, last[:1], to); formOf(joined) == kindBlock {
			return joined, after
		}
	}
	return first, rest
}

func isSeparator(c byte) bool { return c == ',' || c == ';' || isSpace(c) }

func trimSeparators(b []byte) []byte {
	return bytes.TrimLeftFunc(b, func(r rune) bool { return r < 128 && isSeparator(byte(r)) })
}

// formOf returns the notation of a target. All targets in a line must have the same form.
func formOf(word []byte) kind {
	n, f := parse(word)
	switch {
	case f == faultIPv6:
		return kindIPv6
	case f != "":
		return kindNone
	case n.kind == kindAddr && n.ports != nil:
		return kindAddrPort
	}
	return n.kind
}

// mayBeTarget reports whether a tag may begin with a target. It is fast, and false for most
// tags.
func mayBeTarget(tag []byte) bool {
	// end is the length of the tag's first number, which may be part of an address, or a
	// port before an address.
	end := bytes.IndexAny(tag[:min(len(tag), len("65535,"))], ".,-")
	return end > 0 && '0' <= tag[0] && tag[0] <= '9' || len(tag) > 0 && (tag[0] == '[' || len(trimConnect(tag)) < len(tag))
}

// several returns the words of a line if all of them are targets of the same form. It also
// returns the comment after them, which is their tag.
//
// several returns a fault if the second word has the form of the first word but a later
// word does not, because the second target would be lost in a tag. It also returns a fault
// if one of the first two words is an address without a port, and the other has a port.
func several(line []byte) (words [][]byte, tag []byte, f fault) {
	word, rest := nextWord(line)
	want, hasPort := formOf(word), bytes.IndexByte(word, ':') >= 0
	if want == kindNone || want == kindIPv6 { // a host name, or an IPv6 address
		want = kindNone
		if bytes.HasPrefix(word, []byte("[")) && bytes.Contains(word, []byte("]:")) || !bytes.HasPrefix(word, []byte("[")) && bytes.Count(word, []byte(":")) == 1 {
			want = kindAddrPort
		}
		hasPort = want == kindAddrPort
	}
	words = append(words, word)
	for {
		word, rest = nextWord(rest)
		is := formOf(word)
		switch {
		case isComment(word):
			return words, bytes.TrimSpace(slices.Concat(word, rest)), ""
		case is == want && is != kindNone:
			words = append(words, word)
			continue
		case len(words) > 1, want == kindAddr && is == kindAddrPort:
			f = faultSeveral
		case is == kindAddr && hasPort:
			f = faultBare
		}
		return nil, nil, f
	}
}
