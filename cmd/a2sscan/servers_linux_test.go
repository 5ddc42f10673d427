package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
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
	// The receive buffer has room for what eight servers may send at once, so that the kernel
	// drops nothing when the machine is busy.
	ran(t, "scan", network, "-p", port, "--allow-reserved", "-r", "5k", "--retries", "5", "--in-flight", "8", "-o", census, "-q")
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
	report, err := fleetjudge.Compare(cfg, wire.AskAll, next)
	check(t, err)
	if report.AsTheyAre != report.Servers || report.Twice+report.Invented > 0 {
		t.Errorf("%+v", report)
	}
	for kind, flag := range map[fleet.Kind]string{
		fleet.CountsOnly: "count_mismatch", fleet.TinyDurations: "tiny_durations", fleet.EqualDurations: "equal_durations",
		fleet.OverMax: "players_over_max", fleet.NoGSLT: "no_gslt", fleet.Redirects: "redirect",
		fleet.EdgeCache: "edge_answers", fleet.InfoFlood: "reply_flood",
	} {
		all := flags[kind][""]
		least := all * 9 / 10
		if kind == fleet.EdgeCache || kind == fleet.InfoFlood {
			least = min(1, all) // these flags depend on times, and on how many replies a busy machine reads
		}
		if flags[kind][flag] < least {
			t.Errorf("%v: flag %s on %d of %d servers", kind, flag, flags[kind][flag], all)
		}
	}
	t.Logf("%d of %d as they are; flags of honest servers: %v", report.AsTheyAre, report.Servers, flags[fleet.Games])
}

// TestBombs: replies in bzip2 that unpack to far more than a reply may have, or that are
// damaged, cost the honest servers beside them nothing. The honest servers do not pack their
// replies, because a busy machine may need more time for them than a reply gets.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	t.Parallel()
	const network = "127.93.4.0/24"
	cfg, port := serve(t, fleet.Config{
		Network: netip.MustParsePrefix(network), Seed: 7, Kinds: []fleet.Kind{fleet.Split, fleet.Source}, Hostile: 0.5,
		HostileKinds: []fleet.Kind{fleet.Bomb, fleet.DeclaresTwoGiB, fleet.Noise, fleet.WrongChecksum},
	})
	census := filepath.Join(t.TempDir(), "census.ndjson.zst")
	ran(t, "scan", network, "-p", port, "--allow-reserved", "-r", "5k", "--retries", "5", "-o", census, "-q")
	r, err := sink.Open(census)
	check(t, err)
	defer r.Close()
	report, err := fleetjudge.Compare(cfg, wire.AskAll, r.Next)
	check(t, err)
	if report.AsTheyAre != report.Servers || report.Servers != 256 || report.Twice+report.Invented > 0 {
		t.Errorf("%+v", report)
	}
	if sum := readSummary(t, census+".summary.json"); sum.PeakRSS > 512<<20 { // DeclaresTwoGiB declares four times as much
		t.Errorf("the scan took %d bytes of memory", sum.PeakRSS)
	}
}

// TestLittleMemory: a scan that may use 64 MiB, with the pages that it writes, is not killed,
// and writes everything.
func TestLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	t.Parallel()
	group := limitMemory(t, 64<<20)
	const network = "127.93.64.0/19"
	_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix(network), Kinds: []fleet.Kind{fleet.Source}})
	census := filepath.Join(t.TempDir(), "census.ndjson")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `echo $$ >"$0"/cgroup.procs && exec a2sscan "$@"`, group,
		"scan", network, "-p", port, "--allow-reserved", "-r", "5k", "--retries", "5", "-q", "-o", census, "--checkpoint", census+".checkpoint")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if n := readSummary(t, census+".summary.json").Records; n != 8192 {
		t.Errorf("%d records", n)
	}
	ran(t, "verify", census)
}

// limitMemory makes a control group with a memory limit. It skips the test if this machine
// can't make one.
func limitMemory(t *testing.T, most int) (group string) {
	t.Helper()
	for root, file := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		group = filepath.Join(root, fmt.Sprintf("a2sscan-test-%d", os.Getpid()))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(group) })
		if os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(most)), 0) == nil {
			return group
		}
		os.Remove(group)
	}
	t.Skip("SKIPPED, NO MEMORY WAS LIMITED: this needs root and a control group for memory")
	return ""
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

// infoReply is an answer to a request for INFO.
var infoReply = wire.AppendInfo(nil, &wire.Info{
	Format: wire.FormatSource, Name: []byte("late"), Has: wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder |
		wire.HasGame | wire.HasAppID | wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasServerType |
		wire.HasEnvironment | wire.HasPassword | wire.HasVAC | wire.HasVersion,
})
