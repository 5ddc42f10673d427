package census_test

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/census"
)

// fleetCensus writes the census of a perfect scan of a fleet.
func fleetCensus(t *testing.T, c fleet.Config) *census.Census {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteTruth(&b, "truth", scanner.AskAll); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "census.ndjson")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	opened, err := census.Open([]string{name}, census.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// TestFarms: every planted farm gets a verdict, with all of its servers, and no other
// server does.
func TestFarms(t *testing.T) {
	for _, kind := range append(fleet.FakerKinds(), fleet.Kind(0)) {
		c := fleet.Config{Network: netip.MustParsePrefix("127.42.0.0/21"), Ports: []uint16{27015}, Alive: 1, Fakes: 0.5, Seed: 5}
		if c.FakeKinds = []fleet.Kind{kind}; kind == 0 {
			c.FakeKinds, c.Fakes = nil, 0
		}
		stats, err := census.Aggregate(fleetCensus(t, c))
		if err != nil {
			t.Fatal(err)
		}
		farms, servers := planted(c)
		if stats.Farms.Found != farms || stats.Farms.Sums.Servers != servers {
			t.Errorf("%v: %d farms with %d servers, want %d with %d",
				kind, stats.Farms.Found, stats.Farms.Sums.Servers, farms, servers)
		}
	}
}

// planted counts the farms of a fleet that share a list or a look.
func planted(c fleet.Config) (farms, servers uint64) {
	seen := map[uint64]bool{}
	for addr := c.Network.Addr(); c.Network.Contains(addr); addr = addr.Next() {
		n, ok := c.Nature(netip.AddrPortFrom(addr, c.Ports[0]))
		if !ok || n.Kind != fleet.FarmList && n.Kind != fleet.FarmClones {
			continue
		}
		seen[n.Farm] = true
		servers++
	}
	return uint64(len(seen)), servers
}
