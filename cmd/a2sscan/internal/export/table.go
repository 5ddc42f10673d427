package export

import (
	"encoding/csv"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/columns"
	"github.com/a2sscan/a2sscan/sink/record"
)

// table is a file that records are written to.
type table interface {
	add(line []byte) error
	close() error
}

// batchBytes is how many bytes of records are converted at once. groupBytes is the
// size of a row group in bytes of records; a row group is in memory until it is
// complete.
const (
	batchBytes = 256 << 10
	groupBytes = 24 << 20
	dictBytes  = 1 << 20
	pageBytes  = 128 << 10
)

// parquetTable writes a Parquet file.
type parquetTable struct {
	root  *node
	w     *parquet.GenericWriter[any]
	rows  *rows
	lines []byte // the records that rows refers to
	group int    // bytes of records in the row group
}

func newParquet(out io.Writer, root *node) *parquetTable {
	schema := root.schema()
	w := parquet.NewGenericWriter[any](out, schema,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}),
		parquet.PageBufferSize(pageBytes), parquet.DictionaryMaxBytes(dictBytes), parquet.CreatedBy("a2sscan", "", ""))
	return &parquetTable{root: root, w: w, rows: newRows(len(schema.Columns()))}
}

func (p *parquetTable) add(line []byte) error {
	from := len(p.lines)
	if from > 0 && from+len(line) > batchBytes {
		if err := p.flush(); err != nil {
			return err
		}
		from = 0
	}
	p.lines = append(p.lines, line...)
	p.rows.add(p.root, p.lines[from:])
	p.group += len(line)
	return nil
}

// flush writes the rows, and ends the row group if it is large enough.
func (p *parquetTable) flush() error {
	for i, c := range p.w.ColumnWriters() {
		if _, err := c.WriteRowValues(p.rows.columns[i]); err != nil {
			return err
		}
	}
	p.rows.reset()
	p.lines = p.lines[:0]
	if p.group < groupBytes {
		return nil
	}
	p.group = 0
	return p.w.Flush()
}

func (p *parquetTable) close() error {
	if err := p.flush(); err != nil {
		return err
	}
	return p.w.Close()
}

// csvTable writes a flat table as CSV. The first line has the names of the columns.
type csvTable struct {
	root  *node
	w     *csv.Writer
	cells []string
}

func newCSV(out io.Writer, root *node) (*csvTable, error) {
	leaves := 0
	names := make([]string, len(root.inner))
	for i, c := range root.inner {
		names[i] = c.name
	}
	root.index, root.vals = map[string]int{}, make([][]byte, len(root.inner))
	for i, c := range root.inner {
		c.leaf = leaves
		root.index[c.name] = i
		leaves++
	}
	t := &csvTable{root: root, w: csv.NewWriter(out), cells: make([]string, leaves)}
	return t, t.w.Write(names)
}

func (t *csvTable) add(line []byte) error {
	clear(t.root.vals)
	flatValues(t.root, line, "")
	for i, c := range t.root.inner {
		t.cells[i] = cell(c.is, t.root.vals[i])
	}
	return t.w.Write(t.cells)
}

func (t *csvTable) close() error {
	t.w.Flush()
	return t.w.Error()
}

// flatValues finds the values of a flat table in a record.
func flatValues(root *node, object []byte, prefix string) {
	record.EachMember(object, func(key, value []byte) bool {
		name := prefix + string(key)
		if i, ok := root.index[name]; ok {
			root.vals[i] = value
		} else if value[0] == '{' {
			flatValues(root, value, name+"_")
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
