package list

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// The formats with columns. The address is in the column with one of the names in
// addrNames or, if the columns have no names, in the first column that holds an
// address.
var (
	commaList = columns("CSV", ',')
	tabList   = columns("TSV", '\t')
	semiList  = columns("CSV with semicolons", ';')
)

func columns(name string, between byte) Format {
	return Format{
		Name:  name,
		Sniff: func(head []byte) bool { return sniffColumns(firstLine(head), between) },
		Read: func(r io.Reader, yield func(Entry) bool) error {
			t := &grid{between: between}
			return t.read(r, yield)
		},
	}
}

// The known column names, in lower case; case does not matter in a list. If a list
// has several of them, the first one here wins.
var (
	addrNames = []string{"ip", "address", "addr", "host", "endpoint", "ip:port",
		"ip_port", "ip_address"}
	portNames = []string{"query_port", "queryport", "port"}
	tagNames  = []string{"tag"}
)

// sniffColumns reports whether the first line of a list is that of a table. A line
// that begins with an address is text, with the rest as its tag, unless its second
// column is the port, its first field is quoted, or the columns are separated by
// semicolons.
func sniffColumns(first []byte, between byte) bool {
	t := grid{between: between}
	fields, ok := t.split(first)
	if !ok || len(first) == 0 {
		return false
	}
	if t.header(fields) {
		return len(fields) > 1 || between == ','
	}
	t.guess(fields)
	addr, _ := cutTag(first)
	_, fault := parse(addr)
	switch {
	case t.addr < 0:
		return false
	case t.addr == 0 && first[0] != '"' && between != ';':
		return t.port == 1
	}
	return fault != 0 && (len(fields) > 1 || between == ',')
}

// grid reads a list with columns.
type grid struct {
	between byte
	known   bool // the indexes below are set
	addr    int  // index of each column; -1: no such column
	port    int
	tag     int

	fields  [][]byte
	scratch []byte
	unquote []byte
}

func (t *grid) read(r io.Reader, yield func(Entry) bool) (err error) {
	for line := range eachLine(r, MaxLine, &err) {
		text := bytes.TrimRight(line.text, "\r\n")
		if blank := len(trimLeft(text)) == 0; blank && !line.cut || !blank && text[0] == '#' {
			continue
		}
		e := Entry{Line: line.number, Text: text}
		fields, ok := t.split(text)
		switch {
		case line.long:
			e.Fault = FaultLong
		case line.cut:
			e.Fault = FaultTruncated
		case !ok:
			e.Fault = FaultQuote
		case !t.known && t.header(fields):
			continue
		default:
			t.entry(&e, fields)
		}
		if !yield(e) {
			return nil
		}
	}
	return err
}

// entry sets the text, tag or fault of e from the fields of its line.
func (t *grid) entry(e *Entry, fields [][]byte) {
	if !t.known {
		t.guess(fields)
	}
	field := func(i int) []byte {
		if i < 0 || i >= len(fields) {
			return nil
		}
		return fields[i]
	}
	addr := field(t.addr)
	if len(addr) == 0 {
		e.Fault = FaultNoAddress
		return
	}
	e.Text, t.scratch = joinPort(t.scratch[:0], addr, field(t.port))
	e.Tag = field(t.tag)
}

// header finds the columns by their names. It returns false if no field is the name
// of an address column.
func (t *grid) header(fields [][]byte) bool {
	find := func(names []string) int {
		for _, name := range names {
			i := slices.IndexFunc(fields, func(f []byte) bool { return strings.EqualFold(string(f), name) })
			if i >= 0 {
				return i
			}
		}
		return -1
	}
	t.addr, t.port, t.tag = find(addrNames), find(portNames), find(tagNames)
	t.known = t.addr >= 0
	return t.known
}

// guess finds the columns by their contents: the address is in the first field that
// holds an address or a network. The port is in the next field if that holds a port
// and the address has none.
func (t *grid) guess(fields [][]byte) {
	t.addr, t.port, t.tag = slices.IndexFunc(fields, isTarget), -1, -1
	t.known = t.addr >= 0
	if !t.known || t.addr+1 == len(fields) {
		return
	}
	n, _ := parse(fields[t.addr])
	if _, f := parsePort(fields[t.addr+1]); n.form == formAddr && f == 0 {
		t.port = t.addr + 1
	}
}

// isTarget reports whether a field is an address or a network.
func isTarget(field []byte) bool {
	_, f := parse(field)
	return f == 0
}

// split returns the fields of a line without surrounding white space. The fields
// are valid until the next call. ok is false if a quoted field does not end
// properly.
func (t *grid) split(text []byte) (fields [][]byte, ok bool) {
	t.fields, t.unquote = t.fields[:0], t.unquote[:0]
	for {
		var field []byte
		field, text, ok = t.field(text)
		t.fields = append(t.fields, field)
		if text == nil || !ok {
			return t.fields, ok
		}
	}
}

// field returns the first field of text, and the text after its separator. rest is
// nil if the field is the last one.
func (t *grid) field(text []byte) (field, rest []byte, ok bool) {
	if start := bytes.TrimLeft(text, " "); len(start) > 0 && start[0] == '"' {
		return t.quoted(start[1:])
	}
	end := bytes.IndexByte(text, t.between)
	if end < 0 {
		return trimRight(trimLeft(text)), nil, true
	}
	return trimRight(trimLeft(text[:end])), text[end+1:], true
}

// quoted returns the quoted field that text begins with, and the text after its
// separator. The caller has already consumed the opening quote. A doubled quote in
// the field stands for one.
func (t *grid) quoted(text []byte) (field, rest []byte, ok bool) {
	from := len(t.unquote)
	for {
		end := bytes.IndexByte(text, '"')
		if end < 0 {
			return nil, nil, false
		}
		t.unquote = append(t.unquote, text[:end]...)
		text = text[end+1:]
		if len(text) == 0 || text[0] != '"' {
			break
		}
		t.unquote = append(t.unquote, '"')
		text = text[1:]
	}
	field = t.unquote[from:len(t.unquote):len(t.unquote)]
	switch text = bytes.TrimLeft(text, " "); {
	case len(text) == 0:
		return field, nil, true
	case text[0] == t.between:
		return field, text[1:], true
	}
	return nil, nil, false
}
