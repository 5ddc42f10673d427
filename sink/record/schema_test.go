package record

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A kind reads a value and checks its type and form.
type kind func(d *walker) error

type key struct {
	name string
	is   kind
}

// keysOf returns the key of each field, with its kind, in the order of fields.
func keysOf(fields []field) (keys []key) {
	for _, f := range fields {
		keys = append(keys, key{f.name, f.kind()})
	}
	return keys
}

// kind returns the kind of a field's values.
func (f *field) kind() kind {
	is := kinds[f.is]
	switch {
	case f.is == ColumnObject:
		is = objectOf(keysOf(f.fields))
	case f.pattern != "":
		is = matching(`"` + strings.Trim(f.pattern, "^$") + `"`)
	case f.words != nil:
		is = matching(`"(` + strings.Join(f.words, "|") + `)"`)
	}
	for range f.lists {
		is = list(is)
	}
	return is
}

var (
	unsigned = matching(`\d+`)
	signed   = matching(`-?\d+`)
	anyText  = quoted(func(string) bool { return true })
	hexText  = quoted(func(s string) bool {
		return len(s)%2 == 0 && strings.Trim(s, "0123456789abcdef") == ""
	})
	anyObject = func(w *walker) error {
		v, err := w.value()
		if err == nil && v[0] != '{' {
			err = fmt.Errorf("no object: %.40s", v)
		}
		return err
	}
	base64Text = quoted(func(s string) bool {
		_, err := base64.StdEncoding.DecodeString(s)
		return err == nil
	})
)

// kinds are the kinds of the simple types.
var kinds = [numTypes]kind{
	ColumnText:    anyText,
	typeWord:      anyText,
	typeHex:       hexText,
	typeBase64:    base64Text,
	ColumnID:      matching(`"\d+"`),
	ColumnMillis:  matching(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`),
	ColumnSeconds: matching(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`),
	ColumnFloat64: matching(`\d+(\.\d{0,2}[1-9])?`),
	ColumnFloat32: matching(`null|-?\d+(\.\d+)?(e[-+]\d+)?`),
	ColumnBool:    matching(`true|false`),
	ColumnUint8:   unsigned,
	ColumnUint16:  unsigned,
	ColumnUint32:  unsigned,
	ColumnUint64:  unsigned,
	ColumnInt32:   signed,
	ColumnMap:     pairs,
	ColumnJSON:    anyObject,
}

var recordKind = objectOf(keysOf(schemaKeys))

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
	case !json.Valid(body):
		t.Errorf("not JSON: %.200q", line)
	default:
		w := &walker{json.NewDecoder(bytes.NewReader(body))}
		if err := recordKind(w); err != nil {
			t.Errorf("%v: %.200s", err, line)
		}
		if err := validate(body); err != nil {
			t.Errorf("the JSON Schema: %v: %.200s", err, line)
		}
	}
}

// walker reads a record in the order in which it is written.
type walker struct{ *json.Decoder }

// value returns the next value as it is written.
func (w *walker) value() (v json.RawMessage, err error) {
	err = w.Decode(&v)
	return v, err
}

// matching returns the kind of values whose JSON matches expr.
func matching(expr string) kind {
	re := regexp.MustCompile(`^(` + expr + `)$`)
	return func(w *walker) error {
		v, err := w.value()
		if err == nil && !re.Match(v) {
			err = fmt.Errorf("%.100s is no %s", v, expr)
		}
		return err
	}
}

// quoted returns the kind of strings that good accepts. It needs no regular
// expression, because strings may be too long for one.
func quoted(good func(string) bool) kind {
	return func(w *walker) error {
		v, err := w.value()
		if err == nil && (v[0] != '"' || !good(string(v[1:len(v)-1]))) {
			err = fmt.Errorf("%.100s is not such a string", v)
		}
		return err
	}
}

// inside reads an object or list, and calls member for each member or element.
func (w *walker) inside(open json.Delim, member func() error) error {
	if t, err := w.Token(); err != nil || t != open {
		return fmt.Errorf("%v instead of %v: %w", t, open, err)
	}
	for w.More() {
		if err := member(); err != nil {
			return err
		}
	}
	_, err := w.Token()
	return err
}

// objectOf returns the kind of objects whose keys are among keys, in the same
// order.
func objectOf(keys []key) kind {
	return func(w *walker) error {
		rest, last := keys, ""
		return w.inside('{', func() error {
			t, err := w.Token()
			if err != nil {
				return err
			}
			name := t.(string)
			i := slices.IndexFunc(rest, func(k key) bool { return k.name == name })
			if i < 0 {
				return fmt.Errorf("key %q is unknown, or stands too late after %q", name, last)
			}
			if base, ok := strings.CutSuffix(name, "_hex"); ok && base != last {
				return fmt.Errorf("key %q after %q", name, last)
			}
			is := rest[i].is
			rest, last = rest[i+1:], name
			if err := is(w); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
}

func list(is kind) kind {
	return func(w *walker) error {
		return w.inside('[', func() error { return is(w) })
	}
}

// pairs is the kind of objects of strings with any keys, each only once.
func pairs(w *walker) error {
	seen := map[string]bool{}
	return w.inside('{', func() error {
		t, err := w.Token()
		if err != nil {
			return err
		}
		if name := t.(string); seen[name] {
			return fmt.Errorf("%q twice", name)
		} else {
			seen[name] = true
		}
		return anyText(w)
	})
}

// TestSchema checks that recordKind, which checkRecord uses, finds faults.
func TestSchema(t *testing.T) {
	for _, bad := range []string{
		`{"schema":1,"unknown":1}`,
		`{"schema":1,"port":1,"ip":"127.0.0.1"}`,
		`{"schema":1,"port":"1"}`,
		`{"schema":1,"tag_hex":"00"}`,
		`{"schema":1,"tag":"x","tag_hex":"0G"}`,
		`{"schema":1,"rules":{"a":"1","a":"2"}}`,
		`{"schema":1,"rtt_ms":1.10}`,
		`{"schema":1,"info":{"name":1}}`,
		`{"schema":1,"players":[{"name":"x","index":0}]}`,
	} {
		w := &walker{json.NewDecoder(strings.NewReader(bad))}
		if err := recordKind(w); err == nil || err == io.EOF {
			t.Errorf("%s passes: %v", bad, err)
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
