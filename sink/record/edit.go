package record

import (
	"bytes"
	"net/netip"
	"slices"

	"github.com/a2sscan/a2sscan/scanner"
)

// Locate appends the record in line, which has no newline, to dst, and sets its key geo
// to the location that where returns for the record's address. All other bytes stay the
// same, even keys of a later version. A record is appended unchanged if it has no
// address, or if it would become longer than MaxSize. Locate calls where at most once.
// If line is not a record, it returns dst and an error.
func Locate(dst, line []byte, where func(netip.Addr) scanner.Geo) ([]byte, error) {
	rec, err := NewReader().Read(line)
	if err != nil {
		return dst, err
	}
	if !rec.Addr.Addr().IsValid() {
		return append(dst, line...), nil
	}
	g := where(rec.Addr.Addr())
	return splice(dst, line, rec, "geo", part("geo", &result{Geo: g})), nil
}

// Rename appends the record in line to dst, with scan as the name of its scan. If scan
// is empty, the new record has no name of a scan. All other bytes stay the same.
func Rename(dst, line []byte, scan string) ([]byte, error) {
	var name []byte
	if scan != "" {
		name = appendText(nil, `"scan":`, []byte(scan))
	}
	rec, err := NewReader().Read(line)
	if err == nil && rec.Has("scan_hex") {
		line = splice(nil, line, rec, "scan_hex", nil)
		rec, err = NewReader().Read(line)
	}
	if err != nil {
		return dst, err
	}
	return splice(dst, line, rec, "scan", name), nil
}

// splice appends line to dst with the key replaced by members, which are keys with their
// values, each with a comma after it. If the line lacks the key, they go before the
// first key that is later in the table. A record that would become longer than MaxSize
// stays the same.
func splice(dst, line []byte, rec *Record, key string, members []byte) []byte {
	start := bytes.IndexByte(line, '{') + 1
	from := start
	if n := len(rec.places); n > 0 {
		from = rec.places[n-1].to
	}
	to := from
	at := placeOf(schemaKeys, key, 0)
	if i := slices.IndexFunc(rec.places, func(p place) bool { return p.key == at }); i >= 0 {
		from, to = rec.places[i].from, rec.places[i].to
	} else if i := slices.IndexFunc(rec.places, func(p place) bool { return p.key > at }); i >= 0 {
		from, to = rec.places[i].from, rec.places[i].from
	}
	first := from == start
	switch {
	case len(line)+len(members)-(to-from) >= MaxSize:
		return append(dst, line...)
	case len(members) == 0 && first && from < to:
		to += bytes.IndexByte(line[to:], ',') + 1
	case len(members) == 0 || first && from == to:
	case first:
		members = members[:len(members)-1]
	default: // here the comma goes before the member
		copy(members[1:], members)
		members[0] = ','
	}
	return append(append(append(dst, line[:from]...), members...), line[to:]...)
}

// part returns the member with this key.
func part(key string, r *result) []byte {
	i := placeOf(schemaKeys, key, 0)
	var e Encoder
	e.have = present(r)
	ms := membersOf(schemaKeys[i : i+1])
	point(ms, r)
	return e.appendMembers(nil, ms)
}
