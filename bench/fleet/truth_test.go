package fleet

import (
	"net/netip"
	"testing"
)

// oneServer returns a fleet of one server of a kind. The server has no quirks, or
// only quirkMiscounted. A Source server has three players.
func oneServer(t *testing.T, k Kind) Config {
	c := testConfig()
	c.Network = netip.MustParsePrefix("127.1.0.1/32")
	if k.Hostile() {
		c.Hostile, c.HostileKinds = 1, []Kind{k}
	} else {
		c.Kinds = []Kind{k}
	}
	for range 10000 {
		m, _ := newModel(c)
		n, _ := m.nature(m.place(0))
		fits := n.quirks&^quirkMiscounted == 0 && (n.rules > 2 || k.Hostile())
		if fits && k == Source {
			fits = n.players == 3
		}
		if fits {
			return c
		}
		c.Seed++
	}
	t.Fatal("no such server")
	return c
}
