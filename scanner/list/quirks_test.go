package list

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// TestQuirks checks that addresses of lists that can't be asked count as Unscannable and
// are not yielded: those of Steam's relays, which can't be reached from the internet
// (EC-126), and IPv6 addresses (EC-152).
func TestQuirks(t *testing.T) {
	t.Run("EC-126 an address of Steam's relays", func(t *testing.T) {
		for _, allow := range []bool{false, true} {
			testRelay(t, allow)
		}
	})
	t.Run("EC-152 an IPv6 address", func(t *testing.T) {
		l := mustOpen(t, Config{Stdin: strings.NewReader("ip [2001:db8::1]:27015\nip 8.8.8.8:27015\n")})
		if got := texts(l.From(0)); !slices.Equal(got, []string{"8.8.8.8:27015"}) {
			t.Errorf("%q", got)
		}
		if left := leftOut(l); len(left) != 1 || left[0].Network != "::/0" || left[0].Targets != 1 || !left[0].Unscannable {
			t.Errorf("%+v", left)
		}
	})
}

func testRelay(t *testing.T, allowReserved bool) {
	none, err := newExclusions(exclusionConfig{AllowReserved: allowReserved})
	check(t, err)
	l := mustOpen(t, Config{
		InOrder: true, Exclusions: none,
		Args: []string{"169.254.31.7:27015", "8.8.8.8:27015"},
	})
	var given []netip.AddrPort
	for tg := range l.From(0) {
		given = append(given, tg.Addr)
	}
	if want := netip.MustParseAddrPort("8.8.8.8:27015"); !slices.Equal(given, []netip.AddrPort{want}) {
		t.Errorf("gave %v", given)
	}
	if st := l.Stats(); st.Unscannable != 1 || st.Excluded != 0 {
		t.Errorf("%+v", st)
	}
}
