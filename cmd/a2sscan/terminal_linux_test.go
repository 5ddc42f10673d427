package main

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
)

// terminalCosts holds the losses of a scan and the number of complete servers.
type terminalCosts struct {
	Datagrams struct {
		KernelDrops uint64 `json:"kernel_drops"`
	} `json:"datagrams"`
	Targets struct {
		ByStatus map[string]uint64 `json:"by_status"`
	} `json:"targets"`
}

// TestTerminalCostsNothing scans the same servers three times: to a file, to a terminal
// that also shows the status, and to a terminal that reads nothing until the status, on
// another terminal, says that the scan waits for it. No scan may lose a datagram because
// of its output, and each must find and show all servers.
func TestTerminalCostsNothing(t *testing.T) {
	skipShort(t)
	network := netip.MustParsePrefix("127.73.0.0/18")
	_, port := serve(t, fleet.Config{Network: network, Kinds: []fleet.Kind{fleet.Source}})
	network = netip.PrefixFrom(network.Addr(), 20)
	servers := 1 << 12
	summary := filepath.Join(t.TempDir(), "summary")
	scan := func(args ...string) *exec.Cmd {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		t.Cleanup(cancel)
		return exec.CommandContext(ctx, "a2sscan", append([]string{"scan", network.String(), "-p", port, "--allow-reserved",
			"--query", "info", "--rate", "20k", "--retries", "5", "--timeout", "5s", "--cooldown", "0", "--summary", summary}, args...)...)
	}
	check := func(t *testing.T, err error, shown string) {
		t.Helper()
		text, _ := os.ReadFile(summary)
		os.Remove(summary)
		var got terminalCosts
		if bad := json.Unmarshal(text, &got); err != nil || bad != nil {
			t.Fatalf("%v, %v:\n%s", err, bad, shown)
		}
		if got.Datagrams.KernelDrops != 0 || got.Targets.ByStatus["ok"] != uint64(servers) {
			t.Errorf("%d datagrams dropped, targets %v", got.Datagrams.KernelDrops, got.Targets.ByStatus)
		}
	}
	rows := func(t *testing.T, shown string) {
		t.Helper()
		if n := strings.Count(shown, ":"+port+" "); n != servers {
			t.Errorf("%d rows for %d servers:\n%.2000s", n, servers, shown)
		}
	}

	t.Run("file", func(t *testing.T) {
		out, err := scan("-o", filepath.Join(t.TempDir(), "census.ndjson")).CombinedOutput()
		check(t, err, string(out))
	})
	t.Run("terminal", func(t *testing.T) {
		cmd := scan()
		screen, tty := terminalPair(t)
		cmd.Stdout, cmd.Stderr = tty, tty
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		shown := watchFor(screen, "", nil)
		check(t, cmd.Wait(), shown)
		rows(t, shown)
	})
	t.Run("stalled terminal", func(t *testing.T) {
		// These are more than what the scan holds for a terminal that reads nothing.
		network, servers = netip.PrefixFrom(network.Addr(), 18), 1<<14
		cmd := scan()
		screen, tty := terminalPair(t)
		status, statusTTY := terminalPair(t)
		cmd.Stdout, cmd.Stderr = tty, statusTTY
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		statusTTY.Close()
		waits, said := make(chan struct{}), make(chan string, 1)
		go func() { said <- watchFor(status, "waiting: the output", waits) }()
		select {
		case <-waits:
		case text := <-said:
			t.Fatalf("it ended, and did not wait for the terminal:\n%s", text)
		}
		shown := watchFor(screen, "", nil)
		check(t, cmd.Wait(), <-said)
		rows(t, shown)
	})
}
