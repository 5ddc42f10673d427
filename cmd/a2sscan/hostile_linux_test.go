package main

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// TestHostileFleet scans, as a user would, a fleet in which three of ten servers
// are hostile, in every way that the fleet knows. The records of all others are
// complete, those of hostile servers give the reason, and nothing is invented. The
// rate is the default: at this rate the kernel's buffer has room for everything
// that the hostile servers send.
func TestHostileFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: with the race detector, this machine may be too slow for the rate; go test without -short runs it")
	}
	t.Parallel()
	const network, rate = "127.70.0.0/23", "5k"
	cfg, port := serve(t, fleet.Config{Network: netip.MustParsePrefix(network), Seed: 11, Hostile: 0.3})
	census := filepath.Join(t.TempDir(), "census.ndjson.zst")
	ran(t, "scan", network, "-p", port, "--allow-reserved", "-r", rate, "-o", census, "-q")
	r, err := sink.Open(census)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	report, err := fleetjudge.Compare(cfg, scanner.AskAll, r.Next)
	if err != nil {
		t.Fatal(err)
	}
	if report.AsTheyAre != report.Servers || report.Twice+report.Invented > 0 {
		t.Errorf("%+v", report)
	}
	b, err := os.ReadFile(census + ".summary.json")
	var s struct {
		Datagrams struct {
			Drops uint64 `json:"kernel_drops"`
		}
		Peak int64 `json:"peak_bytes"`
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil || s.Peak == 0 || s.Peak > scanner.DefaultByteBudget {
		t.Errorf("%v: %d bytes held", err, s.Peak)
	}
	t.Logf("%d of %d as they are, %d bytes held, the kernel dropped %d datagrams",
		report.AsTheyAre, report.Servers, s.Peak, s.Datagrams.Drops)
}
