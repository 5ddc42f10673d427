package main

import (
	"context"
	"flag"
	"net/netip"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/simulation"
	"github.com/a2sscan/a2sscan/sink"
)

// masterNetwork is a small network by default. With 127.72.0.0/16 there are more
// than 100,000 servers, and the scans take minutes.
var masterNetwork = flag.String("master-network", "127.72.0.0/24",
	"the `NETWORK` inside 127.0.0.0/8 that TestMasterToScan has servers on")

// serveMaster runs a master of a fleet until the test ends.
func serveMaster(t *testing.T, c fleet.MasterConfig) *fleet.Master {
	t.Helper()
	m, err := fleet.NewMaster(c)
	if err == nil {
		err = m.Listen()
	}
	check(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return m
}

// TestMasterToScan goes from a master to a census in one line of shell, and compares
// the census with the fleet. The list is passed as text, as JSON, through a file, and
// within one command.
func TestMasterToScan(t *testing.T) {
	t.Parallel()
	network := netip.MustParsePrefix(*masterNetwork)
	long := network.Bits() <= 20
	cfg, _ := serve(t, fleet.Config{
		Network: network, Ports: []uint16{0, 0}, Kinds: kinds(long), Alive: 0.78, Seed: 60,
	})
	m := serveMaster(t, fleet.MasterConfig{Fleet: cfg, Also: []netip.AddrPort{
		netip.MustParseAddrPort("0.0.0.0:27015"), netip.MustParseAddrPort("127.72.0.1:0"),
	}})
	effort := "--rate 15k --timeout 500ms --retries 4"
	if !long {
		effort = "--rate 3k --timeout 400ms --retries 3"
	}
	const (
		udp  = `a2sscan master --udp "$MASTER" -q `
		web  = `a2sscan master --url "$WEB" -q `
		scan = `a2sscan scan -v --allow-reserved $EFFORT --cooldown 100ms -o "$OUT" `
	)
	tests := []struct {
		name, script string
		keepsMaster  bool
	}{
		{"text", udp + "| " + scan, false},
		{"web", web + "--json | " + scan + "--keep-master", true},
		{"file", web + `--json -o "$OUT.list"; ` + scan + `--keep-master "$OUT.list"`, true},
		{"one command", scan + `--master "$MASTER"`, false},
		{"one command, web", scan + `--master "$WEB" --keep-master`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if !long {
				t.Parallel() // most of the time they wait for slow servers
			}
			out := filepath.Join(t.TempDir(), "census.ndjson.zst")
			cmd := exec.Command("sh", "-euc", test.script)
			cmd.Env = append(cmd.Environ(), "MASTER="+m.UDPAddr(), "WEB="+m.URL(), "OUT="+out, "EFFORT="+effort, masterlist.KeyVariable+"=any")
			said, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			if !strings.Contains(string(said), " 2 unscannable ") {
				t.Errorf("0.0.0.0 and port 0 are not counted:\n%s", said)
			}
			report, err := simulation.CompareFile(cfg, out)
			if err != nil || !simulation.Proven(report) || report.Servers == 0 {
				t.Errorf("%v %s\n%s\n%s", err, simulation.Proof(report), strings.Join(report.Examples, "\n"), said)
			}
			t.Logf("%s\n%s", simulation.Proof(report), regexp.MustCompile(`(?m)^.*(rate|targets): .*$`).FindAllString(string(said), -1))
			checkKept(t, out, test.keepsMaster)
		})
	}
}

// checkKept fails the test unless every record has the master's entry or, if want is
// false, no record has it.
func checkKept(t *testing.T, census string, want bool) {
	t.Helper()
	r, err := sink.Open(census)
	check(t, err)
	defer r.Close()
	for {
		line, err := r.Next()
		if err != nil {
			return
		}
		if got := strings.Contains(string(line), `,"master":{`); got != want {
			t.Fatalf("record with the master's entry: %v: %.600s", got, line)
		}
	}
}
