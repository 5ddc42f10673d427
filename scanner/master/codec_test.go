package master_test

import (
	"bytes"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner/master"
	"github.com/a2sscan/a2sscan/wire"
)

func addr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// TestRequest checks that requests are encoded as the expected bytes, and that
// these bytes are decoded to the same requests.
func TestRequest(t *testing.T) {
	tests := []struct {
		name string
		q    master.Request
		want string
	}{
		{"the first page, everything", master.Request{Region: master.World, Seed: addr("0.0.0.0:0")},
			"\x31\xFF0.0.0.0:0\x00\x00"},
		{"the next page", master.Request{Region: master.World, Seed: addr("203.0.113.7:27015")},
			"\x31\xFF203.0.113.7:27015\x00\x00"},
		{"europe with a filter", master.Request{Region: 3, Seed: addr("0.0.0.0:0"), Filter: `\appid\440`},
			"\x31\x030.0.0.0:0\x00\\appid\\440\x00"},
		{"us east", master.Request{Region: 0, Seed: addr("255.255.255.255:65535")},
			"\x31\x00255.255.255.255:65535\x00\x00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.q.Append([]byte("before"))
			if string(got) != "before"+test.want {
				t.Errorf("% x, want % x", got, test.want)
			}
			var q master.Request
			check(t, q.Decode([]byte(test.want)))
			if q.Region != test.q.Region || q.Seed != test.q.Seed || q.Filter != test.q.Filter {
				t.Errorf("%+v, want %+v", q, test.q)
			}
		})
	}
	if got := (&master.Request{Seed: addr("[::1]:5"), Filter: "a\x00b"}).Append(nil); string(got) != "\x31\x000.0.0.0:0\x00a\x00" {
		t.Errorf("%q", got)
	}
}

func TestRequestBad(t *testing.T) {
	tests := []struct {
		datagram string
		want     wire.Error
	}{
		{"", wire.ErrEmpty},
		{"\x30\xFF0.0.0.0:0\x00\x00", wire.ErrUnexpected},
		{"\xFF\xFF\xFF\xFFT", wire.ErrUnexpected},
		{"\x31", wire.ErrTruncated},
		{"\x31\xFF0.0.0.0:0", wire.ErrTruncated},
		{"\x31\xFF0.0.0.0:0\x00\\map", wire.ErrTruncated},
		{"\x31\xFF\x00\x00", wire.ErrMalformed},
		{"\x31\xFF0.0.0.0:0\x00\x00more", wire.ErrMalformed},
		{"\x31\xFF0.0.0.0\x00\x00", wire.ErrMalformed},
		{"\x31\xFF0.0.0.1:65536\x00\x00", wire.ErrMalformed},
		{"\x31\xFF[::1]:1\x00\x00", wire.ErrMalformed},
	}
	for _, test := range tests {
		q := master.Request{Region: 5, Filter: "x"}
		if err := q.Decode([]byte(test.datagram)); err != test.want {
			t.Errorf("%q: %v, want %v", test.datagram, err, test.want)
		}
		if q.Region != 0 || q.Filter != "" {
			t.Errorf("%q: %+v is left from an earlier request", test.datagram, q)
		}
	}
}

const header = "\xFF\xFF\xFF\xFF\x66\x0A"

