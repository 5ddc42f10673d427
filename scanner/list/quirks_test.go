package list

import (
	"slices"
	"strings"
	"testing"
)

// TestQuirks checks that addresses of lists that can't be asked count as Unscannable and
// are not yielded: those of Steam's relays, which can't be reached from the internet
// (EC-126), and IPv6 addresses (EC-152).
func TestQuirks(t *testing.T) {
	for _, test := range []struct{ name, text, network string }{
		{"EC-126 an address of Steam's relays", "169.254.31.7:27015\n8.8.8.8:27015\n", "169.254.0.0/16"},
		{"EC-152 an IPv6 address", "ip [2001:db8::1]:27015\nip 8.8.8.8:27015\n", "::/0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, allow := range []bool{false, true} {
				l := mustOpen(t, Config{Stdin: strings.NewReader(test.text), Exclusions: mustExclude(t, exclusionConfig{AllowReserved: allow})})
				if got := texts(l.From(0)); !slices.Equal(got, []string{"8.8.8.8:27015"}) {
					t.Errorf("%q", got)
				}
				if left := leftOut(l); len(left) != 1 || left[0].Network != test.network || left[0].Targets != 1 || !left[0].Unscannable {
					t.Errorf("%+v", left)
				}
			}
		})
	}
}
