package main

import (
	"encoding/json"
	"net/netip"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// TestFleetOfGames scans servers of all games, and fakers among them, as a user would.
// The records match the simulated servers, and at least nine of ten servers of each
// kind of faker have its flag.
func TestFleetOfGames(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	t.Parallel()
	const network = "127.70.16.0/22"
	cfg, port := serve(t, fleet.Config{
		Network: netip.MustParsePrefix(network), Seed: 2, Kinds: []fleet.Kind{fleet.Games}, Fakes: 0.6,
	})
	census := filepath.Join(t.TempDir(), "census.ndjson.zst")
	ran(t, "scan", network, "-p", port, "--allow-reserved", "-r", "5k", "--retries", "5", "-o", census, "-q")
	r, err := sink.Open(census)
	check(t, err)
	defer r.Close()
	flags := map[fleet.Kind]map[string]int{}
	next := func() ([]byte, error) {
		line, err := r.Next()
		if err == nil {
			countFlags(t, cfg, flags, line)
		}
		return line, err
	}
	report, err := fleetjudge.Compare(cfg, scanner.AskAll, next)
	check(t, err)
	if report.AsTheyAre != report.Servers || report.Twice+report.Invented > 0 {
		t.Errorf("%+v", report)
	}
	for kind, flag := range map[fleet.Kind]string{
		fleet.CountsOnly: "count_mismatch", fleet.TinyDurations: "tiny_durations", fleet.EqualDurations: "equal_durations",
		fleet.OverMax: "players_over_max", fleet.NoGSLT: "no_gslt", fleet.Redirects: "redirect",
		fleet.EdgeCache: "edge_answers", fleet.InfoFlood: "reply_flood",
	} {
		if all := flags[kind][""]; flags[kind][flag] < all*9/10 {
			t.Errorf("%v: flag %s on %d of %d servers", kind, flag, flags[kind][flag], all)
		}
	}
	t.Logf("%d of %d as they are; flags of honest servers: %v", report.AsTheyAre, report.Servers, flags[fleet.Games])
}

// countFlags counts the flags of a record by the kind of its server. Under "" it
// counts the records.
func countFlags(t *testing.T, cfg fleet.Config, flags map[fleet.Kind]map[string]int, line []byte) {
	var rec struct {
		Addr  netip.AddrPort
		Flags []string
	}
	check(t, json.Unmarshal(line, &rec))
	n, _ := cfg.Nature(rec.Addr)
	if flags[n.Kind] == nil {
		flags[n.Kind] = map[string]int{}
	}
	flags[n.Kind][""]++
	for _, word := range rec.Flags {
		flags[n.Kind][word]++
	}
}
