package export

import (
	"encoding/csv"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/columns"
	"github.com/a2sscan/a2sscan/sink/record"
)

// table is a file that records are written to.
type table interface {
	add(line []byte) error
	close() error
}

// csvTable writes a flat table as CSV. The first line has the names of the columns.
type csvTable struct {
	columns []*node
	index   map[string]int // index in columns, by name
	values  [][]byte
	w       *csv.Writer
	cells   []string
}

func newCSV(out io.Writer) (*csvTable, error) {
	t := &csvTable{columns: flatTree(record.Columns()).inner, index: map[string]int{}, w: csv.NewWriter(out)}
	for i, c := range t.columns {
		t.index[c.name] = i
		t.cells = append(t.cells, c.name)
	}
	t.values = make([][]byte, len(t.columns))
	return t, t.w.Write(t.cells)
}

func (t *csvTable) add(line []byte) error {
	clear(t.values)
	t.find(line, "")
	for i, c := range t.columns {
		t.cells[i] = cell(c.is, t.values[i])
	}
	return t.w.Write(t.cells)
}

func (t *csvTable) close() error {
	t.w.Flush()
	return t.w.Error()
}

// find stores the values of the columns that are in object. prefix stands before its
// keys in the names of columns.
func (t *csvTable) find(object []byte, prefix string) {
	record.EachMember(object, func(key, value []byte) bool {
		name := prefix + string(key)
		if i, ok := t.index[name]; ok {
			t.values[i] = value
		} else if value[0] == '{' {
			t.find(value, name+"_")
		}
		return true
	})
}

// cell returns a value as CSV text. Text that a spreadsheet would read as a formula
// gets an apostrophe before it, which spreadsheets do not show.
func cell(t record.ColumnType, value []byte) string {
	if len(value) == 0 || string(value) == "null" {
		return ""
	}
	if value[0] != '"' {
		return string(value)
	}
	s := string(record.Unquote(value))
	if t == record.ColumnText && columns.IsFormula(s) {
		return "'" + s
	}
	return s
}
