package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// JSONSchema returns the schema of a record as a JSON Schema (draft 2020-12).
// It allows keys that it does not name: later versions may add some.
func JSONSchema() []byte {
	s := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "a2sscan record"},
		{"description", "One line of a census: the answers of one game server."},
	}
	b, err := json.MarshalIndent(append(s, objectSchema(schemaKeys)...), "", " ")
	if err != nil {
		panic("sink: the schema: " + err.Error()) // it is made of strings and numbers
	}
	return append(b, '\n')
}

// object is a JSON object whose keys keep their order.
type object []struct {
	key   string
	value any
}

// MarshalJSON writes the object.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", m.key)
		v, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// objectSchema returns the schema of an object with these keys.
func objectSchema(fields []field) object {
	var keys object
	var required []string
	for _, f := range fields {
		value := append(object{{"description", f.about}}, f.schema(f.lists)...)
		keys = append(keys, object{{f.name, value}}...)
		if f.always {
			required = append(required, f.name)
		}
	}
	s := object{{"type", "object"}, {"properties", keys}}
	if required != nil {
		s = append(s, object{{"required", required}}...)
	}
	return s
}

// schema returns the schema of f's values. If lists is 1, it is the schema of lists
// of these values; if lists is 2, of lists of such lists.
func (f *field) schema(lists int) object {
	if lists > 0 {
		return object{{"type", "array"}, {"items", f.schema(lists - 1)}}
	}
	switch {
	case f.name == "schema":
		return object{{"const", 1}}
	case f.words != nil:
		none := func(word string) bool { return word == "" }
		return object{{"enum", slices.DeleteFunc(slices.Clone(f.words), none)}}
	case f.pattern != "":
		return object{{"type", "string"}, {"pattern", f.pattern}}
	case f.is == ColumnObject:
		return objectSchema(f.fields)
	}
	return schemas[f.is]
}

// timePattern matches a time with milliseconds.
const timePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`

// secondsPattern matches a time without a fraction.
const secondsPattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`

var timePatterns = map[ColumnType]string{ColumnMillis: timePattern, ColumnSeconds: secondsPattern}

// schemas are the schemas of the simple types.
var schemas = [numTypes]object{
	ColumnText:    {{"type", "string"}},
	typeHex:       {{"type", "string"}, {"pattern", "^([0-9a-f]{2})*$"}},
	typeBase64:    {{"type", "string"}, {"contentEncoding", "base64"}, {"pattern", "^[A-Za-z0-9+/]*={0,2}$"}},
	ColumnID:      {{"type", "string"}, {"pattern", "^(0|[1-9][0-9]{0,19})$"}},
	ColumnMillis:  {{"type", "string"}, {"pattern", timePattern}},
	ColumnSeconds: {{"type", "string"}, {"pattern", secondsPattern}},
	ColumnFloat64: {{"type", "number"}, {"minimum", 0}},
	ColumnFloat32: {{"type", []string{"number", "null"}}},
	ColumnBool:    {{"type", "boolean"}},
	ColumnUint8:   integer("0", "255"),
	ColumnUint16:  integer("0", "65535"),
	ColumnUint32:  integer("0", "4294967295"),
	ColumnUint64:  integer("0", "18446744073709551615"),
	ColumnInt32:   integer("-2147483648", "2147483647"),
	ColumnMap:     {{"type", "object"}, {"additionalProperties", object{{"type", "string"}}}},
	ColumnJSON:    {{"type", "object"}},
}

func integer(least, most json.Number) object {
	return object{{"type", "integer"}, {"minimum", least}, {"maximum", most}}
}

// databaseTypes are the types of columns in DuckDB and ClickHouse. Tuples, arrays and
// maps can't be null in ClickHouse: if the key is absent, the column is empty.
var databaseTypes = [numTypes]struct{ duck, click string }{
	ColumnText: {"VARCHAR", "String"}, typeWord: {"VARCHAR", "String"}, typeHex: {"VARCHAR", "String"},
	typeBase64: {"VARCHAR", "String"}, ColumnID: {"VARCHAR", "String"},
	ColumnMillis: {"TIMESTAMP", "DateTime64(3,'UTC')"}, ColumnSeconds: {"TIMESTAMP", "DateTime64(0,'UTC')"},
	ColumnFloat64: {"DOUBLE", "Float64"}, ColumnFloat32: {"FLOAT", "Float32"}, ColumnBool: {"BOOLEAN", "Bool"},
	ColumnUint8: {"UTINYINT", "UInt8"}, ColumnUint16: {"USMALLINT", "UInt16"}, ColumnUint32: {"UINTEGER", "UInt32"},
	ColumnUint64: {"UBIGINT", "UInt64"}, ColumnInt32: {"INTEGER", "Int32"},
	ColumnMap: {"MAP(VARCHAR,VARCHAR)", "Map(String,String)"}, ColumnJSON: {"JSON", "String"},
}

// DuckDB returns the statement with which DuckDB reads the census in file,
// compressed or not. The statement names all types: otherwise DuckDB would guess
// them from the first records, and drop keys that only later records have.
func DuckDB(file string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "FROM read_json('%s', format = 'newline_delimited', columns = {\n",
		strings.ReplaceAll(file, "'", "''"))
	for i, f := range schemaKeys {
		fmt.Fprintf(&b, "  \"%s\": '%s'%s\n", f.name, f.duck(), comma(i, schemaKeys))
	}
	b.WriteString("});\n")
	return b.String()
}

func (f *field) duck() string {
	t := databaseTypes[f.is].duck
	if f.is == ColumnObject {
		var parts []string
		for _, g := range f.fields {
			parts = append(parts, `"`+g.name+`" `+g.duck())
		}
		t = "STRUCT(" + strings.Join(parts, ", ") + ")"
	}
	return t + strings.Repeat("[]", f.lists)
}

// ClickHouse returns the statement that creates a table for records.
func ClickHouse() string {
	var b strings.Builder
	b.WriteString("-- a2sscan cat census.ndjson.zst | clickhouse-client --date_time_input_format best_effort \\\n" +
		"--   --query 'INSERT INTO census FORMAT JSONEachRow'\nCREATE TABLE census\n(\n")
	for i, f := range schemaKeys {
		fmt.Fprintf(&b, "  `%s` %s COMMENT '%s'%s\n",
			f.name, f.click(), strings.ReplaceAll(f.about, "'", "''"), comma(i, schemaKeys))
	}
	b.WriteString(")\nENGINE = MergeTree\nORDER BY tuple();\n")
	return b.String()
}

func (f *field) click() string {
	t := databaseTypes[f.is].click
	switch {
	case f.is == ColumnObject:
		var parts []string
		for _, g := range f.fields {
			parts = append(parts, "`"+g.name+"` "+g.click())
		}
		t = "Tuple(" + strings.Join(parts, ", ") + ")"
	case f.is != ColumnMap && f.lists == 0 && (!f.always || f.is == ColumnFloat32):
		t = "Nullable(" + t + ")"
	}
	return strings.Repeat("Array(", f.lists) + t + strings.Repeat(")", f.lists)
}

// comma returns the separator after field i of a statement.
func comma(i int, fields []field) string {
	if i < len(fields)-1 {
		return ","
	}
	return ""
}
