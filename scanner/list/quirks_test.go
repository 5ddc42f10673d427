package list

import (
	"net/netip"
	"slices"
	"testing"
)

// TestQuirks checks that the addresses of Steam's relays, which can't be reached
// from the internet (EC-126), count as Unscannable and are not yielded.
func TestQuirks(t *testing.T) {
	t.Run("EC-126 an address of Steam's relays", func(t *testing.T) {
		for _, allow := range []bool{false, true} {
			testRelay(t, allow)
		}
	})
}

func testRelay(t *testing.T, allowReserved bool) {
	none, err := NewExclusions(ExclusionConfig{AllowReserved: allowReserved})
	if err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, Config{
		Order: OrderInput, Exclusions: none,
		Args: []string{"169.254.31.7:27015", "8.8.8.8:27015"},
	})
	var given []netip.AddrPort
	for tg := range l.All() {
		given = append(given, tg.Addr)
	}
	if want := netip.MustParseAddrPort("8.8.8.8:27015"); !slices.Equal(given, []netip.AddrPort{want}) {
		t.Errorf("gave %v", given)
	}
	if st := l.Stats(); st.Unscannable != 1 || st.Excluded != 0 {
		t.Errorf("%+v", st)
	}
}
