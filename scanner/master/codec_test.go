package master_test

import (
	"bytes"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

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
		{"europe with a filter", master.Request{Region: master.Europe, Seed: addr("0.0.0.0:0"), Filter: []byte(`\appid\440`)},
			"\x31\x030.0.0.0:0\x00\\appid\\440\x00"},
		{"us east", master.Request{Region: master.USEast, Seed: addr("255.255.255.255:65535")},
			"\x31\x00255.255.255.255:65535\x00\x00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := master.AppendRequest([]byte("before"), &test.q)
			if string(got) != "before"+test.want {
				t.Errorf("% x, want % x", got, test.want)
			}
			var q master.Request
			if err := q.Decode([]byte(test.want)); err != nil {
				t.Fatal(err)
			}
			if q.Region != test.q.Region || q.Seed != test.q.Seed || !bytes.Equal(q.Filter, test.q.Filter) {
				t.Errorf("%+v, want %+v", q, test.q)
			}
		})
	}
	if got := master.AppendRequest(nil, &master.Request{Seed: addr("[::1]:5"), Filter: []byte("a\x00b")}); string(got) != "\x31\x000.0.0.0:0\x00a\x00" {
		t.Errorf("%q", got)
	}
	mapped := master.Request{Seed: addr("[::ffff:203.0.113.7]:5")}
	if got := master.AppendRequest(nil, &mapped); string(got) != "\x31\x00203.0.113.7:5\x00\x00" {
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
		{"\x31\xFF0.0.0:0\x00\x00", wire.ErrMalformed},
		{"\x31\xFF0.0.0.0.0:0\x00\x00", wire.ErrMalformed},
		{"\x31\xFF0.0.0.256:0\x00\x00", wire.ErrMalformed},
		{"\x31\xFF0.0.0.01:0\x00\x00", wire.ErrMalformed},
		{"\x31\xFF0.0.0.1:65536\x00\x00", wire.ErrMalformed},
		{"\x31\xFF0.0.0.1:99999999999999999999\x00\x00", wire.ErrMalformed},
		{"\x31\xFF0.0.0.1:\x00\x00", wire.ErrMalformed},
		{"\x31\xFF0.0.0.1: 1\x00\x00", wire.ErrMalformed},
		{"\x31\xFF[::1]:1\x00\x00", wire.ErrMalformed},
	}
	for _, test := range tests {
		q := master.Request{Region: 5, Filter: []byte("x")}
		if err := q.Decode([]byte(test.datagram)); err != test.want {
			t.Errorf("%q: %v, want %v", test.datagram, err, test.want)
		}
		if q.Region != 0 || q.Filter != nil {
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
		reset    error
		want     string
		end      bool
		err      error
	}{
		{name: "two addresses and the end", datagram: header + a + b + "\x00\x00\x00\x00\x00\x00",
			want: "203.0.113.7:27015 1.2.3.4:80", end: true},
		{name: "no end", datagram: header + a, want: "203.0.113.7:27015"},
		{name: "nothing", datagram: header},
		{name: "the end alone", datagram: header + "\x00\x00\x00\x00\x00\x00", end: true},
		{name: "more behind the end", datagram: header + "\x00\x00\x00\x00\x00\x00" + a, end: true},
		{name: "cut in an address", datagram: header + a + b[:5], want: "203.0.113.7:27015", err: wire.ErrTruncated},
		{name: "cut in the end", datagram: header + a + "\x00", want: "203.0.113.7:27015", err: wire.ErrTruncated},
		{name: "no address, but a port", datagram: header + "\x00\x00\x00\x00\x69\x87", want: "0.0.0.0:27015"},
		{name: "no port", datagram: header + "\x01\x02\x03\x04\x00\x00", want: "1.2.3.4:0"},
		{name: "empty", datagram: "", reset: wire.ErrEmpty},
		{name: "cut in the header", datagram: header[:5], reset: wire.ErrTruncated},
		{name: "another message", datagram: "\xFF\xFF\xFF\xFFI\x11", reset: wire.ErrUnexpected},
		{name: "another second byte", datagram: "\xFF\xFF\xFF\xFFf\x0B" + a, reset: wire.ErrUnexpected},
		{name: "no message", datagram: "hello there", reset: wire.ErrMalformed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var p master.Page
			if err := p.Reset([]byte(test.datagram)); err != test.reset {
				t.Fatalf("%v, want %v", err, test.reset)
			}
			var got []string
			for p.Next() {
				got = append(got, p.Addr().String())
			}
			if strings.Join(got, " ") != test.want || p.End() != test.end || p.Err() != test.err || p.Count() != len(got) {
				t.Errorf("%q, end %v, %v, count %d", got, p.End(), p.Err(), p.Count())
			}
			if p.Next() {
				t.Error("an address after the last")
			}
		})
	}
}

