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

// sniffColumns reports whether the first line of a list is that of a table. A line
// that begins with an address is text, with the rest as its tag, unless its second
// column is the port or its first field is quoted.
func sniffColumns(first []byte, between rune) bool {
	t := newTable(between)
	fields, err := t.split(first)
	addr, _ := cutTag(first)
	_, fault := parse(addr)
	switch {
	case err != nil || len(first) == 0:
		return false
	case fault != "" && t.header(fields):
		return len(fields) > 1 || between == ','
	case !t.guess(fields):
		return false
	case t.names[0] == "ip" && first[0] != '"':
		return slices.Contains(t.names, "port")
	}
	return fault != "" && (len(fields) > 1 || between == ',')
}

// table reads a list with columns.
type table struct {
	csv   *csv.Reader
	line  bytes.Buffer // the line that csv reads
	names []string     // of the columns, in lower case; nil: not yet known
	named bool         // the first line names the columns
	row   object
}

func newTable(between rune) *table {
	t := new(table)
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
		// Behind the first row, "//" may begin a name.
		isEmpty := len(bytes.TrimSpace(text)) == 0 || text[0] == '#' || t.names == nil && isComment(bytes.TrimSpace(text))
		if isEmpty && line.fault != faultTruncated {
			continue
		}
		fields, bad := t.split(text)
		fault := line.fault
		switch {
		case fault != "":
		case bad != nil:
			fault = faultQuote
		case t.names == nil && t.header(fields):
			continue
		case t.names == nil && !t.guess(fields):
			fault = faultNoAddress
		}
		if fault != "" {
			if !yield(Entry{Line: line.number, Text: text, Fault: fault}) {
				return nil
			}
			continue
		}
		clear(t.row.values)
		t.row.stray = false
		for i, field := range fields {
			switch {
			case i < len(t.names) && isColumn[t.names[i]]:
				t.row.put(t.names[i], field)
			case t.named && i < len(t.names) && field != "":
				t.row.ignore(t.names[i])
			case !t.named:
				port, f := parsePort([]byte(field))
				t.row.stray = t.row.stray || f == "" && port >= 1024
			}
		}
		if !t.row.entries(line.number, text, yield) {
			return nil
		}
	}
	return err
}

// header finds the columns by their names. It returns false if no field is the name
// of an address column.
func (t *table) header(fields []string) bool {
	var names []string
	for _, f := range fields {
		names = append(names, strings.ToLower(f))
		t.named = t.named || slices.Contains(addrKeys, names[len(names)-1])
	}
	if t.named {
		t.names = names
	}
	return t.named
}

// guess finds the columns by their contents: the address is in the first field that
// holds an address or a network. The port is in the next field if that holds a port and
// the address has none. It returns false if there is no address.
func (t *table) guess(fields []string) bool {
	for i, f := range fields {
		n, fault := parse([]byte(f))
		if fault != "" {
			continue
		}
		t.names = make([]string, len(fields))
		t.names[i] = "ip"
		if i+1 < len(fields) && n.kind == kindAddr {
			if _, f := parsePort([]byte(fields[i+1])); f == "" {
				t.names[i+1] = "port"
			}
		}
		return true
	}
	return false
}
