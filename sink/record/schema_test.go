package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
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
		if err := inOrder(body, &field{is: ColumnObject, fields: schemaKeys}); err != nil {
			t.Errorf("%v: %.200s", err, line)
		}
		if err := check(body); err != nil {
			t.Errorf("%v: %.200s", err, line)
		}
		if err := validate(body); err != nil {
			t.Errorf("the JSON Schema: %v: %.200s", err, line)
		}
	}
}

// inOrder checks that an object has no other keys than its fields, in their order, and
// KEY_hex only after KEY.
func inOrder(value []byte, f *field) error {
	if f.is != ColumnObject {
		return nil
	}
	if f.lists > 0 {
		var all []json.RawMessage
		if err := json.Unmarshal(value, &all); err != nil {
			return err
		}
		for _, one := range all {
			if err := inOrder(one, &field{is: f.is, fields: f.fields}); err != nil {
				return err
			}
		}
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	if _, err := d.Token(); err != nil {
		return err
	}
	rest, last := f.fields, ""
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rest, func(f field) bool { return f.name == name })
		if i < 0 {
			return fmt.Errorf("key %q is unknown, or too late after %q", name, last)
		}
		if base, ok := strings.CutSuffix(rest[i].name, "_hex"); ok && base != last {
			return fmt.Errorf("key %q after %q", name, last)
		}
		var inner json.RawMessage
		if err := d.Decode(&inner); err != nil {
			return err
		}
		if err := inOrder(inner, &rest[i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		last, rest = rest[i].name, rest[i+1:]
	}
	return nil
}

// TestInOrder: inOrder, which checkRecord uses, finds faults.
func TestInOrder(t *testing.T) {
	for _, bad := range []string{
		`{"schema":1,"unknown":1}`,
		`{"schema":1,"port":1,"ip":"127.0.0.1"}`,
		`{"schema":1,"tag_hex":"00"}`,
		`{"schema":1,"players":[{"name":"x","index":0}]}`,
	} {
		if inOrder([]byte(bad), &field{is: ColumnObject, fields: schemaKeys}) == nil {
			t.Errorf("%s passes", bad)
		}
	}
}

// unhex decodes the hexadecimal digits of a KEY_hex or of rules_raw.
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
