package list

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
)

var tables = []Format{columns("TSV", '\t'), columns("CSV", ','), columns("CSV with semicolons", ';')}

func columns(name string, between rune) Format {
	return Format{
		Name:  name,
		Sniff: func(head []byte) bool { return sniffColumns(firstLine(head), between) },
		Read:  func(r io.Reader, yield func(Entry) bool) error { return newTable(between).read(r, yield) },
	}
}

// sniffColumns reports whether the first line of a list is the first line of a table. A
// line that begins with an address is text with a tag, unless the second field is the port
// or the first field is quoted.
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
	case t.names[0] == columnIP && first[0] != '"':
		return slices.Contains(t.names, columnPort)
	}
	return fault != "" && (len(fields) > 1 || between == ',')
}

type table struct {
	csv   *csv.Reader
	line  bytes.Buffer // the line that csv reads
	names []member     // meanings of the columns; nil until they are known
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
// is read on its own, so that an unclosed quote makes only one line invalid. A quote inside
// an unquoted field is a character like any other.
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
		// After the first row, "//" may begin a name.
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
		t.row.clear()
		for i, field := range fields {
			switch {
			case i < len(t.names) && (t.named || t.names[i].name != ""):
				t.row.put(t.names[i], field)
			case !t.named:
				port, f := parsePort([]byte(field))
				t.row.joins = t.row.joins || f == "" && port >= 1024
			}
		}
		all, f := t.several(fields)
		if f != "" && !yield(Entry{Line: line.number, Text: text, Fault: f}) {
			return nil
		}
		for _, field := range all {
			if !yield(Entry{Line: line.number, Text: []byte(field)}) {
				return nil
			}
		}
		if f == "" && len(all) == 0 && !t.row.entries(line.number, text, yield) {
			return nil
		}
	}
	return err
}

// several returns the fields of a row that are not empty, if all of them are targets of the
// same form. It returns a fault if the first address and the next field have the same form,
// but another field does not. It returns nil for a table whose columns have names.
func (t *table) several(fields []string) (all []string, f fault) {
	at := slices.Index(t.names, columnIP)
	if t.named || at < 0 || at+1 >= len(fields) || !mayBeTarget([]byte(fields[at+1])) {
		return nil, ""
	}
	want := formOf([]byte(fields[at]))
	other := func(field string) bool { return field != "" && formOf([]byte(field)) != want }
	switch {
	case want == formOther || other(fields[at+1]) || fields[at+1] == "":
		return nil, ""
	case slices.ContainsFunc(fields, other):
		return nil, faultSeveral
	}
	return slices.DeleteFunc(slices.Clone(fields), func(field string) bool { return field == "" }), ""
}

// The columns of a table whose first line does not name them.
var (
	columnIP   = newMember("ip")
	columnPort = newMember("port")
)

// header finds the columns by their names. It returns false if no field is the name of an
// address column. Without a column tag, the column with the names of servers has the tags.
func (t *table) header(fields []string) bool {
	if slices.ContainsFunc(fields, isAddress) {
		return false
	}
	var names []member
	label := -1
	for i, f := range fields {
		m := newMember(f)
		t.named = t.named || slices.Contains(addrKeys, m.name)
		if label < 0 && isLabel.MatchString(separators.ReplaceAllString(f, "")) {
			label = i
		}
		if m.name != "queryport" && !isColumn[m.name] {
			m.name = ""
		}
		names = append(names, m)
	}
	if tag := newMember("tag"); label >= 0 && !slices.Contains(names, tag) {
		names[label] = tag
	}
	if t.named {
		t.names = names
	}
	return t.named
}

var isLabel = regexp.MustCompile(`(?i)^(name|servername|label|title)$`)

// guess finds the columns by their contents. The address is in the first field that holds
// an address or a network. The port is in the next field if that field holds a port and
// the address has none. guess returns false if no field holds an address.
func (t *table) guess(fields []string) bool {
	for i, f := range fields {
		n, fault := parse([]byte(f))
		if fault != "" {
			continue
		}
		t.names = make([]member, len(fields))
		t.names[i] = columnIP
		if i+1 < len(fields) && n.kind == kindAddr {
			if _, f := parsePort([]byte(fields[i+1])); f == "" {
				t.names[i+1] = columnPort
			}
		}
		return true
	}
	return false
}
