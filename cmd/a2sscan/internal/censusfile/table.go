package censusfile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Format is a format of records.
type Format string

const (
	JSON Format = "json"
	Text Format = "text"
	CSV  Format = "csv"
	TSV  Format = "tsv"
)

// Formats are all formats.
var Formats = []Format{JSON, Text, CSV, TSV}

// UsualFields are the fields of CSV and TSV if no fields are chosen.
var UsualFields = []string{
	"addr", "time", "status", "rtt_ms", people, capacity, bots, "info.map", "info.game", "info.app_id", "info.version", "info.name",
}

// Display describes the terminal that text is shown on. Width returns its current width in
// columns.
type Display struct {
	Width func() int // nil means no limit
	Color bool
}

// Table formats records as lines.
type Table struct {
	format Format
	fields []string // empty means the usual columns of Text
	screen Display

	kept  *record.Reader  // reads the keys of the fields
	known *record.Reader  // reads the keys that the usual columns need
	found map[string]bool // keys of the record in which a chosen field had a value
	buf   bytes.Buffer
	csv   *csv.Writer
}

// NewTable returns a table of the given fields, or of the usual fields if fields is
// empty. It returns nil if records are to be written unchanged.
func NewTable(format Format, fields []string, screen Display) (*Table, error) {
	if err := checkFields(fields); err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		switch format {
		case JSON, "":
			return nil, nil
		case CSV, TSV:
			fields = UsualFields
		}
	}
	var keys []string
	for _, field := range fields {
		if key, _, _ := strings.Cut(field, "."); !isComputed(field) {
			keys = append(keys, key)
		}
	}
	t := &Table{
		format: format, fields: fields, screen: screen, found: map[string]bool{},
		kept:  record.NewReader("schema").Keep(keys...),
		known: record.NewReader("addr", "tag", "rtt_ms", "status", "info", "game"),
	}
	t.csv = csv.NewWriter(&t.buf)
	return t, nil
}

// Header returns the first line of the output, with its newline, or nil if the format
// has no header.
func (t *Table) Header() []byte {
	switch {
	case t.format == JSON || t.format == "":
		return nil
	case t.format != Text:
		return append(t.join(t.fields), '\n')
	case len(t.fields) == 0:
		return []byte(t.colored(dim, t.serverLine(titles, "", "")) + "\n")
	}
	return []byte(t.colored(dim, t.fieldLine(t.fields)) + "\n")
}

// Row returns a record as a line without a newline. It is valid until the next
// call. A line that is not a record has no values.
func (t *Table) Row(line []byte) []byte {
	if t.format == Text && len(t.fields) == 0 {
		return []byte(t.server(line))
	}
	var who *record.Record
	kept, _ := t.kept.Read(line)
	if slices.ContainsFunc(t.fields, isComputed) {
		who, _ = t.known.Read(line)
	}
	values := make([][]byte, len(t.fields))
	for i, field := range t.fields {
		values[i] = t.value(field, kept, who)
	}
	if t.format == JSON || t.format == "" {
		return t.object(values)
	}
	cells := make([]string, len(values))
	for i, value := range values {
		if cells[i] = strings.TrimPrefix(string(value), "null"); len(value) > 0 && value[0] == '"' {
			_ = json.Unmarshal(value, &cells[i])
		}
	}
	if t.format == Text {
		return []byte(t.fieldLine(cells))
	}
	return t.join(cells)
}

// Lacks reports whether fields inside a key of the record were chosen, and no record had
// any of them.
func (t *Table) Lacks(key string) bool {
	chosen := slices.ContainsFunc(t.fields, func(f string) bool { return strings.HasPrefix(f, key+".") })
	return chosen && !t.found[key]
}

// join joins cells to a line of CSV or TSV.
func (t *Table) join(cells []string) []byte {
	safe := make([]string, len(cells))
	for i, cell := range cells {
		safe[i] = Harmless(cell)
	}
	if t.format == TSV {
		return []byte(strings.Join(safe, "\t"))
	}
	t.buf.Reset()
	_ = t.csv.Write(safe) // writing to a buffer never fails
	t.csv.Flush()
	return bytes.TrimSuffix(t.buf.Bytes(), []byte("\n"))
}

// object returns the chosen fields as a JSON object. It omits fields that the
// record lacks.
func (t *Table) object(values [][]byte) []byte {
	object := []byte{'{'}
	for i, value := range values {
		if value == nil {
			continue
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		key, _ := json.Marshal(t.fields[i]) // encoding a string never fails
		object = append(append(append(object, key...), ':'), value...)
	}
	return append(object, '}')
}

// noLimit is a width that no text reaches.
const noLimit = 1 << 28

// Harmless makes a cell safe for every program: it escapes invisible characters and line
// breaks, and puts an apostrophe before text that a spreadsheet would take for a formula:
// text that begins with a character such as =, possibly after spaces, and is not a number.
func Harmless(cell string) string {
	cell = console.Plain(cell, noLimit)
	formula := strings.TrimLeft(cell, " \u00a0")
	if formula == "" || !strings.ContainsRune("=+-@＝＋－＠|", []rune(formula)[0]) {
		return cell
	}
	if n := json.Number(""); json.Unmarshal([]byte(formula), &n) == nil {
		return cell
	}
	return "'" + cell
}
