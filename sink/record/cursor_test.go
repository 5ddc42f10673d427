package record

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// walk decodes a value with a Cursor, as encoding/json would.
func walk(c *Cursor) any {
	switch c.peek() {
	case '{':
		all := map[string]any{}
		for c.Enter(); c.Next(); {
			key := string(AppendUnescaped(nil, c.Key()))
			all[key] = walk(c)
		}
		return all
	case '[':
		all := []any{}
		for c.Enter(); c.Next(); {
			all = append(all, walk(c))
		}
		return all
	case '"':
		return string(c.AppendText(nil))
	}
	switch raw := string(c.Raw()); raw {
	case "true", "false":
		return raw == "true"
	case "null":
		return nil
	default:
		return json.Number(raw)
	}
}

func walkLine(line string) (any, error) {
	c := NewCursor([]byte(line))
	all := map[string]any{}
	for c.Next() {
		key := string(AppendUnescaped(nil, c.Key()))
		all[key] = walk(c)
	}
	return all, c.Err()
}

// walkQuickly decodes an object like walk, but first tries NextPair, NextIs with
// each of names, and Plain.
func walkQuickly(c *Cursor, names ...string) map[string]any {
	all := map[string]any{}
	for {
		if pair, size := c.NextPair(); pair != nil {
			all[string(pair[:size])] = string(pair[size+len(Between):])
			continue
		}
		if !slices.ContainsFunc(names, c.NextIs) && !c.Next() {
			return all
		}
		key := string(AppendUnescaped(nil, c.Key()))
		if text := c.Plain(); text != nil {
			all[key] = string(text)
		} else if c.First() == '{' && c.Enter() {
			all[key] = walkQuickly(c, names...)
		} else {
			all[key] = walk(c)
		}
	}
}

var cursorLines = []string{
	`{}`, ` { } `, `{"a":1}`, "{\"a\" : 1 ,\t\"b\":[ ] , \"c\" : { } }",
	`{"a":"","b":"\\","c":"\"","d":"\\\"","e":"x\\\\","f":"}{][,:"}`,
	`{"schema":1,"players":[{"index":0,"name":"a\"]}","score":-3,"duration":1.5},{"name":"","x":null}],"raw":["QUJD","` +
		strings.Repeat("A", 100) + `"],"last":true}`,
	`{"players":[],"rules_raw":[],"x":[{"a":1}],"y":[["",""]],"z":1}`,
	`{"players":[{"name":"}],"},{"name":"]],\"x"}],"rules_raw":[["5d5d","2c22"]],"x":1}`,
	`{"players":[{"name":"a"}]}`, `{"players":[{"name":"}],\"a"}],"b":1}`,
	`{"a":[[["73","3a"],["",""]],[]],"b":{"c":{"d":{"e":false}}}}`,
	`{"esc":"\u0041\u00e9\ud83d\ude00\ud83d\b\f\n\r\t\/","k\u0031":"é😀"}`,
	`{"long":"` + strings.Repeat("x", 31) + `\"` + strings.Repeat(`\\`, 40) + `"}`,
	`{"n":18446744073709551615,"m":-0.5e3,"o":0}`,
	`{"a": 1,"b":  "x","c":"y"}`,
	`{"a":{"b":"1","long key of a pair":"long value of a pair","esc\\":"x","b\"":"\"","x":"\\","c":null,"":""},"b":"x","c":{"a":"1"},"ab":{"a":[]}}`,
}

func TestCursor(t *testing.T) {
	for _, line := range cursorLines {
		got, err := walkLine(line)
		want, bad := decodeExactly([]byte(line))
		if bad != nil {
			t.Fatalf("%s: %v", line, bad)
		}
		if err != nil || !reflect.DeepEqual(got, any(want)) {
			t.Errorf("%s:\n%v, %v, want\n%v", line, got, err, want)
		}
		c := NewCursor([]byte(line))
		if got := walkQuickly(c, `"a":`, `"b":`, `"players":`, `"n":`); c.Err() != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("quickly, %s:\n%v, %v, want\n%v", line, got, c.Err(), want)
		}
	}
}

