package main

import (
	"net/netip"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// TestHonestConflicts: a scan counts no conflict because of bad networks and odd servers.
// The network loses, doubles and delays datagrams, there are servers of every honest kind,
// and the scan repeats requests.
func TestHonestConflicts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		cfg  fleet.Config
	}{
		{"lost", fleet.Config{Loss: 0.05}},
		{"doubled", fleet.Config{Duplicate: 0.2, DelayMax: 20 * time.Millisecond}},
		{"everything", fleet.Config{Loss: 0.03, Duplicate: 0.1, Reorder: 0.1, DelayMax: 30 * time.Millisecond}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.cfg.Network = netip.MustParsePrefix("127.92.0.0/26")
			test.cfg.Seed, test.cfg.Kinds = 6, fleet.HonestKinds()
			cfg, _ := serve(t, test.cfg)
			census := filepath.Join(t.TempDir(), "census.ndjson")
			code, _, said := runIn("scan", cfg.Network.String(), "-p", strconv.Itoa(int(cfg.Ports[0])), "--allow-reserved",
				"-o", census, "-r", "1k", "--cooldown", "500ms", "--timeout", "200ms")
			if code != console.ExitOK {
				t.Fatalf("exit code %d: %s", code, said)
			}
			if n := readSummary(t, census+".summary.json").Datagrams.N("conflicts"); n > 0 {
				t.Errorf("%d conflicts", n)
			}
		})
	}
}
