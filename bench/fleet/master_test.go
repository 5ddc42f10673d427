package fleet

import (
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
	check(t, err)
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
	check(t, p.Decode(replies[0]))
	return p.Addrs, p.End
}

// TestMasterPages checks that every address and port of the fleet is on the list,
// in order, whether or not it has a server.
func TestMasterPages(t *testing.T) {
	c := Config{Network: netip.MustParsePrefix("127.42.0.0/24"), Ports: []uint16{27016, 27015}, Alive: 0.2, Fakes: 0.5}
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

// TestMasterLoopback checks that the sockets are on loopback, and that a client
// with another address gets no list.
func TestMasterLoopback(t *testing.T) {
	m := testMaster(t, MasterConfig{Key: "abc"})
	check(t, m.Listen())
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
