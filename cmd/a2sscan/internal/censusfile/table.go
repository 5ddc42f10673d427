package censusfile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

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

// Table formats records as lines. Only one goroutine may use it.
type Table struct {
	format Format
	fields []string // empty means the usual columns of Text
	screen Display
	farms  Farms // IDs of farms, for the field "farm"

	reader *record.Reader
	placed *atomic.Bool // whether a chosen field of geo had a value; shared by clones
	buf    bytes.Buffer
	csv    *csv.Writer
	values [][]byte
	cells  []string
}

// NewTable returns a table of the given fields, or of the usual fields if fields is
// empty. It returns nil if records are to be written unchanged.
func NewTable(format Format, fields []string, screen Display) (*Table, error) {
	if err := checkFields("--fields", fields); err != nil {
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
	t := &Table{format: format, fields: fields, screen: screen, placed: new(atomic.Bool)}
	return t.clone(), nil
}

func (t *Table) clone() *Table {
	c := &Table{format: t.format, fields: t.fields, screen: t.screen, farms: t.farms, placed: t.placed}
	c.csv = csv.NewWriter(&c.buf)
	if len(t.fields) == 0 {
		c.reader = record.NewReader("addr", "tag", "rtt_ms", "status", "info", "game")
		return c
	}
	// Decode the keys from which fields are computed. Keep the values of other fields as the
	// record writes them, and decode them too: this checks them as other commands do.
	keys, kept := []string{"schema"}, []string(nil)
	for _, field := range t.fields {
		switch key, _, _ := strings.Cut(field, "."); {
		case field == farm:
			keys = append(keys, "addr")
		case isComputed(field):
			keys = append(keys, counts...)
		default:
			keys, kept = append(keys, field), append(kept, key)
		}
	}
	c.reader = record.NewReader(keys...).Keep(kept...)
	return c
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

// Row returns the row for a record, without a newline. The row is valid until the next
// call. If line is not a record, Row returns an error.
func (t *Table) Row(line []byte) ([]byte, error) {
	rec, err := t.read(line)
	if err != nil {
		return nil, err
	}
	if t.format == Text && len(t.fields) == 0 {
		return []byte(t.server(rec)), nil
	}
	if t.format == JSON || t.format == "" {
		return t.object(t.values), nil
	}
	t.cells = t.cells[:0]
	for _, value := range t.values {
		t.cells = append(t.cells, cellOf(value))
	}
	if t.format == Text {
		return []byte(t.fieldLine(t.cells)), nil
	}
	return t.join(t.cells), nil
}

// read reads a record, and sets t.values to the values of the fields.
func (t *Table) read(line []byte) (*record.Record, error) {
	rec, err := t.reader.Read(line)
	if err != nil {
		return nil, err
	}
	t.values = t.values[:0]
	for _, field := range t.fields {
		value := t.value(field, rec)
		if err := record.Check(value); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		t.values = append(t.values, value)
	}
	return rec, nil
}

// cellOf returns the text of the cell for a value: of a list, its words with spaces between.
func cellOf(value []byte) (text string) {
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case value[0] == '[':
		var words []string
		if json.Unmarshal(value, &words) == nil {
			return strings.Join(words, " ")
		}
	case value[0] == '"':
		inner := value[1 : len(value)-1]
		if bytes.IndexByte(inner, '\\') < 0 {
			return string(inner)
		}
		_ = json.Unmarshal(value, &text)
		return text
	}
	return string(value)
}

// LacksGeo reports whether fields of geo were chosen, but no record had a value in any of them.
func (t *Table) LacksGeo() bool {
	chosen := slices.ContainsFunc(t.fields, func(f string) bool { return strings.HasPrefix(f, "geo.") })
	return chosen && !t.placed.Load()
}

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

// object returns the chosen fields as a JSON object. It omits fields that the record lacks,
// and fields that were chosen before.
func (t *Table) object(values [][]byte) []byte {
	object := []byte{'{'}
	for i, value := range values {
		if value == nil || slices.Index(t.fields, t.fields[i]) < i { // an object has each key once
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

const noLimit = 1 << 28

// Harmless makes a cell safe for terminals and spreadsheets. It escapes invisible
// characters and line breaks. A spreadsheet may treat text as a formula if the text begins
// with a character such as =, possibly after spaces. Harmless puts an apostrophe before
// such text, but not before numbers.
func Harmless(cell string) string {
	cell = console.Plain(cell, noLimit)
	if cell != "" && (cell[0]-'0' < 10 || cell[0]|0x20-'a' < 26) { // most cells begin with a digit or a letter
		return cell
	}
	formula := strings.TrimLeft(cell, " \u00a0")
	if first, _ := utf8.DecodeRuneInString(formula); formula == "" || !strings.ContainsRune("=+-@＝＋－＠|", first) {
		return cell
	}
	if n := json.Number(""); json.Unmarshal([]byte(formula), &n) == nil {
		return cell
	}
	return "'" + cell
}