func TestAppendPage(t *testing.T) {
	addrs := []netip.AddrPort{addr("203.0.113.7:27015"), addr("[::ffff:1.2.3.4]:80")}
	want := header + "\xCB\x00\x71\x07\x69\x87" + "\x01\x02\x03\x04\x00\x50"
	if got := master.AppendPage(nil, addrs, false); string(got) != want {
		t.Errorf("% x, want % x", got, want)
	}
	want += "\x00\x00\x00\x00\x00\x00"
	if got := master.AppendPage(nil, addrs, true); string(got) != want {
		t.Errorf("% x, want % x", got, want)
	}
	if got := master.AppendAddr(nil, addr("[::1]:80")); string(got) != "\x00\x00\x00\x00\x00\x00" {
		t.Errorf("% x", got)
	}
	if n := len(header) + master.PageAddrs*6; n != 1392 {
		t.Errorf("a full page has %d bytes, want 1392", n)
	}
}

// readPage decodes a page, and reports whether it contains the terminator.
func readPage(b []byte) (addrs []netip.AddrPort, end bool, err error) {
	var p master.Page
	if err := p.Reset(b); err != nil {
		return nil, false, err
	}
	for p.Next() {
		addrs = append(addrs, p.Addr())
	}
	return addrs, p.End(), p.Err()
}

// The fuzzers check that decoding, encoding and decoding again gives the same
// result.

func FuzzPage(f *testing.F) {
	f.Add([]byte(header + "\xCB\x00\x71\x07\x69\x87\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(header + "\xCB\x00\x71\x07"))
	f.Add([]byte("\xFF\xFF"))
	f.Fuzz(func(t *testing.T, b []byte) {
		addrs, end, _ := readPage(b)
		again, endAgain, err := readPage(master.AppendPage(nil, addrs, end))
		if err != nil || end != endAgain || !slices.Equal(addrs, again) {
			t.Errorf("%v, %v, then %v, %v, %v", addrs, end, again, endAgain, err)
		}
		if len(addrs)*6 > len(b) {
			t.Errorf("%d addresses in %d bytes", len(addrs), len(b))
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
		if got := master.AppendRequest(nil, &q); !bytes.Equal(got, b) {
			t.Errorf("%q became %q", b, got)
		}
		if err := again.Decode(master.AppendRequest(nil, &q)); err != nil || !reflect.DeepEqual(q, again) {
			t.Errorf("%+v, then %+v, %v", q, again, err)
		}
	})
}

func FuzzFilter(f *testing.F) {
	for _, v := range filterVectors {
		f.Add(v.want)
	}
	f.Add(`\nor\2\map\a`)
	f.Add(`\nor\18446744073709551615\map\a`)
	f.Add(strings.Repeat(`\nor\1`, 40) + `\map\a`)
	f.Fuzz(func(t *testing.T, s string) {
		first, err := master.ParseFilter(s)
		if err != nil {
			if wrong := (*master.FilterError)(nil); !errors.As(err, &wrong) {
				t.Errorf("%T", err)
			}
			return
		}
		text, err := first.Append(nil)
		if err != nil {
			t.Fatalf("%q was read, and then: %v", s, err)
		}
		again, err := master.ParseFilter(string(text))
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("%q: %v, then %v, %v", s, first, again, err)
		}
	})
}

// bodies returns the functions that BenchmarkCodec times, and whose allocations
// TestAllocs counts.
func bodies() []struct {
	name  string
	bytes int
	run   func()
} {
	var addrs []netip.AddrPort
	for i := range master.PageAddrs {
		addrs = append(addrs, netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), 27015))
	}
	page := master.AppendPage(nil, addrs, true)
	q := master.Request{Region: master.World, Seed: addrs[0], Filter: []byte(`\appid\440\empty\1`)}
	request := master.AppendRequest(nil, &q)
	out := make([]byte, 0, 2048)
	var p master.Page
	filter := master.Filter{master.App(440), master.Nor(master.Map("a"), master.Map("b"))}
	return []struct {
		name  string
		bytes int
		run   func()
	}{
		{"page", len(page), func() {
			p.Reset(page)
			for p.Next() {
				p.Addr()
			}
		}},
		{"appendPage", len(page), func() { master.AppendPage(out, addrs, true) }},
		{"request", len(request), func() { q.Decode(request) }},
		{"appendRequest", len(request), func() { master.AppendRequest(out, &q) }},
		{"appendFilter", 40, func() { filter.Append(out) }},
	}
}

func TestAllocs(t *testing.T) {
	for _, b := range bodies() {
		if n := testing.AllocsPerRun(100, b.run); n != 0 {
			t.Errorf("%s: %v allocations", b.name, n)
		}
	}
}

func BenchmarkCodec(b *testing.B) {
	for _, body := range bodies() {
		b.Run(body.name, func(b *testing.B) {
			b.SetBytes(int64(body.bytes))
			b.ReportAllocs()
			for b.Loop() {
				body.run()
			}
		})
	}
}