// TestPage checks that replies are decoded: the port is in network byte order, and
// 0.0.0.0:0 ends the list.
func TestPage(t *testing.T) {
	const a, b = "\xCB\x00\x71\x07\x69\x87", "\x01\x02\x03\x04\x00\x50"
	tests := []struct {
		name     string
		datagram string
		err      error
		want     string
		end, cut bool
	}{
		{name: "two addresses and the end", datagram: header + a + b + "\x00\x00\x00\x00\x00\x00",
			want: "203.0.113.7:27015 1.2.3.4:80", end: true},
		{name: "no end", datagram: header + a, want: "203.0.113.7:27015"},
		{name: "nothing", datagram: header},
		{name: "the end alone", datagram: header + "\x00\x00\x00\x00\x00\x00", end: true},
		{name: "more behind the end", datagram: header + "\x00\x00\x00\x00\x00\x00" + a, end: true},
		{name: "cut in an address", datagram: header + a + b[:5], want: "203.0.113.7:27015", cut: true},
		{name: "cut in the end", datagram: header + a + "\x00", want: "203.0.113.7:27015", cut: true},
		{name: "no address, but a port", datagram: header + "\x00\x00\x00\x00\x69\x87", want: "0.0.0.0:27015"},
		{name: "no port", datagram: header + "\x01\x02\x03\x04\x00\x00", want: "1.2.3.4:0"},
		{name: "empty", datagram: "", err: wire.ErrEmpty},
		{name: "cut in the header", datagram: header[:5], err: wire.ErrTruncated},
		{name: "another message", datagram: "\xFF\xFF\xFF\xFFI\x11", err: wire.ErrUnexpected},
		{name: "another second byte", datagram: "\xFF\xFF\xFF\xFFf\x0B" + a, err: wire.ErrUnexpected},
		{name: "no message", datagram: "hello there", err: wire.ErrMalformed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var p master.Page
			if err := p.Decode([]byte(test.datagram)); err != test.err {
				t.Fatalf("%v, want %v", err, test.err)
			}
			var got []string
			for _, a := range p.Addrs {
				got = append(got, a.String())
			}
			if strings.Join(got, " ") != test.want || p.End != test.end || p.Cut != test.cut {
				t.Errorf("%q, end %v, cut %v", got, p.End, p.Cut)
			}
		})
	}
}

// The fuzzers check that decoding, encoding and decoding again gives the same
// result.

func FuzzPage(f *testing.F) {
	f.Add([]byte(header + "\xCB\x00\x71\x07\x69\x87\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(header + "\xCB\x00\x71\x07"))
	f.Add([]byte("\xFF\xFF"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p, again master.Page
		if p.Decode(b) != nil {
			return
		}
		err := again.Decode(p.Append(nil))
		if err != nil || p.End != again.End || !slices.Equal(p.Addrs, again.Addrs) {
			t.Errorf("%+v, then %+v, %v", p, again, err)
		}
		if len(p.Addrs)*6 > len(b) {
			t.Errorf("%d addresses in %d bytes", len(p.Addrs), len(b))
		}
	})
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte("\x31\xFF0.0.0.0:0\x00\x00"))
	f.Add([]byte("\x31\x03203.0.113.7:27015\x00\\appid\\440\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var q, again master.Request
		if q.Decode(b) != nil {
			return
		}
		if got := q.Append(nil); !bytes.Equal(got, b) {
			t.Errorf("%q became %q", b, got)
		}
		if err := again.Decode(q.Append(nil)); err != nil || !reflect.DeepEqual(q, again) {
			t.Errorf("%+v, then %+v, %v", q, again, err)
		}
	})
}

func FuzzFilter(f *testing.F) {
	for _, text := range filterVectors {
		f.Add(text)
	}
	f.Add(`\nor\2\map\a`)
	f.Add(`\nor\18446744073709551615\map\a`)
	f.Add(strings.Repeat(`\nor\1`, 40) + `\map\a`)
	f.Fuzz(func(t *testing.T, s string) {
		first, err := master.ParseFilter(s)
		if err != nil {
			return
		}
		again, err := master.ParseFilter(first.String())
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("%q: %v, then %v, %v", s, first, again, err)
		}
	})
}

// filterVectors are filters as masters read them, written by hand from the protocol's
// documents.
var filterVectors = []string{
	``, `\appid\440`, `\appid\4294967295`, `\napp\730`, `\dedicated\1`, `\gamedir\cstrike`, `\map\cp_dustbowl`,
	`\map\Procedural Map`, `\password\0`, `\gametype\alltalk,nocrits`, `\name_match\[EU]*`, `\name_match\中国*`,
	`\version_match\1.0.*`, `\gameaddr\203.0.113.7:27015`, `\type\d`,
	`\dedicated\1\appid\440\empty\1\map\cp_dustbowl`,
	`\nor\1\map\de_dust2`, `\appid\240\nor\2\map\a\map\b\linux\1`, `\nand\3\noplayers\1\full\1\secure\1`,
	`\or\2\appid\440\appid\240`, `\nor\3\map\a\nand\2\noplayers\1\linux\1\map\b\appid\440`,
	`\nor\1\or\1\nand\2\appid\1\appid\2`, `\nor\2\gameaddr\1.2.3.4\gameaddr\1.2.3.5`, `\newfilter\a*b`,
}

