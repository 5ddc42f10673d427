package record

import "bytes"

// View is a server's record in the census of one vantage point.
type View struct {
	Origin string // name of the vantage point
	Line   []byte // the record, without its newline; empty: there is none
}

// AppendOrigins appends the record in line to dst, with the key origins: what each
// vantage point saw. If the record has that key already, its value is replaced.
// Check must have accepted all records.
func AppendOrigins(dst, line []byte, views []View) []byte {
	from, to := originsPlace(line)
	dst = append(dst, line[:from]...)
	dst = append(dst, `,"origins":[`...)
	for i := range views {
		dst = end(appendView(dst, &views[i]), '}')
	}
	dst = end(dst, ']')
	return append(dst[:len(dst)-1], line[to:]...)
}

// originsPlace returns the byte range of origins in a record, with the comma before
// it. If the record has no origins, the range is empty and lies after the last key.
func originsPlace(line []byte) (from, to int) {
	eachMember(line, func(m member) bool {
		if from, to = m.end, m.end; string(m.key) == `"origins"` {
			from = m.comma
			return false
		}
		return true
	})
	return from, to
}

// viewKeys are the keys that a view copies from a record.
var viewKeys = [][]byte{[]byte(`"time"`), []byte(`"status"`), []byte(`"rtt_ms"`), []byte(`"hashes"`)}

// appendView appends one view without its closing brace. Values are copied as they
// are written.
func appendView(dst []byte, v *View) []byte {
	dst = append(dst, '{')
	dst = appendText(dst, `"name":`, v.Origin)
	if len(v.Line) == 0 {
		return dst
	}
	eachMember(v.Line, func(m member) bool {
		for _, key := range viewKeys {
			if bytes.Equal(m.key, key) {
				dst = appendMember(dst, m.key, m.value)
			}
		}
		if string(m.key) == `"info"` {
			dst = appendCounts(dst, m.value)
		}
		return true
	})
	return dst
}

// appendCounts appends players and max_players of info.
func appendCounts(dst, info []byte) []byte {
	eachMember(info, func(m member) bool {
		if string(m.key) == `"players"` || string(m.key) == `"max_players"` {
			dst = appendMember(dst, m.key, m.value)
		}
		return true
	})
	return dst
}

func appendMember(dst, key, value []byte) []byte {
	dst = append(append(dst, key...), ':')
	return append(append(dst, value...), ',')
}
