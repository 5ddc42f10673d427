package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validator returns the compiled JSON Schema that JSONSchema prints.
var validator = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.AssertContent()
	if err := c.AddResource("record.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("record.json")
})

// validate checks a record against the JSON Schema.
func validate(line []byte) error {
	schema, err := validator()
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// checkRecord fails the test if line is not a record: it checks the form, the keys,
// their order and types, and that no dangerous character is unescaped.
func checkRecord(t *testing.T, line []byte) {
	t.Helper()
	body, ok := bytes.CutSuffix(line, []byte("\n"))
	switch {
	case !ok || bytes.ContainsRune(body, '\n'):
		t.Errorf("not one line: %.200q", line)
	case len(line) > MaxSize:
		t.Errorf("%d bytes long", len(line))
	case !utf8.Valid(body):
		t.Errorf("not UTF-8: %.200q", line)
	case bytes.ContainsFunc(body, dangerous):
		t.Errorf("raw control: %.200q", line)
	case !jsontext.Value(body).IsValid(): // with a key twice, too
		t.Errorf("not JSON: %.200q", line)
	default:
		if err := readStrict(body); err != nil {
			t.Errorf("%v: %.200s", err, line)
		}
		if err := validate(body); err != nil {
			t.Errorf("the JSON Schema: %v: %.200s", err, line)
		}
	}
}

// unhex decodes the hexadecimal digits of a KEY_hex or of rules_raw.
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	check(t, err)
	return b
}

