package record

import (
	"bytes"
	"strings"
	"testing"
)

// TestTableIsWhole: every key of schemaKeys has an explanation there, has a type in JSON
// Schema, DuckDB and ClickHouse, and occurs in a record of this test.
func TestTableIsWhole(t *testing.T) {
	var all []byte
	for _, g := range golden {
		all = Append(all, g.scan, g.result)
	}
	all = (&Encoder{Names: NewNameHasher(new(NameKey))}).Append(all, "", named("Gordon"))
	eachField(schemaKeys, func(f *field) {
		if f.about == "" {
			t.Errorf("%s is not explained", f.name)
		}
		if !bytes.Contains(all, []byte(`"`+f.name+`":`)) {
			t.Errorf("no golden record has %s", f.name)
		}
		if f.is != ColumnObject && (f.duck() == "" || f.click() == "" || f.schema(0) == "") {
			t.Errorf("%s has no type", f.name)
		}
	})
}

// eachField calls do for every field and, after it, for the fields inside it.
func eachField(fields []field, do func(f *field)) {
	for i := range fields {
		do(&fields[i])
		eachField(fields[i].fields, do)
	}
}

func TestStatements(t *testing.T) {
	duck, click := DuckDB("it's.ndjson"), ClickHouse()
	for text, statement := range map[string]string{
		"FROM read_json('it''s.ndjson', format = 'newline_delimited', columns = {\n  \"schema\": 'UTINYINT',\n": duck,
		`  "rules": 'MAP(VARCHAR,VARCHAR)',` + "\n":                                                             duck,
		`  "rules_raw": 'VARCHAR[][]',` + "\n  \"game\": 'STRUCT(\"id\" VARCHAR, ":                              duck,
		`  "flags": 'VARCHAR[]',` + "\n  \"raw\": 'VARCHAR[]',\n  \"geo\": 'STRUCT(\"continent\" VARCHAR, ":     duck,
		"\"org_hex\" VARCHAR)',\n  \"master\": 'JSON'":                                                          duck,
		`"sourcetv" STRUCT("port" USMALLINT, "name" VARCHAR, "name_hex" VARCHAR)`:                               duck,
		`  "players": 'STRUCT("index" UTINYINT, "name" VARCHAR, `:                                               duck,
		"  `schema` UInt8 COMMENT '":                                                                            click,
		"  `master` Nullable(String) COMMENT '":                                                                 click,
		"  `rules` Map(String,String) COMMENT '":                                                                click,
		"  `players` Array(Tuple(`index` UInt8, `name` Nullable(String), `name_hex` Nullable(String)":           click,
	} {
		if !strings.Contains(statement, text) {
			t.Errorf("%q is not in %s", text, statement)
		}
	}
	if !strings.Contains(click, "server''s line in the list") {
		t.Error("a comment's quote is not doubled")
	}
}
