package record

import (
	"bytes"
	"net/netip"
	"slices"

	"github.com/a2sscan/a2sscan/scanner"
)

// Locate appends the record's line to dst, with a new value of the key "geo". Its second
// argument, where, returns the location of an address, and is called at most once. All
// other bytes stay the same, even keys of a later version. A record without an address
// stays the same, as does a record that would become longer than MaxSize. The Reader must
// decode all keys.
func (rec *Record) Locate(dst []byte, where func(netip.Addr) scanner.Geo) []byte {
	if !rec.Addr.Addr().IsValid() {
		return append(dst, rec.line...)
	}
	if rec.geo == nil {
		rec.geo = new(Encoder)
		rec.geo.point(new(result))
	}
	e := rec.geo
	e.of.Geo = where(rec.Addr.Addr())
	e.have = present(e.of)
	return rec.splice(dst, "geo", objectValue{}.put(e, nil, &e.keys[placeOf(e.keys, "geo", 0)]))
}

// Rename appends the record's line to dst, with a new name of the scan. If the name is empty,
// the line lacks the key "scan". All other bytes stay the same. A record that would become
// longer than MaxSize stays the same, too. The Reader must decode all keys.
func (rec *Record) Rename(dst []byte, scan string) []byte {
	var name []byte
	if scan != "" {
		name = appendText(nil, `"scan":`, []byte(scan))
	}
	if rec.Has("scan_hex") {
		rec, _ = NewReader().Read(rec.splice(nil, "scan_hex", nil)) // can't fail: the rest is a record
	}
	return rec.splice(dst, "scan", name)
}

// splice appends the record's line to dst, but replaces the key and its value with
// members: the text of any number of keys and values, with a comma after each value. If
// the record lacks the key, the members are inserted before the first key that follows it
// in schemaKeys. A record that would become longer than MaxSize stays the same.
func (rec *Record) splice(dst []byte, key string, members []byte) []byte {
	line := rec.line
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
	default: // move the comma from the end of members to the beginning
		copy(members[1:], members)
		members[0] = ','
	}
	return append(append(append(dst, line[:from]...), members...), line[to:]...)
}
