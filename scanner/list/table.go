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
// line that begins with an address is a row only if the second field is the port or the
// first field is quoted; otherwise it is text with a tag. sniffColumns ignores an unclosed
// quote, because a quoted field may end in a later line.
func sniffColumns(first []byte, between rune) bool {
	t := newTable(between)
	fields, _ := t.split(first)
	addr, _ := cutTag(first)
	_, fault := parse(addr)
	switch {
	case len(first) == 0:
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
	csv     *csv.Reader
	line    bytes.Buffer // the line that csv reads
	heading []member     // meanings of the columns, from a line of names before the first row
	names   []member     // meanings of the columns; nil until they are known
	named   bool         // the columns have names
	quoted  int          // how many more bytes a quoted field with line breaks may have
	row     object
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

// split returns the fields of a line, which are valid until the next call of split. Each
// line is parsed on its own, so that a field with an unclosed quote ends with its line. A
// quote inside an unquoted field is a character like any other.
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
		fields, bad := t.split(text)
		fault, isContinued := line.fault, t.isContinued(text, bad)
		switch {
		case fault == "" && isContinued && len(bytes.TrimSpace(text)) > 0:
			fault = faultInQuotes
		case (fault == "" || fault == faultLong) && t.isComment(text, fields):
			if !isContinued {
				t.quoted = 0
			}
			t.readHeading(text)
			continue
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
			if i < len(t.names) && (t.named || t.names[i].name != "") {
				t.row.put(t.names[i], field)
			} else {
				t.row.joins = t.row.joins || portIn(field) >= 1024
			}
		}
		all, isAside, f := t.several(fields)
		if f != "" && !yield(Entry{Line: line.number, Text: text, Fault: f}) {
			return nil
		}
		for _, field := range all {
			if !yield(Entry{Line: line.number, Text: []byte(field)}) {
				return nil
			}
		}
		give := yield
		if isAside {
			give = func(e Entry) bool {
				e.aside = true
				return yield(e)
			}
		}
		if f == "" && len(all) == 0 && !t.row.entries(line.number, text, give) {
			return nil
		}
	}
	return err
}

// maxQuoted is the maximum length of a quoted field that has line breaks, in bytes. The
// name of a server comes from a datagram, and is shorter.
const maxQuoted = 4 << 10

// isContinued reports whether a quoted field of an earlier line may continue in this line.
// Its last argument is the error that split returned for this line. The name of a server
// may contain a line break; the text after it must not be read as a row. So after an
// unclosed quote, about maxQuoted bytes may be invalid. A line whose first quote can't end
// a field does not continue a field.
func (t *table) isContinued(text []byte, bad error) bool {
	if t.quoted <= 0 && bad == nil {
		return false
	}
	isOdd := bytes.Count(text, []byte(`"`))%2 > 0
	_, after, hasQuote := bytes.Cut(bytes.ReplaceAll(text, []byte(`""`), nil), []byte(`"`))
	after = bytes.TrimLeft(after, " ")
	isContinued := t.quoted > 0 && (!hasQuote || len(after) == 0 || rune(after[0]) == t.csv.Comma)
	switch {
	case isContinued && !isOdd:
		t.quoted -= len(text) + 1
	case !isContinued && bad != nil && isOdd:
		t.quoted = maxQuoted
	default:
		t.quoted = 0
	}
	return isContinued
}

// isComment reports whether a line is empty or a comment. Once the columns are known, a
// line that begins with '#' is a row if it has an address in the column of addresses,
// because the name of a server may begin with '#'.
func (t *table) isComment(text []byte, fields []string) bool {
	text = bytes.TrimSpace(text)
	switch {
	case t.names == nil || len(text) == 0:
		return isComment(text)
	case text[0] != '#':
		return false
	}
	for i := range min(len(fields), len(t.names)) {
		field := []byte(fields[i])
		if slices.Contains(addrKeys, t.names[i].name) && (formOf(field) != kindNone || bytes.IndexByte(field, '.') > 0 && isHost(field)) {
			return false
		}
	}
	return true
}

