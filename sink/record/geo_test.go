package record

import (
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

// TestGeo: a record has no keys for unknown values and invalid country codes, and
// its text is escaped like any other.
func TestGeo(t *testing.T) {
	tests := []struct {
		name string
		geo  scanner.Geo
		want string // "": no key
	}{
		{"nothing", scanner.Geo{}, ``},
		{"a country", scanner.Geo{Country: "DE"}, `{"country":"DE"}`},
		{"a network", scanner.Geo{ASN: 64500, Org: "A & B"}, `{"asn":64500,"org":"A & B"}`},
		{"all",
			scanner.Geo{Continent: "NA", Country: "US", Region: "Texas", City: "Dallas", ASN: 1<<32 - 1, Org: "o"},
			`{"continent":"NA","country":"US","region":"Texas","city":"Dallas","asn":4294967295,"org":"o"}`},
		{"no codes", scanner.Geo{Continent: "Europe", Country: "de", City: "x"}, `{"city":"x"}`},
		{"nothing but what is no code", scanner.Geo{Country: "\x1b["}, ``},
		{"hostile", scanner.Geo{Region: "\x1b[2J", City: "\u202e\xff", Org: "\u009b"},
			`{"region":"\u001b[2J","city":"\u202e` + "\ufffd" + `","city_hex":"e280aeff","org":"\u009b"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := blank()
			r.Geo = tt.geo
			got := Append(nil, "", r)
			checkRecord(t, got)
			want := `{"schema":1}`
			if tt.want != "" {
				want = `{"schema":1,"geo":` + tt.want + `}`
			}
			if string(got) != want+"\n" {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
