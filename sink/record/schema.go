package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// types says for each valueType how JSON, DuckDB and ClickHouse write it. Tuples, arrays and
// maps can't be null in ClickHouse, so their columns are empty if the key is absent.
var types = [numTypes]struct {
	want        string // description of the type in errors
	kinds       string // the possible first characters of its JSON, as in jsontext.Kind
	duck, click string
	schema      string // members of its JSON Schema
	pattern     string // regular expression for its text
	bits        int    // number of bits of an integer
}{
	typeText:    {"string", `"`, "VARCHAR", "String", isString, "", 0},
	typeWord:    {"string", `"`, "VARCHAR", "String", isString, "", 0},
	typeHex:     {"bytes in hex", `"`, "VARCHAR", "String", isString + `,"pattern":"^([0-9a-f]{2})*$"`, "", 0},
	typeBase64:  {"bytes in base64", `"`, "VARCHAR", "String", isBase64, "", 0},
	typeHash:    {"64-bit hash in hex", `"`, "VARCHAR", "String", isString, `^[0-9a-f]{16}$`, 0},
	typeAddress: {"address", `"`, "VARCHAR", "String", isString, `^[0-9a-f:.]+$`, 0},
	typeID:      {"64-bit number in a string", `"`, "VARCHAR", "String", isString, `^(0|[1-9][0-9]{0,19})$`, 0},
	typeMillis:  {"time", `"`, "TIMESTAMP", "DateTime64(3,'UTC')", isString, millisPattern, 0},
	typeSeconds: {"time", `"`, "TIMESTAMP", "DateTime64(0,'UTC')", isString, secondsPattern, 0},
	typeFloat64: {fmt.Sprintf("number from 0 to %d", maxMillis), "0", "DOUBLE", "Float64", fmt.Sprintf(`"type":"number","minimum":0,"maximum":%d`, maxMillis), "", 0},
	typeFloat32: {"number or null", "0n", "FLOAT", "Float32", `"type":["number","null"]`, "", 0},
	typeBool:    {"boolean", "tf", "BOOLEAN", "Bool", `"type":"boolean"`, "", 0},
	typeUint8:   {"integer from 0 to 255", "0", "UTINYINT", "UInt8", integer(0, math.MaxUint8), "", 8},
	typeUint16:  {"integer from 0 to 65535", "0", "USMALLINT", "UInt16", integer(0, math.MaxUint16), "", 16},
	typeUint32:  {"integer from 0 to 4294967295", "0", "UINTEGER", "UInt32", integer(0, math.MaxUint32), "", 32},
	typeUint64:  {"integer from 0 to 18446744073709551615", "0", "UBIGINT", "UInt64", integer(0, math.MaxUint64), "", 64},
	typeInt32:   {"integer from -2147483648 to 2147483647", "0", "INTEGER", "Int32", integer(math.MinInt32, math.MaxInt32), "", 32},
	typeMap:     {"object", "{", "MAP(VARCHAR,VARCHAR)", "Map(String,String)", `"type":"object","additionalProperties":{"type":"string"}`, "", 0},
	typeJSON:    {"object", "{", "JSON", "String", `"type":"object"`, "", 0},
}

const (
	isString       = `"type":"string"`
	isBase64       = isString + `,"contentEncoding":"base64","pattern":"^[A-Za-z0-9+/]*={0,2}$"`
	millisPattern  = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`
	secondsPattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
)

func integer(least int64, most uint64) string {
	return fmt.Sprintf(`"type":"integer","minimum":%d,"maximum":%d`, least, most)
}

// JSONSchema returns the schema of a record as a JSON Schema (draft 2020-12).
// It allows keys that it does not name: later versions may add some.
func JSONSchema() []byte {
	s := `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"a2sscan record",` +
		`"description":"One line of a census: the answers of one game server.",` + objectSchema(schemaKeys) + "}\n"
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(s), "", " "); err != nil {
		panic("sink: the schema: " + err.Error())
	}
	return b.Bytes()
}

func objectSchema(fields []field) string {
	var keys, required []string
	for _, f := range fields {
		keys = append(keys, quoted(f.name)+`:{"description":`+quoted(f.about)+","+f.schema(f.lists)+"}")
		if f.present == always {
			required = append(required, f.name)
		}
	}
	s := `"type":"object","properties":{` + strings.Join(keys, ",") + "}"
	if required != nil {
		s += `,"required":` + quoted(required)
	}
	return s
}

// schema returns the members of the schema of a value of f. If lists is 1, the schema is for
// a list of such values; if lists is 2, it is for a list of such lists.
func (f *field) schema(lists uint8) string {
	switch {
	case lists > 0:
		return `"type":"array","items":{` + f.schema(lists-1) + "}"
	case f.name == "schema":
		return `"const":` + knownSchema
	case f.is == typeObject:
		return objectSchema(f.fields)
	case f.words != nil:
		none := func(word string) bool { return word == "" }
		return `"enum":` + quoted(slices.DeleteFunc(slices.Clone(f.words), none))
	}
	t := &types[f.is]
	if p := f.pattern + t.pattern; p != "" { // at most one of the two is set
		return t.schema + `,"pattern":` + quoted(p)
	}
	return t.schema
}

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("sink: the schema: " + err.Error())
	}
	return string(b)
}

// DuckDB returns the statement with which DuckDB reads a census from a file, compressed or
// not. The statement names all types, because otherwise DuckDB would guess them from the
// first records, and drop keys that only later records have.
func DuckDB(file string) string {
	var columns []string
	for _, f := range schemaKeys {
		columns = append(columns, fmt.Sprintf("  \"%s\": '%s'", f.name, f.duck()))
	}
	return fmt.Sprintf("FROM read_json('%s', format = 'newline_delimited', columns = {\n%s\n});\n",
		strings.ReplaceAll(file, "'", "''"), strings.Join(columns, ",\n"))
}

func (f *field) duck() string {
	t := types[f.is].duck
	if f.is == typeObject {
		t = "STRUCT(" + columns(f.fields, `"`, (*field).duck) + ")"
	}
	return t + strings.Repeat("[]", int(f.lists))
}

// columns lists the names, in quotes, and types of the keys of an object.
func columns(fields []field, quote string, typeOf func(*field) string) string {
	var parts []string
	for i := range fields {
		parts = append(parts, quote+fields[i].name+quote+" "+typeOf(&fields[i]))
	}
	return strings.Join(parts, ", ")
}

// ClickHouse returns the statement that creates a table for records.
func ClickHouse() string {
	var columns []string
	for _, f := range schemaKeys {
		columns = append(columns, fmt.Sprintf("  `%s` %s COMMENT '%s'", f.name, f.click(), strings.ReplaceAll(f.about, "'", "''")))
	}
	return "-- a2sscan cat census.ndjson.zst | clickhouse-client --date_time_input_format best_effort \\\n" +
		"--   --query 'INSERT INTO census FORMAT JSONEachRow'\nCREATE TABLE census\n(\n" +
		strings.Join(columns, ",\n") + "\n)\nENGINE = MergeTree\nORDER BY tuple();\n"
}

func (f *field) click() string {
	t := types[f.is].click
	switch {
	case f.is == typeObject:
		t = "Tuple(" + columns(f.fields, "`", (*field).click) + ")"
	case f.is != typeMap && f.lists == 0 && (f.present != always || f.is == typeFloat32):
		t = "Nullable(" + t + ")"
	}
	return strings.Repeat("Array(", int(f.lists)) + t + strings.Repeat(")", int(f.lists))
}