func TestFilterVectors(t *testing.T) {
	for _, text := range filterVectors {
		f, err := master.ParseFilter(text)
		if err != nil || f.String() != text {
			t.Errorf("%s: %s, %v", text, f, err)
		}
	}
	got, err := master.ParseFilter(`\nor\3\map\a\nand\2\noplayers\1\linux\1\map\b\appid\440`)
	want := master.Filter{
		{Key: "nor", Group: []master.Condition{
			{Key: "map", Value: "a"},
			{Key: "nand", Group: []master.Condition{{Key: "noplayers", Value: "1"}, {Key: "linux", Value: "1"}}},
			{Key: "map", Value: "b"},
		}},
		{Key: "appid", Value: "440"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("a group in a group is one condition: %+v, %v", got, err)
	}
}

func TestParseFilterBad(t *testing.T) {
	tests := []struct{ raw, say string }{
		{`appid\440`, `must begin with \`},
		{`\appid`, `the key "appid" has no value`},
		{`\`, "no value"},
		{`\appid\440\map`, `the key "map" has no value`},
		{`\nor\2\map\a`, "the value of the group nor is 2, but the number of conditions after it is 1"},
		{`\nor\x\map\a`, `must be the number of conditions that follow, but is "x"`},
		{`\nor\-1\map\a`, "must be the number"},
		{`\nor\99999999999\map\a`, "must be the number"},
		{`\nor\0\map\a`, "no condition"},
		{`\map\\linux\1`, "empty"},
		{strings.Repeat(`\nor\1`, 1000), "the value of the group nor is 1, but the number of conditions after it is 0"},
		{"\\gamedir\\a\x00b", "NUL"},
		{`\map\de_*`, `"de_*", but only name_match`},
		{`\nand\1\or\1\map\`, `the value of "map" is empty`},
		{`\nor\2\gameaddr\1.2.3.4\appid\1`, "return nothing"},
		{`\\x`, "no key"},
		{"\\map\\\x1b[31m\x00", `\x1b`},
	}
	for _, test := range tests {
		f, err := master.ParseFilter(test.raw)
		if err == nil {
			t.Errorf("%q was read as %v", test.raw, f)
			continue
		}
		wantError(t, err, test.say)
		if len(err.Error()) > 300 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

func TestUnknown(t *testing.T) {
	_, s, _, err := fetchUDP(t, simulated(t, fleet.MasterConfig{}),
		master.Config{Region: master.World, Filter: filter(`\appid\440\nappid\10\nor\2\map\a\bots\1`)})
	if err != nil || !reflect.DeepEqual(s.Unknown, []string{"nappid", "bots"}) {
		t.Errorf("%q, %v", s.Unknown, err)
	}
}

func TestRegions(t *testing.T) {
	tests := []struct {
		text string
		want master.Region
		name string
	}{
		{"us-east", 0, "us-east"}, {"us-west", 1, "us-west"}, {"south-america", 2, "south-america"},
		{"eu", 3, "europe"}, {"Europe", 3, "europe"}, {"3", 3, "europe"}, {"asia", 4, "asia"},
		{"australia", 5, "australia"}, {"middle-east", 6, "middle-east"}, {"africa", 7, "africa"},
		{"world", 255, "world"}, {"255", 255, "world"},
	}
	for _, test := range tests {
		got, err := master.ParseRegion(test.text)
		if err != nil || got != test.want || got.String() != test.name {
			t.Errorf("%q: %v, %v", test.text, got, err)
		}
	}
	_, err := master.ParseRegion("mars\x1b")
	wantError(t, err, `"mars\x1b"`, "us-east, us-west", "world")
	if got := master.Region(9).String(); got != "9" {
		t.Error(got)
	}
}
