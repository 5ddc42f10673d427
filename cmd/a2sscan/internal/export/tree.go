package export

import (
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/a2sscan/a2sscan/sink/record"
)

// node is a key of the record: a column of a Parquet file, or a group of columns.
// As in DuckDB, every value is optional, a list is a LIST and a map is a MAP.
// Definition and repetition levels are those of the Parquet format.
type node struct {
	name string
	kind kind
	flat bool              // of a root: inner has one column per path
	is   record.ColumnType // of a leaf

	leaf  int // of a leaf: number of its column
	def   int // definition level of a value that is present
	rep   int // repetition level of elements after the first
	inner []*node
	index map[string]int // index in inner, by key
	order []child        // the keys of inner in the order of the schema
	vals  [][]byte       // the values of inner in the row being written
}

// child is a key of a group with its index in inner.
type child struct {
	name string
	to   int
}

type kind uint8

const (
	kindLeaf  kind = iota
	kindGroup      // of the columns in inner
	kindList       // of elements inner[0]
	kindMap        // inner[0] is the key and inner[1] the value
)

// tree returns the columns of all keys of a record.
func tree(columns []record.Column) *node {
	root := &node{kind: kindGroup}
	for i := range columns {
		root.inner = append(root.inner, nodeOf(&columns[i], columns[i].Lists))
	}
	return root
}

// nodeOf returns the node of a key whose value is inside this many lists.
func nodeOf(c *record.Column, lists int) *node {
	if lists > 0 {
		return &node{name: c.Name, kind: kindList, inner: []*node{nodeOf(c, lists-1)}}
	}
	switch c.Type {
	case record.ColumnObject:
		n := &node{name: c.Name, kind: kindGroup}
		for i := range c.Fields {
			n.inner = append(n.inner, nodeOf(&c.Fields[i], c.Fields[i].Lists))
		}
		return n
	case record.ColumnMap:
		return &node{name: c.Name, kind: kindMap, inner: []*node{{name: "key"}, {name: "value"}}}
	}
	return &node{name: c.Name, kind: kindLeaf, is: c.Type}
}

// flatTree returns the columns of a flat table. It has one column for each value
// that occurs at most once per record. Keys of objects are joined with an
// underscore.
func flatTree(columns []record.Column) *node {
	root := &node{kind: kindGroup, flat: true}
	for i := range columns {
		flatten(root, &columns[i], "")
	}
	return root
}

func flatten(root *node, c *record.Column, prefix string) {
	switch {
	case c.Lists > 0, c.Type == record.ColumnMap, c.Type == record.ColumnJSON, strings.HasSuffix(c.Name, "_hex"):
	case c.Type == record.ColumnObject:
		for i := range c.Fields {
			flatten(root, &c.Fields[i], prefix+c.Name+"_")
		}
	default:
		root.inner = append(root.inner, &node{name: prefix + c.Name, kind: kindLeaf, is: c.Type})
	}
}

// schema numbers the columns below the root and returns the Parquet schema, in
// which they are sorted by name.
func (n *node) schema() *parquet.Schema {
	leaves := 0
	n.number(0, 0, &leaves)
	group := parquet.Group{}
	for _, c := range n.inner {
		group[c.name] = c.parquet()
	}
	return parquet.NewSchema("record", group)
}

// number numbers the columns in n and sets their levels. def and rep are the levels
// of n.
func (n *node) number(def, rep int, leaves *int) {
	n.def, n.rep = def, rep
	switch n.kind {
	case kindLeaf:
		n.leaf = *leaves
		*leaves++
		return
	case kindGroup:
		n.order = make([]child, len(n.inner))
		for i, c := range n.inner {
			n.order[i].name = c.name
		}
		slices.SortFunc(n.inner, func(a, b *node) int { return strings.Compare(a.name, b.name) })
		n.vals = make([][]byte, len(n.inner))
		n.index = map[string]int{}
		for i, c := range n.inner {
			n.index[c.name] = i
			c.number(def+1, rep, leaves)
		}
		for i := range n.order {
			n.order[i].to = n.index[n.order[i].name]
		}
	case kindList:
		n.rep++
		n.inner[0].number(def+2, rep+1, leaves)
	case kindMap:
		n.rep++
		n.inner[0].number(def+1, rep+1, leaves) // a key is never null
		n.inner[1].number(def+2, rep+1, leaves)
	}
}

// parquet returns n as a node of the Parquet schema.
func (n *node) parquet() parquet.Node {
	switch n.kind {
	case kindGroup:
		group := parquet.Group{}
		for _, c := range n.inner {
			group[c.name] = c.parquet()
		}
		return parquet.Optional(group)
	case kindList:
		return parquet.Optional(parquet.List(n.inner[0].parquet()))
	case kindMap:
		return parquet.Optional(parquet.Map(text(), parquet.Optional(text())))
	}
	return parquet.Optional(leafNode(n.is))
}

// text returns a column of texts. It uses a dictionary, because many of the texts
// are equal.
func text() parquet.Node { return parquet.Encoded(parquet.String(), &parquet.RLEDictionary) }

// leafNode returns the Parquet column of a type.
func leafNode(t record.ColumnType) parquet.Node {
	switch t {
	case record.ColumnID, record.ColumnUint64:
		return parquet.Uint(64)
	case record.ColumnMillis, record.ColumnSeconds:
		return parquet.Encoded(parquet.Timestamp(parquet.Millisecond), &parquet.DeltaBinaryPacked)
	case record.ColumnFloat64:
		return parquet.Leaf(parquet.DoubleType)
	case record.ColumnFloat32:
		return parquet.Leaf(parquet.FloatType)
	case record.ColumnBool:
		return parquet.Leaf(parquet.BooleanType)
	case record.ColumnUint8:
		return parquet.Uint(8)
	case record.ColumnUint16:
		return parquet.Uint(16)
	case record.ColumnUint32:
		return parquet.Uint(32)
	case record.ColumnInt32:
		return parquet.Int(32)
	case record.ColumnJSON:
		return parquet.JSON()
	}
	return text()
}
