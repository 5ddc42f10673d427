package censusfile

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/a2sscan/a2sscan/scanner"
)

// openDatabases opens databases in their order.
func openDatabases(t testing.TB, kinds ...string) Databases {
	t.Helper()
	var files []string
	for _, kind := range kinds {
		files = append(files, sample(kind))
	}
	bases, err := OpenDatabases(files)
	check(t, err)
	return bases
}

// TestGeoForms: every layout is understood, and earlier databases take precedence.
func TestGeoForms(t *testing.T) {
	frankfurt := scanner.Geo{Continent: "EU", Country: "DE", Region: "Hesse", City: "Frankfurt am Main"}
	example := scanner.Geo{ASN: 64500, Org: "Example GmbH"}
	flat := scanner.Geo{Continent: "EU", Country: "DE", ASN: 64500, Org: "Example GmbH"}
	both := frankfurt
	both.ASN, both.Org = 64500, "Example GmbH"
	tests := []struct {
		kinds string
		addr  string
		want  scanner.Geo
	}{
		{"GeoLite2-City", "127.74.0.1", frankfurt},
		{"GeoLite2-City", "127.74.127.255", frankfurt},
		{"GeoLite2-City", "127.74.128.0", scanner.Geo{Country: "FR", City: "Paris"}},
		{"GeoLite2-City", "127.75.0.1", scanner.Geo{}}, // the registered country is not the location
		{"GeoLite2-City", "127.77.0.1", scanner.Geo{}},
		{"GeoLite2-City", "203.0.113.7", scanner.Geo{}},
		{"GeoLite2-City", "127.76.0.1", scanner.Geo{Region: "\u009b31m", City: "\x1b[2J\u202egnirts"}},
		{"GeoLite2-Country", "127.74.0.1", scanner.Geo{Continent: "EU", Country: "AT"}},
		{"GeoLite2-ASN", "127.74.0.1", example},
		{"GeoLite2-ASN", "127.76.0.1", scanner.Geo{ASN: 64501}},
		{"GeoIP2-Enterprise", "127.74.0.1", scanner.Geo{Country: "DE", ASN: 64502, Org: "E"}},
		{"ipinfo generic_country_asn_free.mmdb", "127.74.0.1", flat},
		{"ipinfo bundle_location_lite", "127.74.0.1", flat},
		{"ipinfo standard_asn", "127.74.0.1", example},
		{"whois-city", "127.74.0.1", scanner.Geo{Country: "DE", Region: "Hesse", City: "Frankfurt"}},

		{"GeoLite2-City,GeoLite2-ASN", "127.74.0.1", both},
		{"GeoLite2-ASN,GeoLite2-City", "127.74.0.1", both},
		{"ipinfo bundle_location_lite,GeoLite2-City", "127.74.0.1", both},
		{"GeoLite2-Country,GeoLite2-City", "127.74.0.1", scanner.Geo{Continent: "EU", Country: "AT"}},
		{"GeoIP2-Enterprise,GeoLite2-ASN", "127.74.0.1", scanner.Geo{Country: "DE", ASN: 64502, Org: "E"}},
		{"GeoLite2-ASN,GeoIP2-Enterprise", "127.74.0.1",
			scanner.Geo{Country: "DE", ASN: 64500, Org: "Example GmbH"}},
	}
	for _, tt := range tests {
		t.Run(tt.kinds+" "+tt.addr, func(t *testing.T) {
			bases := openDatabases(t, strings.Split(tt.kinds, ",")...)
			for range 2 { // decoded the first time, remembered the second
				var g scanner.Geo
				if bases.Fill(&g, netip.MustParseAddr(tt.addr)); g != tt.want {
					t.Errorf("%+v, want %+v", g, tt.want)
				}
			}
		})
	}
}

// TestGeoOtherTypes: values of unexpected types and names that are too long are
// ignored.
func TestGeoOtherTypes(t *testing.T) {
	var v any
	check(t, json.Unmarshal([]byte(samples["unexpected types"]["127.74.0.0/16"]), &v))
	long := map[string]any{
		"city": strings.Repeat("x", maxText+1), "region": strings.Repeat("y", maxText),
	}
	empty := map[string]any{"city": map[string]any{}}
	for _, data := range []any{v, nil, "DE", []any{}, []any{nil}, empty} {
		if g := parsePlace(data); g != (scanner.Geo{}) {
			t.Errorf("%v: %+v", data, g)
		}
	}
	if g := parsePlace(long); g.City != "" || len(g.Region) != maxText {
		t.Errorf("%+v", g)
	}
}

// TestGeoKnown: the number of remembered places is limited.
func TestGeoKnown(t *testing.T) {
	b := openDatabases(t, "GeoLite2-City")[0]
	for i := range uintptr(maxKnown) {
		b.known[1<<40+i] = scanner.Geo{}
	}
	r := b.db.Lookup(netip.MustParseAddr("127.74.0.1"))
	if g := b.place(r); g.Country != "DE" || len(b.known) != 1 {
		t.Errorf("%+v, %d places are remembered", g, len(b.known))
	}
}

