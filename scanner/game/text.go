package game

import (
	"bytes"
	"strings"
)

// parseInt parses a decimal number that is at most its second argument, limit. There may
// be spaces around the number, but no sign.
func parseInt(b []byte, limit int64) (int64, bool) {
	b = trim(b)
	if len(b) == 0 {
		return 0, false
	}
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n = n*10 + int64(c-'0'); n > limit {
			return 0, false
		}
	}
	return n, true
}

func parseSigned(b []byte, limit int64) (int64, bool) {
	if len(b) > 1 && b[0] == '-' && b[1] != ' ' {
		n, ok := parseInt(b[1:], limit)
		return -n, ok
	}
	return parseInt(b, limit)
}

// parseHex parses one to eight hexadecimal digits in lower case.
func parseHex(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		i := strings.IndexByte("0123456789abcdef", c)
		if i < 0 {
			return 0, false
		}
		n = n<<4 | uint64(i)
	}
	return n, len(b) > 0 && len(b) <= 8
}

// parseTruth parses a boolean as games spell it: true, t, y or 1, and false, f, n
// or 0, in upper or lower case.
func parseTruth(b []byte) (v, ok bool) {
	if len(b) == 1 {
		switch b[0] {
		case '1', 't', 'T', 'y', 'Y':
			return true, true
		case '0', 'f', 'F', 'n', 'N':
			return false, true
		}
		return false, false
	}
	v = bytes.EqualFold(b, wordTrue)
	return v, v || bytes.EqualFold(b, wordFalse)
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

func hasSuffix(b []byte, suffix string) bool {
	return len(b) >= len(suffix) && string(b[len(b)-len(suffix):]) == suffix
}

func trim(b []byte) []byte {
	b = bytes.Trim(b, " ")
	return b[:len(b):len(b)]
}

// list iterates over the parts of a string between separators. It removes the
// spaces around each part and skips empty parts.
type list struct {
	rest      []byte
	separator byte
	piece     []byte
}

func (l *list) next() bool {
	for len(l.rest) > 0 {
		if i := bytes.IndexByte(l.rest, l.separator); i >= 0 {
			l.piece, l.rest = l.rest[:i], l.rest[i+1:]
		} else {
			l.piece, l.rest = l.rest, nil
		}
		if l.piece = trim(l.piece); len(l.piece) > 0 {
			return true
		}
	}
	return false
}

// between returns the bytes of b between the strings open and shut, if b ends with shut.
// If b contains open several times, these bytes begin after the last occurrence.
func between(b []byte, open, shut string) ([]byte, bool) {
	b = trim(b)
	if !hasSuffix(b, shut) {
		return nil, false
	}
	b = b[:len(b)-len(shut)]
	i := bytes.LastIndex(b, []byte(open))
	if i < 0 {
		return nil, false
	}
	b = b[i+len(open):]
	return b[:len(b):len(b)], true
}
