package record

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestMaster: Append rewrites a master's data, an object from a stranger, or drops
// it. The record stays one line of JSON whatever the data holds.
func TestMaster(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", ``, ``},
		{"empty", `{}`, `{}`},
		{"spaces", " {\t\"a\" : [ 1 , 2 ] ,\r\n\"b\":{ } , \"c\" : [ ] }\n", `{"a":[1,2],"b":{},"c":[]}`},
		{"values", `{"a":true,"b":false,"c":null,"d":-1.5e+3,"e":0,"f":0.10,"g":[{}]}`, ``},
		{"escapes", `{"a\"b":"\\\/\b\f\n\r\t\u0041\u202e"}`, `{"a\"b":"\\/\b\f\n\r\tA\u202e"}`},
		{"a pair", `{"a":"\ud83d\ude00"}`, `{"a":"😀"}`},
		{"half a pair", `{"a":"\ud83d","b":"\ude00\ud83dx\ud83d\ud83d"}`,
			`{"a":"` + "\ufffd" + `","b":"` + "\ufffd\ufffd" + "x" + "\ufffd\ufffd" + `"}`},
		{"what a terminal obeys", "{\"a\x7f\":\"\u0085\u202e\u2028é\"}", `{"a\u007f":"\u0085\u202e\u2028é"}`},
		{"not UTF-8", "{\"a\":\"\xff\xe2\x82x\"}", "{\"a\":\"\ufffd\ufffd\ufffdx\"}"},
		{"no object", `"a"`, `-`},
		{"a list", `[]`, `-`},
		{"two", `{}{}`, `-`},
		{"cut", `{"a":"b`, `-`},
		{"a bad escape", `{"a":"\x41"}`, `-`},
		{"a newline in a text", "{\"a\":\"\n\"}", `-`},
		{"no bracket", `{"a":[1}`, `-`},
		{"beyond a double", `{"a":1e999}`, `-`},
		{"as deep as may be", nested(maxMasterDepth), ``},
		{"deeper", nested(maxMasterDepth + 1), `-`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := full()
			r.Notes, r.Info.Notes, r.Master = 0, 0, tt.in
			got := Append(nil, "", r)
			checkRecord(t, got)
			want := tt.want
			if want == "" {
				want = tt.in
			}
			_, after, found := bytes.Cut(got, []byte(`,"master":`))
			dropped := bytes.Contains(got, []byte(`"master.dropped"`))
			switch {
			case want == "" || want == "-":
				if found || dropped != (want == "-") {
					t.Errorf("%s", got)
				}
			case string(after) != want+"}\n" || dropped:
				t.Errorf("%q, want %q", after, want)
			default:
				_, back, _ := Read(got)
				if back == nil || back.Master != want {
					t.Errorf("read back: %+v", back)
				}
			}
		})
	}
}

func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

// FuzzMaster: a rewritten object is JSON with the same value. A dropped string is
// not a JSON object, or is one that some parsers reject.
func FuzzMaster(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,-2.5e3,"\ud83d\ude00",true,null]}`, "{\"\xff\":\"\x7f\"}", `{"a":1e999}`, ` {} `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := new(Encoder).appendMaster([]byte(`"master":`), s)
		var in, out map[string]any
		err := json.Unmarshal([]byte(s), &in)
		if !ok {
			if err == nil && in != nil && strings.Count(s, "{")+strings.Count(s, "[") <= maxMasterDepth {
				t.Fatalf("%q is left out", s)
			}
			return
		}
		got = bytes.TrimSuffix(bytes.TrimPrefix(got, []byte(`"master":`)), []byte(","))
		if err != nil || json.Unmarshal(got, &out) != nil || bytes.ContainsAny(got, "\n\x7f") {
			t.Fatalf("%q became %q: %v", s, got, err)
		}
		// Package json replaces each byte that is not part of a character with
		// U+FFFD.
		if !strings.Contains(string(got), "\ufffd") && !reflect.DeepEqual(in, out) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
