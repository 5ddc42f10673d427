package geo

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

var update = flag.Bool("update", false, "write testdata anew")

// TestUpdate writes testdata, which the scripts of the program use too.
func TestUpdate(t *testing.T) {
	if !*update {
		t.Skip("testdata is written only with -update")
	}
	for kind := range samples {
		check(t, write(sample(kind), kind))
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

// write writes the database of type kind to a file.
func write(path, kind string) error {
	opts := mmdbwriter.Options{DatabaseType: kind, IncludeReservedNetworks: true, BuildEpoch: builtAt.Unix()}
	tree, err := mmdbwriter.New(opts)
	if err != nil {
		return err
	}
	for network, text := range samples[kind] {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		_, place, err := net.ParseCIDR(network)
		if err != nil {
			return err
		}
		if err := tree.Insert(place, mmdbOf(v)); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
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
