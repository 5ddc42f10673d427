package record

import (
	"bytes"
	"encoding/hex"
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
