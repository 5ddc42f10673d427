package target_test

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/a2sscan/a2sscan/scanner/target"
)

// scanner.Scan accepts any iterator over targets as a list.
func Example() {
	servers := []target.Target{
		{Addr: netip.MustParseAddrPort("203.0.113.7:27015"), Tag: "mine"},
		{Addr: netip.MustParseAddrPort("203.0.113.8:27015"), Place: 1},
	}
	for t := range slices.Values(servers) {
		fmt.Println(t.Place, t.Addr, t.Tag)
	}
	// Output:
	// 0 203.0.113.7:27015 mine
	// 1 203.0.113.8:27015
}
