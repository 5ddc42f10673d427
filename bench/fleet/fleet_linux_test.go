package fleet

import (
	"bytes"
	"context"
	"net/netip"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// start serves a fleet until the test ends.
func start(t testing.TB, c Config) *Fleet {
	t.Helper()
	f, err := New(c)
	check(t, err)
	serve(t, f)
	return f
}

// serve runs a fleet until the test ends, and then closes it.
func serve(t testing.TB, f *Fleet) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- f.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestFreePorts checks that fleets on free ports can run side by side, and have the
// servers of a fleet on ports 27015 and 27016.
func TestFreePorts(t *testing.T) {
	cfg := Config{Network: netip.MustParsePrefix("127.9.1.0/28"), Ports: []uint16{0, 0}, Seed: 4}
	one, other := start(t, cfg), start(t, cfg)
	seen := map[uint16]bool{}
	for _, f := range []*Fleet{one, other} {
		named := cfg
		named.Ports = []uint16{27015, 27016}
		for i, port := range f.Config().Ports {
			if port == 0 || seen[port] {
				t.Fatalf("port %d: zero or taken twice", port)
			}
			seen[port] = true
			sameNature(t, f.Config(), named, port, named.Ports[i])
		}
	}
}

// sameNature fails the test if the servers of fleet one on a port differ from those
// of fleet other on port of.
func sameNature(t *testing.T, one, other Config, port, of uint16) {
	t.Helper()
	addr := one.Network.Addr()
	for ; one.Network.Contains(addr); addr = addr.Next() {
		at, there := netip.AddrPortFrom(addr, port), netip.AddrPortFrom(addr, of)
		got, _ := one.Nature(at)
		want, ok := other.Nature(there)
		same := ok && got == want
		if r, o := one.Truth(at, wire.AskPlayers), other.Truth(there, wire.AskPlayers); same && r != nil {
			same = bytes.Equal(wire.AppendPlayers(nil, 0, r.Players), wire.AppendPlayers(nil, 0, o.Players))
		}
		if !same {
			t.Errorf("port %d has %+v, port %d %+v", port, got, of, want)
		}
	}
}
