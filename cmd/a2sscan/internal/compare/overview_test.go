package compare

import (
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/sink/census"
)

// TestOverview: the overview has the sums, the largest groups and the farms of a census, in
// one line each, whatever servers send as their names.
func TestOverview(t *testing.T) {
	sums := census.Sums{Servers: 1200, Occupied: 30, People: 45, Bots: 1, Places: 2000}
	s := &census.Stats{
		Scans: []string{"monday"}, Records: 1300, Statuses: map[string]uint64{"ok": 1200, "no_reply": 100}, All: sums, WithoutFarms: sums,
		Games: census.Groups{Distinct: 12, Top: []census.Group{{ID: "rust", Name: "Rust", Sums: sums}, {ID: "x", Name: "a\x1b[31m\nb", Sums: sums}}},
		Flags: map[string]uint64{"no_gslt": 7},
	}
	s.Farms.Found, s.Farms.Top = 1, []census.Farm{{ID: "0123", Sums: sums, Addresses: 1, Game: "rust", Name: "Best \x1b server", Evidence: []string{"why"}}}
	text := string(overviewOf(s, 80))
	for _, want := range []string{
		"monday: 1,200 servers, 45 people, 1 bot\nwithout 1 farm: ", "1,300 records: no reply 100, ok 1,200\n",
		"\ngame", "Rust", "     1,200         45\n", "\nand 10 more\n", "no_gslt", "farm 0123: 1,200 servers on 1 address, 45 people, rust, as \"Best ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b") || strings.Contains(text, "a\nb") {
		t.Errorf("names change the overview:\n%s", text)
	}
}