// TestGeoHuge: a large file that is not a database is refused without being read.
func TestGeoHuge(t *testing.T) {
	name := filepath.Join(t.TempDir(), "huge.mmdb")
	check(t, os.WriteFile(name, nil, 0o600))
	check(t, os.Truncate(name, 256<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := OpenDatabases([]string{name})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.HasSuffix(err.Error(), "this is not a database in MaxMind's format") {
		t.Error(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// TestGeoUnreadable: the error of a file that can't be used says why.
func TestGeoUnreadable(t *testing.T) {
	file, err := os.ReadFile(sample("GeoLite2-City"))
	check(t, err)
	at := bytes.LastIndex(file, []byte("MaxMind.com"))
	for _, test := range []struct {
		file []byte
		mode os.FileMode
		want string
	}{
		{file, 0, "permission denied"},
		{file[:at], 0o600, "this is not a database in MaxMind's format"},
		{file[:at+50], 0o600, "the file is damaged: "},
		{file[at-1000:], 0o600, "the file is damaged: "},
	} {
		name := filepath.Join(t.TempDir(), "a.mmdb")
		check(t, os.WriteFile(name, test.file, test.mode))
		if f, err := os.Open(name); err == nil && test.mode == 0 {
			f.Close()
			continue // this user may read all files
		}
		if _, err := OpenDatabases([]string{name}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

// TestGeoDamaged: newDatabase rejects a truncated database. It rejects a database with
// a changed byte, or the database answers as far as it can, counts damaged entries, and
// never panics.
func TestGeoDamaged(t *testing.T) {
	file, err := os.ReadFile(sample("GeoLite2-City"))
	check(t, err)
	refused, damaged := 0, uint64(0)
	for i := range file {
		broken := bytes.Clone(file)
		broken[i] ^= []byte{0x01, 0x20, 0xFF}[i%3]
		if _, err := newDatabase("", file[:i]); err == nil {
			t.Errorf("%d of %d bytes are accepted", i, len(file))
		}
		b, err := newDatabase("", broken)
		if err != nil || !b.useful() {
			refused++
			continue
		}
		for _, addr := range []string{"127.74.0.1", "127.74.128.1", "127.76.0.1", "203.0.113.7"} {
			Databases{b}.Fill(new(scanner.Geo), netip.MustParseAddr(addr))
		}
		damaged += b.faults
	}
	if refused == 0 || damaged == 0 {
		t.Errorf("%d refused, %d lookups damaged", refused, damaged)
	}
}

// TestGeoEndless: a damaged database whose tree branches at every
// node without reaching data is not useful, and useful does not visit every branch.
func TestGeoEndless(t *testing.T) {
	file, err := os.ReadFile(sample("GeoLite2-City"))
	check(t, err)
	db, err := maxminddb.OpenBytes(bytes.Clone(file))
	check(t, err)
	const start, levels = 96, 31 // the node where IPv4 begins, and 2^31 branches below it
	nothing := db.Metadata.NodeCount
	if db.Metadata.RecordSize != 28 || nothing < start+levels {
		t.Fatalf("%+v", db.Metadata)
	}
	for node := range nothing {
		to := node + 1
		if node >= start+levels-1 {
			to = nothing
		}
		both := []byte{byte(to >> 16), byte(to >> 8), byte(to)}
		copy(file[node*7:], append(append(both, 0), both...))
	}
	if b, err := newDatabase("", file); err != nil || b.useful() {
		t.Errorf("an endless tree is useful, or %v", err)
	}
}

// geoWork returns a function that looks up the next address of a /16.
func geoWork(tb testing.TB) func() {
	bases := openDatabases(tb, "GeoLite2-City", "GeoLite2-ASN")
	var g scanner.Geo
	n := uint16(0)
	return func() {
		n += 257
		g = scanner.Geo{}
		bases.Fill(&g, netip.AddrFrom4([4]byte{127, 74, byte(n >> 8), byte(n)}))
	}
}

func BenchmarkGeo(b *testing.B) {
	body := geoWork(b)
	b.ReportAllocs()
	for b.Loop() {
		body()
	}
}

// BenchmarkGeoUnknown times the look-up of a place that was not decoded before.
func BenchmarkGeoUnknown(b *testing.B) {
	bases := openDatabases(b, "GeoLite2-City", "GeoLite2-ASN")
	b.ReportAllocs()
	for b.Loop() {
		clear(bases[0].known)
		clear(bases[1].known)
		bases.Fill(new(scanner.Geo), netip.AddrFrom4([4]byte{127, 74, 0, 1}))
	}
}

func TestGeoAllocates(t *testing.T) {
	body := geoWork(t)
	for range 300 {
		body()
	}
	if n := testing.AllocsPerRun(1000, body); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var update = flag.Bool("update", false, "write testdata anew")

// TestSamples: testdata, which the scripts of the program use too, has the databases that
// samples describes. With -update it writes them.
func TestSamples(t *testing.T) {
	for kind := range samples {
		want, err := database(kind)
		check(t, err)
		if *update {
			check(t, os.WriteFile(sample(kind), want, 0o666))
		}
		if got, err := os.ReadFile(sample(kind)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from samples, or can't be read: %v", sample(kind), err)
		}
	}
}

// sample returns the path of the database of a type.
func sample(kind string) string { return filepath.Join("testdata", kind+".mmdb") }

// samples maps a database type to invented places of loopback networks, in the
// layout of published databases of that type. The values are JSON; their numbers
// become unsigned integers.
var samples = map[string]map[string]string{
	"GeoLite2-City": {
		"127.74.0.0/17": `{"continent":{"code":"EU","names":{"en":"Europe"}},
			"country":{"iso_code":"DE","names":{"en":"Germany"}},
			"subdivisions":[{"iso_code":"HE","names":{"de":"Hessen","en":"Hesse"}},{"names":{"en":"no"}}],
			"city":{"geoname_id":2925533,"names":{"de":"Frankfurt am Main","en":"Frankfurt am Main"}},
			"location":{"latitude":50,"time_zone":"Europe/Berlin"}}`,
		"127.74.128.0/17": `{"country":{"iso_code":"FR"},"city":{"names":{"ja":"パリ","fr":"Paris"}}}`,
		"127.75.0.0/16":   `{"registered_country":{"iso_code":"US"}}`,
		"127.76.0.0/16": `{"country":{"iso_code":"\u001b["},"continent":{"code":"<b>"},
			"city":{"names":{"en":"\u001b[2J\u202egnirts"}},"subdivisions":[{"names":{"en":"\u009b31m"}}]}`,
	},
	"GeoLite2-Country": {
		"127.74.0.0/16": `{"continent":{"code":"EU"},"country":{"iso_code":"AT","is_in_european_union":true}}`,
	},
	"GeoLite2-ASN": {
		"127.74.0.0/15": `{"autonomous_system_number":64500,"autonomous_system_organization":"Example GmbH"}`,
		"127.76.0.0/16": `{"autonomous_system_number":64501}`,
	},
	"GeoIP2-Enterprise": {
		"127.74.0.0/16": `{"country":{"iso_code":"DE"},
			"traits":{"autonomous_system_number":64502,"autonomous_system_organization":"E"}}`,
	},
	"ipinfo generic_country_asn_free.mmdb": {
		"127.74.0.0/16": `{"country":"DE","country_name":"Germany","continent":"EU","continent_name":"Europe",
			"asn":"AS64500","as_name":"Example GmbH","as_domain":"example.com"}`,
	},
	"ipinfo bundle_location_lite": {
		"127.74.0.0/16": `{"country":"Germany","country_code":"DE","continent":"Europe","continent_code":"EU",
			"asn":"AS64500","as_name":"Example GmbH","as_domain":"example.com"}`,
	},
	"ipinfo standard_asn": {
		"127.74.0.0/16": `{"asn":"AS64500","name":"Example GmbH","type":"hosting"}`,
	},
	"whois-city": {
		"127.74.0.0/16": `{"country_code":"de","state1":"Hesse","city":"Frankfurt","latitude":"50.1"}`,
	},
	"unexpected types": {
		"127.74.0.0/16": `{"country":[1],"city":true,"continent":null,"subdivisions":[],"region":{},"asn":"ASx",
			"autonomous_system_number":"4294967296","country_code":"DEU"}`,
	},
	"GeoIP2-Anonymous-IP": {"127.74.0.0/16": `{"is_anonymous":true}`},
}

// builtAt is the build time of the databases.
var builtAt = time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)

// database returns the database of type kind.
func database(kind string) ([]byte, error) {
	opts := mmdbwriter.Options{DatabaseType: kind, IncludeReservedNetworks: true, BuildEpoch: builtAt.Unix()}
	tree, err := mmdbwriter.New(opts)
	if err != nil {
		return nil, err
	}
	for network, text := range samples[kind] {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		_, place, err := net.ParseCIDR(network)
		if err != nil {
			return nil, err
		}
		if err := tree.Insert(place, mmdbOf(v)); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// mmdbOf converts a JSON value to the types of the format.
func mmdbOf(v any) mmdbtype.DataType {
	switch v := v.(type) {
	case map[string]any:
		m := mmdbtype.Map{}
		for key, part := range v {
			if part != nil {
				m[mmdbtype.String(key)] = mmdbOf(part)
			}
		}
		return m
	case []any:
		s := mmdbtype.Slice{}
		for _, part := range v {
			s = append(s, mmdbOf(part))
		}
		return s
	case string:
		return mmdbtype.String(v)
	case float64:
		return mmdbtype.Uint32(v)
	}
	return mmdbtype.Bool(v.(bool))
}
