package export

import (
	"math"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/a2sscan/a2sscan/sink/record"
)

// rows are rows of a table, stored by column.
type rows struct {
	columns [][]parquet.Value
	n       int
}

func newRows(columns int) *rows { return &rows{columns: make([][]parquet.Value, columns)} }

// reset removes all rows.
func (r *rows) reset() {
	for i := range r.columns {
		r.columns[i] = r.columns[i][:0]
	}
	r.n = 0
}

// add adds a record as a row. The values refer to line, which must not change until
// the rows are written.
func (r *rows) add(root *node, line []byte) {
	if root.flat {
		clear(root.vals)
		flatValues(root, line, "")
		for i, c := range root.inner {
			r.put(c, root.vals[i], 0, 0)
		}
	} else {
		r.members(root, line, 0, 0)
	}
	r.n++
}

// put adds the value of a key. value is nil if the record lacks the key; then def
// is the definition level up to which its parents are present. rep is the
// repetition level.
func (r *rows) put(n *node, value []byte, def, rep int) {
	if len(value) == 0 || string(value) == "null" {
		r.null(n, def, rep)
		return
	}
	switch n.kind {
	case kindLeaf:
		v, ok := leafValue(n.is, value)
		if !ok {
			r.null(n, def, rep)
			return
		}
		r.columns[n.leaf] = append(r.columns[n.leaf], v.Level(rep, n.def, n.leaf))
	case kindGroup:
		r.members(n, value, n.def, rep)
	case kindList:
		r.list(n, value, rep)
	case kindMap:
		r.pairs(n, value, rep)
	}
}

// null adds null for a key and everything below it.
func (r *rows) null(n *node, def, rep int) {
	if n.kind == kindLeaf {
		r.columns[n.leaf] = append(r.columns[n.leaf], parquet.NullValue().Level(rep, def, n.leaf))
		return
	}
	for _, c := range n.inner {
		r.null(c, def, rep)
	}
}

// members adds the members of an object.
func (r *rows) members(n *node, object []byte, def, rep int) {
	clear(n.vals)
	at := 0 // keys mostly are in the order of the schema
	record.EachMember(object, func(key, value []byte) bool {
		for try := range n.order[at:] {
			if c := &n.order[at+try]; c.name == string(key) {
				n.vals[c.to] = value
				at += try + 1
				return true
			}
		}
		if i, ok := n.index[string(key)]; ok {
			n.vals[i] = value
		}
		return true
	})
	for i, c := range n.inner {
		r.put(c, n.vals[i], def, rep)
	}
}

// list adds the elements of a list.
func (r *rows) list(n *node, list []byte, rep int) {
	first := true
	record.EachElement(list, func(value []byte) {
		r.put(n.inner[0], value, n.def+1, rep)
		first, rep = false, n.rep
	})
	if first {
		r.null(n.inner[0], n.def, rep)
	}
}

// pairs adds the members of an object as a map, because the server chooses its
// keys.
func (r *rows) pairs(n *node, object []byte, rep int) {
	first := true
	record.EachMember(object, func(key, value []byte) bool {
		k := &r.columns[n.inner[0].leaf]
		*k = append(*k, parquet.ByteArrayValue(key).Level(rep, n.inner[0].def, n.inner[0].leaf))
		r.put(n.inner[1], value, n.def+1, rep)
		first, rep = false, n.rep
		return true
	})
	if first {
		r.null(n, n.def, rep)
	}
}

// leafValue converts a value to a type. ok is false if the value does not have that
// type.
func leafValue(t record.ColumnType, value []byte) (v parquet.Value, ok bool) {
	switch t {
	case record.ColumnText:
		return parquet.ByteArrayValue(record.Unquote(value)), value[0] == '"'
	case record.ColumnJSON:
		return parquet.ByteArrayValue(value), true
	case record.ColumnID:
		n, err := strconv.ParseUint(string(record.Unquote(value)), 10, 64)
		return parquet.Int64Value(int64(n)), err == nil
	case record.ColumnUint64:
		n, err := strconv.ParseUint(string(value), 10, 64)
		return parquet.Int64Value(int64(n)), err == nil
	case record.ColumnMillis, record.ColumnSeconds:
		at, err := time.Parse(time.RFC3339Nano, string(record.Unquote(value)))
		return parquet.Int64Value(at.UnixMilli()), err == nil
	case record.ColumnFloat64:
		n, err := strconv.ParseFloat(string(value), 64)
		return parquet.DoubleValue(n), err == nil
	case record.ColumnFloat32:
		n, err := strconv.ParseFloat(string(value), 32)
		return parquet.FloatValue(float32(n)), err == nil && !math.IsInf(n, 0)
	case record.ColumnBool:
		return parquet.BooleanValue(value[0] == 't'), true
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	return parquet.Int32Value(int32(n)), err == nil
}
