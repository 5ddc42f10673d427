package record

import (
	"encoding/json"
	"errors"
	"net/netip"

	"github.com/a2sscan/a2sscan/scanner"
)

// Locate appends the record in line, which has no newline, to dst, and sets its key
// geo to the location that where returns for the record's address. All other bytes
// stay the same, even keys of a later version. A record without an address, or one
// that would become longer than MaxSize, is appended unchanged. Locate calls where
// at most once. If line is not a record, it returns dst and an error.
func Locate(dst, line []byte, where func(netip.Addr) scanner.Geo) ([]byte, error) {
	place, ok := geoPlaceOf(line)
	switch {
	case !ok:
		return dst, errors.New("not a record")
	case !place.addr.IsValid():
		return append(dst, line...), nil
	}
	start := len(dst)
	g := where(place.addr)
	dst = append(dst, line[:place.from]...)
	dst = append(dst, ',')
	dst = appendGeo(dst, &g)
	dst = append(dst[:len(dst)-1], line[place.to:]...)
	if len(dst)-start >= MaxSize {
		dst = append(dst[:start], line...)
	}
	return dst, nil
}

// geoPlace is the byte range of geo in a record, with the comma before it, and the
// record's address. If the record has no geo, the range is empty and lies where geo
// belongs.
type geoPlace struct {
	from, to int
	addr     netip.Addr
}

// geoPlaceOf returns the geoPlace of a record. ok reports whether line is a record:
// an object whose first key is schema.
func geoPlaceOf(line []byte) (p geoPlace, ok bool) {
	if !json.Valid(line) {
		return p, false
	}
	found := false
	eachMember(line, func(m member) bool {
		switch {
		case m.comma == 0:
			ok = string(m.key) == `"schema"`
		case string(m.key) == `"ip"` && len(m.value) > 2:
			p.addr, _ = netip.ParseAddr(string(m.value[1 : len(m.value)-1]))
		}
		switch {
		case found:
		case string(m.key) == `"geo"`:
			found, p.from, p.to = true, m.comma, m.end
		case string(m.key) == `"master"`:
			found, p.from, p.to = true, m.comma, m.comma
		default:
			p.from, p.to = m.end, m.end
		}
		return ok
	})
	return p, ok
}

// member is a member of a JSON object: its key and value as they are written.
type member struct {
	key, value []byte
	comma      int // index of the comma before it; 0: it is the first member
	end        int // index after its value
}

// eachMember calls do for the members of line, which must be valid JSON, until do
// returns false. A value other than an object has no members.
func eachMember(line []byte, do func(member) bool) {
	i := skipSpace(line, 0)
	if line[i] != '{' {
		return
	}
	comma := 0
	for i = skipSpace(line, i+1); line[i] != '}'; i = skipSpace(line, i) {
		if line[i] == ',' {
			comma = i
			i = skipSpace(line, i+1)
		}
		key := i
		keyEnd := skipValue(line, key)
		value := skipSpace(line, skipSpace(line, keyEnd)+1)
		i = skipValue(line, value)
		if !do(member{line[key:keyEnd], line[value:i], comma, i}) {
			return
		}
	}
}

func skipSpace(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n' {
		i++
	}
	return i
}

// skipValue returns the index after the value that begins at i.
func skipValue(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 || !endsWord(b[i+1]) {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
}

// endsWord reports whether c can't be part of a number or a word of JSON.
func endsWord(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}
