package fleet

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner/master"
)

func testMaster(t testing.TB, c MasterConfig) *Master {
	t.Helper()
	if !c.Fleet.Network.IsValid() {
		c.Fleet = Config{Network: netip.MustParsePrefix("127.42.0.0/22"), Ports: []uint16{27015, 27016}, Hostile: 0.1}
	}
	m, err := NewMaster(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ask sends the master a request for a page, and decodes its reply.
func (m *Master) ask(t testing.TB, r master.Region, seed netip.AddrPort, filter string) (addrs []netip.AddrPort, end bool) {
	t.Helper()
	replies := m.Reply((&master.Request{Region: r, Seed: seed, Filter: filter}).Append(nil))
	if len(replies) != 1 {
		t.Fatalf("%d replies", len(replies))
	}
	var p master.Page
	if err := p.Decode(replies[0]); err != nil {
		t.Fatal(err)
	}
	return p.Addrs, p.End
}

// TestMasterPages checks that every address and port of the fleet is on the list,
// in order, whether or not it has a server.
func TestMasterPages(t *testing.T) {
	c := Config{Network: netip.MustParsePrefix("127.42.0.0/24"), Ports: []uint16{27016, 27015}, Alive: 0.2}
	m := testMaster(t, MasterConfig{Fleet: c, Page: 100})
	var got []netip.AddrPort
	var seed netip.AddrPort
	pages := 0
	for end := false; !end; pages++ {
		var page []netip.AddrPort
		page, end = m.ask(t, master.World, seed, "")
		got = append(got, page...)
		seed = got[len(got)-1]
	}
	i := 0
	for a := range c.All() {
		if got[i] != a {
			t.Fatalf("%v at %d, want %v", got[i], i, a)
		}
		i++
	}
	if len(got) != i || pages != 6 || m.Len() != i {
		t.Errorf("%d addresses of %d in %d pages", len(got), i, pages)
	}
	if udp, web := m.Requests(); udp != 6 || web != 0 {
		t.Errorf("%d, %d requests", udp, web)
	}
	for i := range m.list { // also of those that are empty by now
		if e := &m.list[i]; !e.known || e.server.SteamID == "" {
			t.Fatalf("nothing is known about %v", e.addr)
		}
	}
	// If the seed is not on the list, the page begins with the next address on it.
	page, _ := m.ask(t, master.World, netip.MustParseAddrPort("127.42.0.7:5"), "")
	if page[0].String() != "127.42.0.7:27015" {
		t.Errorf("%v", page[0])
	}
	if page, end := m.ask(t, master.World, netip.MustParseAddrPort("255.0.0.1:5"), ""); len(page) > 0 || !end {
		t.Errorf("%v after the last address", page)
	}
}

// TestMasterFilters checks that each filter returns exactly the servers that meet
// it.
func TestMasterFilters(t *testing.T) {
	m := testMaster(t, MasterConfig{Page: 4096})
	tests := []struct {
		filter string
		meets  func(e *listed) bool
	}{
		{`\appid\440`, func(e *listed) bool { return e.server.AppID == 440 }},
		{`\napp\440`, func(e *listed) bool { return e.server.AppID != 440 }},
		{`\map\de_dust2`, func(e *listed) bool { return e.server.Map == "de_dust2" }},
		{`\gamedir\cstrike`, func(e *listed) bool { return e.server.GameDir == "cstrike" }},
		{`\dedicated\1`, func(e *listed) bool { return e.server.Dedicated }},
		{`\type\d`, func(e *listed) bool { return e.server.Dedicated }},
		{`\secure\1`, func(e *listed) bool { return e.server.Secure }},
		{`\linux\1`, func(e *listed) bool { return e.server.OS == "l" }},
		{`\password\0`, func(e *listed) bool { return !e.password }},
		{`\empty\1`, func(e *listed) bool { return e.server.Players > 0 }},
		{`\noplayers\1`, func(e *listed) bool { return e.server.Players == 0 }},
		{`\full\1`, func(e *listed) bool { return e.server.Players < e.server.MaxPlayers }},
		{`\proxy\1`, func(e *listed) bool { return e.spectator }},
		{`\gametype\secure`, func(e *listed) bool { return strings.Contains(e.server.GameType, "secure") }},
		{`\name_match\[EU]*`, func(e *listed) bool { return strings.HasPrefix(e.server.Name, "[EU]") }},
		{`\name_match\*Trade*#*`, func(e *listed) bool {
			_, after, ok := strings.Cut(e.server.Name, "Trade")
			return ok && strings.Contains(after, "#")
		}},
		{`\version_match\1.*`, func(e *listed) bool { return strings.HasPrefix(e.server.Version, "1.") }},
		{`\gameaddr\127.42.0.7`, func(e *listed) bool { return e.addr.Addr().String() == "127.42.0.7" }},
		{`\gameaddr\127.42.0.7:27016`, func(e *listed) bool { return e.addr.String() == "127.42.0.7:27016" }},
		{`\nor\2\appid\440\map\de_dust2`, func(e *listed) bool { return e.server.AppID != 440 && e.server.Map != "de_dust2" }},
		{`\nand\2\empty\1\linux\1`, func(e *listed) bool { return e.server.Players == 0 || e.server.OS != "l" }},
		{`\or\2\appid\440\appid\10`, func(e *listed) bool { return e.server.AppID == 440 || e.server.AppID == 10 }},
		{`\unheard\of`, func(*listed) bool { return true }},
	}
	for _, test := range tests {
		got, _ := m.ask(t, master.World, netip.AddrPort{}, test.filter)
		var want []netip.AddrPort
		for i := range m.list {
			if test.meets(&m.list[i]) {
				want = append(want, m.list[i].addr)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || len(got) == 0 {
			t.Errorf("%s: %d servers, want %d", test.filter, len(got), len(want))
		}
	}
	for _, r := range []master.Region{0, 3, 7} {
		got, _ := m.ask(t, r, netip.AddrPort{}, "")
		if len(got) == 0 || len(got) > m.Len()/2 {
			t.Errorf("%v: %d of %d", r, len(got), m.Len())
		}
	}
}

// TestMasterLoopback checks that the sockets are on loopback, and that a client
// with another address gets no list.
func TestMasterLoopback(t *testing.T) {
	m := testMaster(t, MasterConfig{Key: "abc"})
	if err := m.Listen(); err != nil {
		t.Fatal(err)
	}
	at, err := netip.ParseAddrPort(m.UDPAddr())
	if err != nil || !loopback.Network.Contains(at.Addr()) || !strings.HasPrefix(m.URL(), "http://127.0.0.1:") {
		t.Errorf("%v, %s", at, m.URL())
	}
	request := httptest.NewRequest(http.MethodGet, "/?key=abc", nil)
	request.RemoteAddr = "192.0.2.1:5"
	w := httptest.NewRecorder()
	if m.ServeHTTP(w, request); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "servers") {
		t.Errorf("a stranger got %d: %.100s", w.Code, w.Body)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := NewMaster(MasterConfig{Fleet: Config{Network: netip.MustParsePrefix("10.0.0.0/24"), Ports: []uint16{1}}}); err == nil {
		t.Error("a fleet outside of loopback")
	}
}
