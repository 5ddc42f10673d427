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
	key   string // in the record
	name  string // in the file
	kind  kind
	is    record.ColumnType // of a leaf
	inner []*node           // sorted by name, as in the file

	leaf int // of a leaf: number of its column
	def  int // definition level of a value that is present
	rep  int // repetition level of elements after the first

	keys  []*node        // the keys of an object, in the order of the record
	byKey map[string]int // index in keys
	seen  uint32         // number of the object in which the packer last found this key
	then  int            // index of the key that last followed this one in an object

	quoted string // the key as it is written, with its colon

	marks    marks    // positions at which the value is present
	lengths  []uint32 // of a list or map: number of elements, for each mark
	elements uint32   // their sum
	column   column   // of a leaf: its values
}

type kind uint8

const (
	kindLeaf  kind = iota
	kindGroup      // of the columns in inner
	kindList       // of elements inner[0]
	kindMap        // inner[0] is the key and inner[1] the value
	kindPath       // of a flat table: an object whose keys are columns of the root
)

// tree returns the columns of all keys of a record.
func tree(columns []record.Column) *node {
	root := &node{kind: kindGroup}
	for i := range columns {
		root.inner = append(root.inner, nodeOf(&columns[i], columns[i].Lists))
	}
	root.keys = root.inner
	return root
}

// nodeOf returns the node of a key whose value is nested in the given number of lists.
func nodeOf(c *record.Column, lists int) *node {
	if lists > 0 {
		return &node{key: c.Name, name: c.Name, kind: kindList, inner: []*node{nodeOf(c, lists-1)}}
	}
	switch c.Type {
	case record.ColumnObject:
		n := &node{key: c.Name, name: c.Name, kind: kindGroup}
		for i := range c.Fields {
			n.inner = append(n.inner, nodeOf(&c.Fields[i], c.Fields[i].Lists))
		}
		n.keys = n.inner
		return n
	case record.ColumnMap:
		return &node{key: c.Name, name: c.Name, kind: kindMap, inner: []*node{{name: "key"}, {name: "value"}}}
	}
	return &node{key: c.Name, name: c.Name, kind: kindLeaf, is: c.Type}
}

// flatTree returns the columns of a flat table: one for each value that occurs at most
// once per record, except JSON and hexadecimal values. Keys of objects are joined with
// an underscore.
func flatTree(columns []record.Column) *node {
	root := &node{kind: kindGroup}
	for i := range columns {
		root.keys = append(root.keys, flatten(root, &columns[i], "")...)
	}
	return root
}

// flatten adds the columns of a key to the root of a flat table. It returns the node
// that reads the key, or nil if the table has no column for it.
func flatten(root *node, c *record.Column, prefix string) []*node {
	switch {
	case c.Lists > 0, c.Type == record.ColumnMap, c.Type == record.ColumnJSON, strings.HasSuffix(c.Name, "_hex"):
		return nil
	case c.Type == record.ColumnObject:
		path := &node{key: c.Name, kind: kindPath}
		for i := range c.Fields {
			path.keys = append(path.keys, flatten(root, &c.Fields[i], prefix+c.Name+"_")...)
		}
		return []*node{path}
	}
	leaf := &node{key: c.Name, name: prefix + c.Name, kind: kindLeaf, is: c.Type}
	root.inner = append(root.inner, leaf)
	return []*node{leaf}
}

// schema numbers the columns below the root and returns the Parquet schema, in
// which they are sorted by name.
func (n *node) schema() *parquet.Schema {
	leaves := 0
	n.number(0, 0, &leaves)
	n.index()
	group := parquet.Group{}
	for _, c := range n.inner {
		group[c.name] = c.parquet()
	}
	return parquet.NewSchema("record", group)
}

// index prepares n, and the nodes below it, for the lookup of keys.
func (n *node) index() {
	n.byKey = map[string]int{}
	for i, c := range n.keys {
		n.byKey[c.key] = i
		c.quoted, c.then = `"`+c.key+`":`, i+1
		if c.kind == kindPath {
			c.index()
		}
	}
	if n.kind != kindPath {
		for _, c := range n.inner {
			c.index()
		}
	}
}

// number numbers the columns in n and sets their levels. def and rep are the levels
// of n.
func (n *node) number(def, rep int, leaves *int) {
	n.def, n.rep = def, rep
	switch n.kind {
	case kindLeaf:
		n.leaf = *leaves
		*leaves++
		n.column.init(n.is)
		return
	case kindGroup:
		n.inner = slices.SortedFunc(slices.Values(n.inner), func(a, b *node) int { return strings.Compare(a.name, b.name) })
		for _, c := range n.inner {
			c.number(def+1, rep, leaves)
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
		return parquet.Optional(parquet.Map(parquet.String(), parquet.Optional(parquet.String())))
	}
	return parquet.Optional(leafNode(n.is))
}

// leafNode returns the Parquet column of a type.
func leafNode(t record.ColumnType) parquet.Node {
	switch t {
	case record.ColumnID, record.ColumnUint64:
		return parquet.Uint(64)
	case record.ColumnMillis, record.ColumnSeconds:
		return parquet.Timestamp(parquet.Millisecond)
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
	return parquet.String()
}