// TestTableIsWhole: every key of schemaKeys has an explanation there, has a type in JSON
// Schema, DuckDB and ClickHouse, and occurs in a record of this test.
func TestTableIsWhole(t *testing.T) {
	var all []byte
	for _, g := range golden {
		all = Append(all, g.scan, g.result)
	}
	all = (&Encoder{Key: new(NameKey)}).Append(all, "", named("Gordon"))
	eachField(schemaKeys, func(f *field) {
		if f.about == "" {
			t.Errorf("%s is not explained", f.name)
		}
		if !bytes.Contains(all, []byte(`"`+f.name+`":`)) {
			t.Errorf("no golden record has %s", f.name)
		}
		if f.is != typeObject && (f.duck() == "" || f.click() == "" || f.schema(0) == "") {
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
	if !strings.Contains(click, "server''s line of the list") {
		t.Error("a comment's quote is not doubled")
	}
}

// readStrict reads a line as a strict Reader does.
func readStrict(line []byte) error {
	_, err := NewReader().Strict().Read(line)
	return err
}

// TestCheck: the error of a strict Reader names the wrong key and describes its fault, and
// the JSON Schema finds it too.
func TestCheck(t *testing.T) {
	good := string(Append(nil, "s", golden[0].result))
	tests := []struct{ old, new, want string }{
		{"", "", ""},
		{`"status":"ok"`, `"status":"fine"`, `status: "fine" is not an allowed word`},
		{`"port":27015,"addr"`, `"port":65536,"addr"`, "port: 65536 is not of type integer from 0 to 65535"},
		{`"port":27015,"addr"`, `"port":1.5,"addr"`, "port: 1.5 is not of type integer"},
		{`"port":27015,"addr"`, `"port":2.7015e4,"addr"`, ""},
		{`"port":27015,"addr"`, `"port":"27015","addr"`, `port: "27015" is not of type integer`},
		{`"schema":1`, `"schema":2`, "has records of schema 2"},
		{`"schema":1,`, ``, "schema is missing"},
		{`"vac":true`, `"vac":1`, "info.vac: 1 is not of type boolean"},
		{`"duration":-1`, `"duration":"-1"`, `players.duration: "-1" is not of type number or null`},
		{`"duration":-1`, `"duration":null`, ""},
		{`"index":1,`, ``, "players: index is missing"},
		{`"sourcetv":{"port":27020`, `"sourcetv":{"port":-1`, "info.sourcetv.port: -1 is not"},
		{`"name":"Zo`, `"name":7,"x":"Zo`, "players.name: 7 is not of type string"},
		{`"tf_arena":""`, `"tf_arena":1`, `rules: "tf_arena": 1 is not of type string`},
		{`"tag":`, `"port":1,"tag":`, "port: occurs twice"},
		{`"tag":`, `"new_key":{"a":[1]},"tag":`, ""},
		{`"status":"ok"`, `"st\u0061tus":"fine"`, "status: "},
		{`"status":"ok"`, `"status":"\u006fk"`, ""},
		{`"2026-11-20T03:00:01.123Z"`, `"2026-11-20 03:00:01"`, "time: "},
		{`"steam_id":"9`, `"steam_id":"09`, "info.steam_id: "},
		{`"took_ms":4523.1`, `"took_ms":-1`, "took_ms: "},
		{`"took_ms":4523.1`, `"took_ms":9223372036854`, ""},
		{`"took_ms":4523.1`, `"took_ms":1e13`, "took_ms: 1e13 is not of type number from 0 to 9223372036854"},
		{`"raw":["`, `"raw":["?`, "raw: "},
		{`"raw":["`, `"raw":[7,"`, "raw: "},
		{`"raw":[`, `"raw":7,"x":[`, "raw: 7 is not of type array"},
		{`"info":{`, `"info":[],"x":{`, "info: [] is not of type object"},
		{`"rules":{`, `"rules":[],"x":{`, "rules: [] is not of type object"},
		{`"master":{`, `"master":[],"x":{`, "master: [] is not of type object"},
		{`"addr":"203`, `"addr":"x203`, "addr: "},
		{`"addr":"203.0.113.7:27015"`, `"addr":""`, `addr: "" does not have an allowed form`},
		{`"notes":["`, `"notes":["","`, `notes: "" does not have an allowed form`},
		{`"server_type":"dedicated"`, `"server_type":""`, `info.server_type: "" does not have an allowed form`},
		{`"players":"0123456789abcdef"`, `"players":"1"`, "hashes.players: "},
		{`"rtts_ms":{"info":23.412`, `"rtts_ms":{"info":-1`, "rtts_ms.info: "},
		{`"game":{"id":"tf2"`, `"game":{"id":"TF2"`, "game.id: "},
		{`"queue":12`, `"queue":-12`, "game.queue: "},
		{`"started":"2026-11-05T17:33:20Z"`, `"started":"yesterday"`, "game.started: "},
		{`"time_limit":"30"`, `"time_limit":30`, `game.attributes: "time_limit": 30 is not of type string`},
		{`"flags":["count_mismatch"`, `"flags":["fake"`, `flags: "fake" is not an allowed word`},
		{"}\n", "\n", "is not JSON"},
	}
	for _, tt := range tests {
		line := strings.Replace(good, tt.old, tt.new, 1)
		if tt.old != "" && line == good {
			t.Errorf("%s is not in %s", tt.old, good)
		}
		err := readStrict([]byte(line))
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s for %s: %v, want %s", tt.new, tt.old, err, tt.want)
		}
		if bySchema := validate([]byte(line)); (bySchema != nil) != (err != nil) && tt.want != "port: occurs twice" {
			t.Errorf("%s for %s: %v, and by the JSON Schema %v", tt.new, tt.old, err, bySchema)
		}
	}
}

// FuzzCheck: a strict Reader and the JSON Schema agree about every line in which no key
// occurs twice, except for addresses, times and IDs, which no pattern describes exactly. If a
// key occurs twice, the Reader accepts no line that the JSON Schema rejects.
func FuzzCheck(f *testing.F) {
	for _, g := range golden {
		f.Add(Append(nil, g.scan, g.result))
	}
	f.Add([]byte(`{"schema":1,"rtt_ms":1e400,"raw":["a"],"port":1e2,"master":{"a":{}},"notes":["a.b"],"rules_raw":[["00","0"]]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if (readStrict(line) == nil) && (err != nil || validate(line) != nil) {
			t.Errorf("it is no record: %s", line)
		}
		if err != nil {
			return
		}
		if line, err = json.Marshal(v); err != nil { // each key once
			t.Fatal(err)
		}
		got, want := readStrict(line), validate(line)
		exact := got == nil || !strings.HasSuffix(got.Error(), "type address") && !strings.HasSuffix(got.Error(), "type time") &&
			!strings.HasSuffix(got.Error(), "64-bit number in a string")
		if (got == nil) != (want == nil) && exact {
			t.Errorf("%v, and by the JSON Schema %v: %s", got, want, line)
		}
	})
}
