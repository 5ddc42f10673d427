package canned

import (
	"net/netip"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// TestCannedTruth checks that canned servers are ordinary servers, of the size that
// the measurements assume.
func TestCannedTruth(t *testing.T) {
	cfg := Config{Alive: 0.3}
	live, ip := 0, netip.MustParseAddr("127.16.0.0")
	names := map[string]bool{}
	for range 4096 {
		addr := netip.AddrPortFrom(ip, 27015)
		if cfg.HasServer(addr) {
			live++
		}
		r := cfg.Truth(addr, wire.AskAll)
		players, rules := len(r.Players), len(r.Rules)
		if r.Status != scanner.StatusOK || players != Players || rules != Rules || r.Notes != 0 {
			t.Fatalf("%v: %v with %d players, %d rules, notes %b", addr, r.Status, players, rules, r.Notes)
		}
		names[string(r.Info.Name)] = true
		ip = ip.Next()
	}
	if live < 1100 || live > 1350 {
		t.Errorf("%d of 4096 are alive, want 30 %%", live)
	}
	if len(names) < 400 {
		t.Errorf("only %d names", len(names))
	}
	if cfg.HasServer(netip.MustParseAddrPort("127.255.255.255:27015")) {
		t.Error("a server at the broadcast address")
	}
}
