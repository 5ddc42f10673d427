package record

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

func in(g scanner.Geo) func(netip.Addr) scanner.Geo {
	return func(netip.Addr) scanner.Geo { return g }
}

// located returns the record in line with the location that where returns.
func located(dst, line []byte, where func(netip.Addr) scanner.Geo) ([]byte, error) {
	rec, err := NewReader().Read(line)
	if err != nil {
		return dst, err
	}
	return rec.Locate(dst, where), nil
}

// TestLocate: Locate returns the record that Append would have written with that
// location.
func TestLocate(t *testing.T) {
	for _, g := range golden {
		for _, before := range []scanner.Geo{{}, {Country: "US", City: "}\","}} {
			for _, then := range []scanner.Geo{{}, {Country: "DE", Org: "\x1b"}} {
				r := *g.result
				r.Geo = before
				line := bytes.TrimSpace(Append(nil, g.scan, &r))
				if r.Addr.IsValid() {
					r.Geo = then
				}
				want := bytes.TrimSpace(Append(nil, g.scan, &r))
				got, err := located(nil, line, func(addr netip.Addr) scanner.Geo {
					if addr != r.Addr.Addr() {
						t.Errorf("%s: asked for %v", g.name, addr)
					}
					return then
				})
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %v\n%s\n%s", g.name, err, got, want)
				}
			}
		}
	}
}

// TestLocateOthers: Locate does not change unknown keys and unusual spacing. A line that is not
// a record has an error.
func TestLocateOthers(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{ "schema" : 1 , "ip" : "127.0.0.1" , "later" : [ "]" , { } ] }`,
			`{ "schema" : 1 , "ip" : "127.0.0.1" , "later" : [ "]" , { } ],"geo":{"country":"DE"} }`},
		{`{"schema":1,"ip":"127.0.0.1","geo" : {"a\"}":{}} , "x":-1.5e3}`,
			`{"schema":1,"ip":"127.0.0.1","geo":{"country":"DE"} , "x":-1.5e3}`},
		{`{"schema":1,"ip":"127.0.0.1","master":{"geo":1}}`,
			`{"schema":1,"ip":"127.0.0.1","geo":{"country":"DE"},"master":{"geo":1}}`},
		{`{"schema":1,"info":{"ip":"127.0.0.1"}}`, `{"schema":1,"info":{"ip":"127.0.0.1"}}`},
		{`{"schema":1,"ip":null,"geo":{}}`, ``},
		{`{"schema":1,"ip":"","x":true}`, ``},
		{`{"ip":"127.0.0.1","schema":1}`, `{"ip":"127.0.0.1","schema":1,"geo":{"country":"DE"}}`},
		{`{"master":{},"ip":"127.0.0.1","schema":1}`, `{"geo":{"country":"DE"},"master":{},"ip":"127.0.0.1","schema":1}`},
		{`{"geo":{},"ip":"127.0.0.1","schema":1}`, `{"geo":{"country":"DE"},"ip":"127.0.0.1","schema":1}`},
		{`{"schema":1,"ip":"127.0.0.1"`, ``},
		{`["schema"]`, ``},
		{`{}`, ``},
		{``, ``},
	}
	for _, tt := range tests {
		got, err := located([]byte("before "), []byte(tt.in), in(scanner.Geo{Country: "DE"}))
		if string(got) != "before "+tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s became %s, %v", tt.in, got, err)
		}
	}
}

// TestLocateLong: Locate adds no location that would make a record longer than
// MaxSize.
func TestLocateLong(t *testing.T) {
	line := []byte(`{"schema":1,"ip":"127.0.0.1","tag":"` + strings.Repeat("x", MaxSize-60) + `"}`)
	short, err := located(nil, line, in(scanner.Geo{ASN: 1}))
	if err != nil || len(short) != len(line)+len(`,"geo":{"asn":1}`) {
		t.Errorf("%d bytes became %d, %v", len(line), len(short), err)
	}
	long, err := located(nil, line, in(scanner.Geo{Org: "a name that is too long for it"}))
	if err != nil || !bytes.Equal(long, line) {
		t.Errorf("%d bytes became %d, %v", len(line), len(long), err)
	}
}

// FuzzLocate: a record stays JSON, and only its geo changes.
func FuzzLocate(f *testing.F) {
	for _, g := range golden {
		f.Add(bytes.TrimSpace(Append(nil, g.scan, g.result)))
	}
	f.Add([]byte(`{ "schema":1 ,"ip":"127.0.0.1","geo":{"a":"\\\""},"x":[1,{"y":"]"}], "z" : null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := located(nil, line, in(scanner.Geo{Country: "DE"}))
		if err != nil {
			return
		}
		var before, after map[string]any
		if json.Unmarshal(line, &before) != nil || json.Unmarshal(got, &after) != nil {
			t.Fatalf("%s became %s", line, got)
		}
		delete(before, "geo")
		delete(after, "geo")
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s became %s", line, got)
		}
	})
}
