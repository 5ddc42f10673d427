package list

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// tables are the formats with columns.
var tables = []Format{columns("TSV", '\t'), columns("CSV", ','), columns("CSV with semicolons", ';')}

func columns(name string, between rune) Format {
	return Format{
		Name:  name,
		Sniff: func(head []byte) bool { return sniffColumns(firstLine(head), between) },
		Read:  func(r io.Reader, yield func(Entry) bool) error { return newTable(between).read(r, yield) },
	}
}

// The known column names, in lower case; case does not matter in a list. If a list
// has several of them, the first one here wins.
var (
	addrNames  = []string{"ip", "ip_str", "saddr", "address", "addr", "host", "endpoint", "ip:port", "ip_port", "ip_address"}
	portNames  = []string{"query_port", "queryport", "port", "sport"}
	protoNames = []string{"transport", "protocol", "proto"}
)

// sniffColumns reports whether the first line of a list is that of a table. A line
// that begins with an address is text, with the rest as its tag, unless its second
// column is the port, its first field is quoted, or the columns are separated by
// semicolons.
func sniffColumns(first []byte, between rune) bool {
	t := newTable(between)
	fields, err := t.split(first)
	if err != nil || len(first) == 0 {
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
	return fault != "" && (len(fields) > 1 || between == ',')
}

// table reads a list with columns.
type table struct {
	csv  *csv.Reader
	line bytes.Buffer // the line that csv reads

	known                 bool // the indexes below are set
	addr, port, tag       int  // index of each column; -1: no such column
	proto, success, class int
	named                 bool // the first line names the columns
	stray                 bool // a column has a name like that of a port, and is not read
}

func newTable(between rune) *table {
	t := &table{proto: -1, success: -1, class: -1}
	t.csv = csv.NewReader(&t.line)
	t.csv.Comma = between
	t.csv.FieldsPerRecord = -1
	t.csv.ReuseRecord = true
	t.csv.TrimLeadingSpace = between != '\t'
	return t
}

// split returns the fields of a line, which are valid until the next call. Each line
// is read on its own, so that a quote without an end costs only its line. A quote
// inside a field without quotes is a character as any other.
func (t *table) split(text []byte) (fields []string, err error) {
	for _, lazy := range []bool{false, true} {
		t.line.Reset()
		t.line.Write(text)
		t.csv.LazyQuotes = lazy
		fields, err = t.csv.Read()
		if !errors.Is(err, csv.ErrBareQuote) {
			break
		}
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields, err
}

func (t *table) read(r io.Reader, yield func(Entry) bool) (err error) {
	for line := range eachLine(r, maxLine, &err) {
		text := line.text
		if blank := len(bytes.TrimSpace(text)) == 0; line.fault != faultTruncated && (blank || text[0] == '#') {
			continue
		}
		e := Entry{Line: line.number, Text: text}
		fields, bad := t.split(text)
		switch {
		case line.fault != "":
			e.Fault = line.fault
		case bad != nil:
			e.Fault = faultQuote
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
func (t *table) entry(e *Entry, fields []string) {
	if !t.known {
		t.guess(fields)
	}
	field := func(i int) string {
		if i < 0 || i >= len(fields) {
			return ""
		}
		return fields[i]
	}
	addr, port := field(t.addr), field(t.port)
	e.skip = notUDP(field(t.proto)) || noAnswer(field(t.class), field(t.success))
	if addr == "" {
		e.Fault = faultNoAddress
		return
	}
	e.Text, e.Tag = joinPort(addr, port), []byte(field(t.tag))
	e.stray = port == "" && (t.stray || !t.named && slices.ContainsFunc(fields, func(f string) bool {
		n, fault := parsePort([]byte(f))
		return fault == "" && n >= 1024
	}))
}

// header finds the columns by their names. It returns false if no field is the name
// of an address column.
func (t *table) header(fields []string) bool {
	find := func(names ...string) int {
		for _, name := range names {
			if i := slices.IndexFunc(fields, func(f string) bool { return strings.EqualFold(f, name) }); i >= 0 {
				return i
			}
		}
		return -1
	}
	t.addr, t.port, t.tag, t.proto = find(addrNames...), find(portNames...), find("tag"), find(protoNames...)
	if find("saddr") >= 0 { // ZMap
		t.class, t.success = find("classification"), find("success")
	}
	t.stray = t.port < 0 && slices.ContainsFunc(fields, func(f string) bool {
		return strings.HasSuffix(strings.ToLower(f), "port") && !slices.Contains(addrNames, strings.ToLower(f))
	})
	t.known = t.addr >= 0
	t.named = t.known
	return t.known
}

// guess finds the columns by their contents: the address is in the first field that
// holds an address or a network. The port is in the next field
// if that holds a port and the address has none.
func (t *table) guess(fields []string) {
	isTarget := func(f string) bool {
		_, fault := parse([]byte(f))
		return fault == ""
	}
	t.addr, t.port, t.tag = slices.IndexFunc(fields, isTarget), -1, -1
	t.known = t.addr >= 0
	if !t.known || t.addr+1 == len(fields) {
		return
	}
	n, _ := parse([]byte(fields[t.addr]))
	if _, f := parsePort([]byte(fields[t.addr+1])); n.kind == kindAddr && f == "" {
		t.port = t.addr + 1
	}
}