// readHeading reads the names of columns from a comment, if one of the names means a
// port. Later, t.guess decides whether they are the names of this table's columns.
func (t *table) readHeading(text []byte) {
	h := newTable(t.csv.Comma)
	if fields, _ := h.split(bytes.TrimPrefix(text, []byte("#"))); t.names == nil && h.header(fields) && h.heading != nil {
		t.heading = h.heading
	}
}

// several returns the fields of a row that are not empty, if all of them are targets of
// the same form. In any other row, a second target is a fault. But a second address
// without a port may be the version of a game; then isAside is true, and there is no
// fault. several does nothing for a table whose columns have names.
func (t *table) several(fields []string) (all []string, isAside bool, f fault) {
	at := slices.Index(t.names, columnIP)
	if t.named || at < 0 || at >= len(fields) {
		return nil, false, ""
	}
	want, hasPort := formOf([]byte(fields[at])), strings.Contains(fields[at], ":")
	isSame, n := want != kindNone, 0
	isPort := func(i int) bool { return i < len(fields) && portIn(fields[i]) > 0 }
	for i, field := range fields {
		if field == "" {
			continue
		}
		n++
		is := kindNone
		if i != at && mayBeTarget([]byte(field)) {
			is = formOf([]byte(field))
		}
		isSame = isSame && (i == at || is == want)
		isAside = isAside || is != kindNone
		if is == kindAddrPort || is == kindBlock || is == kindAddr && (isPort(i+1) || !hasPort && !isPort(at+1)) {
			f = faultColumns
		}
	}
	switch {
	case isSame && n > 1:
		return slices.DeleteFunc(slices.Clone(fields), func(field string) bool { return field == "" }), false, ""
	case want == kindNone:
		return nil, false, ""
	}
	return nil, isAside, f
}

// The columns of a table whose first line does not name them.
var (
	columnIP   = newMember("ip")
	columnPort = newMember("port")
)

// header finds the columns by their names. It returns false if the fields are not the
// names of columns. One of the names must be a key of the address, or mean a port. If no
// column is named "tag", the column with the names of servers has the tags.
func (t *table) header(fields []string) bool {
	if slices.ContainsFunc(fields, isAddress) {
		return false
	}
	var names []member
	label, hasPort, areWords := -1, false, len(fields) > 1
	for i, f := range fields {
		m := newMember(f)
		t.named = t.named || slices.Contains(addrKeys, m.name)
		hasPort = hasPort || m.port != notPort
		areWords = areWords && !strings.ContainsAny(f, ",;:|") && !isStray(f)
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
	isHeading := t.named || hasPort && areWords
	if isHeading && hasPort {
		t.heading = names
	}
	return isHeading
}

var isLabel = regexp.MustCompile(`(?i)^(name|servername|label|title)$`)

// guess finds the columns by the contents of a row. The address is in the first field that
// holds an address or a network. If t.heading has one name per field, guess uses these
// names. Otherwise the port is in the field after the address, if that field holds a port
// and the address has none. guess returns false if no field holds an address.
func (t *table) guess(fields []string) bool {
	for i, f := range fields {
		n, fault := parse([]byte(f))
		if fault != "" {
			continue
		}
		if len(t.heading) == len(fields) {
			t.names, t.named = t.heading, true
			if !slices.ContainsFunc(t.names, func(m member) bool { return slices.Contains(addrKeys, m.name) }) {
				t.names[i] = columnIP
			}
			return true
		}
		t.names = make([]member, len(fields))
		t.names[i] = columnIP
		if i+1 < len(fields) && n.kind != kindAddrPort && n.ports == nil {
			if _, f := parsePort([]byte(fields[i+1])); f == "" {
				t.names[i+1] = columnPort
			}
		}
		return true
	}
	return false
}
