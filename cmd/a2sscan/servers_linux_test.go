package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
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
			if n := readSummary(t, census+".summary.json").Datagrams.Conflicts; n > 0 {
				t.Errorf("%d conflicts", n)
			}
		})
	}
}

// TestLateAnswer: a server answers while the last request for its INFO waits for the rate.
// The scan asks it for the rest and ends.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	late, busy := listenUDP(t), listenUDP(t)
	scanner := make(chan net.Addr, 1)
	// The follow-ups to the busy server go out before the retry at the late one.
	go serveUDP(busy, func(n int, from net.Addr, req wire.Request) []byte {
		if n == 6 {
			scanner <- from
		}
		return wire.AppendChallenge(nil, wire.Challenge(n))
	})
	go serveUDP(late, func(n int, from net.Addr, req wire.Request) []byte {
		switch req.Kind {
		case wire.KindPlayersRequest:
			return wire.AppendPlayers(nil, 0, nil)
		case wire.KindRulesRequest:
			return wire.AppendRules(nil, 0, nil)
		}
		if n > 1 {
			return infoReply // on a slow machine, the last request may go out before the answer
		}
		return nil
	})
	go func() { late.WriteTo(infoReply, <-scanner) }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "a2sscan", "scan", "-q", "--allow-reserved", "--timeout", "1s", "--cooldown", "0",
		"--retries", "1", "-r", "2", "--per-address-rate", "0", "--order", "input", late.LocalAddr().String(), busy.LocalAddr().String()).Output()
	if err != nil {
		t.Fatalf("%v, %v\n%s", ctx.Err(), err, out)
	}
	if !strings.Contains(string(out), `"addr":"`+late.LocalAddr().String()+`"`) || strings.Count(string(out), `"status":"ok"`) != 1 {
		t.Errorf("%s", out)
	}
}

var infoReply = wire.AppendInfo(nil, &wire.Info{
	Format: wire.FormatSource, Name: []byte("late"), Has: wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder |
		wire.HasGame | wire.HasAppID | wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasServerType |
		wire.HasEnvironment | wire.HasPassword | wire.HasVAC | wire.HasVersion,
})

func listenUDP(t *testing.T) net.PacketConn {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// serveUDP replies to the requests that come, which it counts from 1, until c is closed.
func serveUDP(c net.PacketConn, reply func(n int, from net.Addr, req wire.Request) []byte) {
	b := make([]byte, 64)
	for n := 1; ; n++ {
		size, from, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		if req, err := wire.DecodeRequest(b[:size]); err == nil {
			if answer := reply(n, from, req); answer != nil {
				c.WriteTo(answer, from)
			}
		}
	}
}
