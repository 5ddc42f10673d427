package record

import (
	"bytes"
	"errors"
	"net/netip"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2sscan/a2sscan/scanner"
)

// Locate appends the record in line, which has no newline, to dst, and sets its key
// geo to the location that where returns for the record's address. All other bytes
// stay the same, even keys of a later version. A record without an address, or one
// that would become longer than MaxSize, is appended unchanged. Locate calls where
// at most once. If line is not a record, it returns dst and an error.
func Locate(dst, line []byte, where func(netip.Addr) scanner.Geo) ([]byte, error) {
	rec, err := NewReader("ip").Read(line)
	if err != nil {
		return dst, err
	}
	if !rec.Addr.Addr().IsValid() {
		return append(dst, line...), nil
	}
	g := where(rec.Addr.Addr())
	return splice(dst, line, "geo", part("geo", 1, &result{Geo: g}))
}

// AddGame appends the record in line to dst. If the record has neither game nor
// flags, AddGame inserts what i derives from the answers; all other bytes stay the
// same. A record without info, players and message, or one that would become longer
// than MaxSize, is appended unchanged. If line is not a record, AddGame returns dst
// and an error.
func AddGame(dst, line []byte, i *scanner.Interpreter) ([]byte, error) {
	rec, err := NewReader().Read(line)
	if err != nil {
		return dst, err
	}
	if rec.Has("game") || rec.Has("flags") || !rec.Has("info") && !rec.Has("players") && !rec.Has("message") {
		return append(dst, line...), nil
	}
	i.Interpret(&rec.Result)
	return splice(dst, line, "game", part("game", 2, &rec.Result))
}

// Rename appends the record in line to dst, with scan as the name of its scan. If
// scan is empty, the new record has no such name. All other bytes stay the same.
func Rename(dst, line []byte, scan string) ([]byte, error) {
	line, err := splice(nil, line, "scan_hex", nil)
	if err != nil {
		return dst, err
	}
	var name []byte
	if scan != "" {
		name = appendText(nil, `"scan":`, []byte(scan))
	}
	return splice(dst, line, "scan", name)
}

// splice appends line to dst with the key replaced by members, which are keys with their
// values, each with a comma after it. If the line lacks the key, they go before the
// first key that is later in the table. A record that would become longer than MaxSize
// stays the same.
func splice(dst, line []byte, key string, members []byte) ([]byte, error) {
	from, to, first, err := find(line, placeOf(schemaKeys, key, 0))
	switch {
	case err != nil:
		return dst, err
	case len(line)+len(members)-(to-from) >= MaxSize:
		return append(dst, line...), nil
	case len(members) == 0 && first && from < to:
		to += bytes.IndexByte(line[to:], ',') + 1
	case len(members) == 0 || first && from == to:
	case first:
		members = members[:len(members)-1]
	default: // the comma goes before
		copy(members[1:], members)
		members[0] = ','
	}
	return append(append(append(dst, line[:from]...), members...), line[to:]...), nil
}

// find returns the place of a key in a line, with the comma before it. If the line lacks
// the key, the place is empty, and before the first key that is later in the table. first
// reports that no other key is before it.
func find(line []byte, key int) (from, to int, first bool, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(line), options...)
	if kind := d.PeekKind(); kind != '{' {
		return 0, 0, false, errors.New("is not a record: a record is a JSON object")
	}
	_, _ = d.ReadToken()
	start := int(d.InputOffset())
	end := start // of the member before
	for from = -1; d.PeekKind() != '}'; {
		name, err := d.ReadValue()
		if err != nil {
			return 0, 0, false, syntax(err)
		}
		text, _ := jsontext.AppendUnquote(nil, name) // the decoder has checked it
		i := placeOf(schemaKeys, text, 0)
		if err := d.SkipValue(); err != nil {
			return 0, 0, false, syntax(err)
		}
		before := end
		end = int(d.InputOffset())
		switch {
		case i == key:
			return before, end, before == start, nil
		case i > key && from < 0:
			from = before
		}
	}
	if from < 0 {
		from = end
	}
	return from, from, from == start, nil
}

// part returns the members with n keys of the table from the named one on.
func part(key string, n int, r *result) []byte {
	i := placeOf(schemaKeys, key, 0)
	var e Encoder
	e.look(r)
	ms := membersOf(schemaKeys[i : i+n])
	point(ms, r)
	return e.appendMembers(nil, ms)
}