// TestCursorPasses: Next skips values that were not read.
func TestCursorPasses(t *testing.T) {
	for _, line := range cursorLines {
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		c, n := NewCursor([]byte(line)), 0
		for c.Next() {
			n++
			if n%2 == 0 {
				continue
			}
			key := string(AppendUnescaped(nil, c.Key()))
			if got := string(c.Raw()); got != string(want[key]) {
				t.Errorf("%s: %s is %s, want %s", line, key, got, want[key])
			}
		}
		if err := c.Err(); err != nil || n != len(want) {
			t.Errorf("%s: %d members, %v", line, n, err)
		}
	}
}

// TestCursorRefuses: Err returns an error for a line that is not a complete JSON
// object.
func TestCursorRefuses(t *testing.T) {
	lines := []string{``, ` `, `1`, `null`, `[]`, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":1,`,
		`{"a":1]`, `{"a":1}}`, `{"a":1}{`, `{"a" 1}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":"x\"}`, `{"a":[1}`, `{,"a":1}`}
	for _, line := range lines {
		c := NewCursor([]byte(line))
		for c.Next() {
		}
		if c.Err() == nil {
			t.Errorf("%q is accepted", line)
		}
		if c.Reset([]byte(line)); walkQuickly(c, `"a":`) != nil && c.Err() == nil {
			t.Errorf("%q is accepted quickly", line)
		}
	}
}

// TestCursorInList: NextPair and NextIs find no members in a list.
func TestCursorInList(t *testing.T) {
	c := NewCursor([]byte(`{"x":["a":"b"]}`))
	c.Next()
	c.Enter()
	if pair, _ := c.NextPair(); pair != nil || c.NextIs(`"a":`) {
		t.Errorf("%s is a member of a list", pair)
	}
}

func TestCursorValues(t *testing.T) {
	c := NewCursor([]byte(`{"a":17,"b":"17","c":-1,"d":1.5,"e":18446744073709551615,"f":18446744073709551616,"g":2.25,"h":true,"i":"x\ny"}`))
	uint := func() uint64 { c.Next(); return c.Uint() }
	if a, b, n, d, e, f := uint(), uint(), uint(), uint(), uint(), uint(); a != 17 || b != 0 || n != 0 || d != 0 || e != 1<<64-1 || f != 0 {
		t.Errorf("%d %d %d %d %d %d", a, b, n, d, e, f)
	}
	if c.Next(); c.Float() != 2.25 {
		t.Error("not 2.25")
	}
	if c.Next(); !c.Bool() {
		t.Error("not true")
	}
	if c.Next(); string(c.Quoted()) != `x\ny` {
		t.Error("not the quoted text")
	}
	if c.Next() || c.Err() != nil {
		t.Error(c.Err())
	}
}

// FuzzCursor compares a Cursor with encoding/json if the line is UTF-8:
// encoding/json replaces other bytes. With any line, the Cursor must not panic.
func FuzzCursor(f *testing.F) {
	for _, line := range cursorLines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for c := NewCursor([]byte(line)); c.Next(); {
			c.AppendText(nil)
		}
		c := NewCursor([]byte(line))
		quick := walkQuickly(c, `"a":`, `"b":`)
		got, err := walkLine(line)
		want, bad := decodeExactly([]byte(line))
		if bad != nil || want == nil || !json.Valid([]byte(line)) || !utf8.ValidString(line) {
			return
		}
		if err == nil && !sameJSON(got, any(want)) {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
		if c.Err() == nil && !sameJSON(quick, any(want)) {
			t.Errorf("%q: quickly %v, want %v", line, quick, want)
		}
	})
}

// sameJSON reports whether two decoded values have the same JSON.
func sameJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
