package main

import (
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

// TestNewCounter: a row that is added to the table of counters is in the summary, in the
// closing lines, in the metrics, in the status lines, in the log, and in a merged summary.
func TestNewCounter(t *testing.T) {
	table := ledger.Table
	defer func() { ledger.Table = table }()
	ledger.Table = append(slices.Clone(table), ledger.Counter{
		Name: "invented", Section: ledger.Traffic, Metric: "invented_total", Help: "Invented.",
		Status: "devised", Text: "contrived", Log: true, Count: func(*ledger.Source) uint64 { return 7 },
	})
	network := netip.MustParsePrefix("127.80.7.0/28")
	_, port := serve(t, fleet.Config{Network: network, Kinds: []fleet.Kind{fleet.Source}})
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	var said strings.Builder
	var metrics scraped
	url := ""
	hear := func(line string) {
		said.WriteString(line + "\n")
		if at, ok := strings.CutPrefix(line, "a2sscan: metrics: http"); ok && url == "" {
			url = "http" + at
		}
		if strings.HasPrefix(line, "         summary ") && metrics == nil {
			metrics = scrape(t, url)
		}
	}
	command := func(args ...string) {
		t.Helper()
		if code := run(args, strings.NewReader(""), io.Discard, &listener{hear: hear}); code != console.ExitOK {
			t.Fatalf("exit code %d: %s", code, &said)
		}
	}
	for _, shard := range []string{"0/2", "1/2"} {
		command("scan", network.String(), "-p", port, "--allow-reserved", "--cooldown", "0", "--shard", shard, "-v", "--status", "json",
			"--metrics", "0", "--log-file", log, "-o", filepath.Join(dir, shard[:1]+".ndjson"))
	}
	merged := filepath.Join(dir, "all.ndjson")
	command("merge", filepath.Join(dir, "0.ndjson"), filepath.Join(dir, "1.ndjson"), "-o", merged)

	lines, err := os.ReadFile(log)
	check(t, err)
	for where, has := range map[string]bool{
		"summary":       readSummary(t, filepath.Join(dir, "0.ndjson.summary.json")).Datagrams.N("invented") == 7,
		"closing lines": strings.Contains(strings.Join(strings.Fields(said.String()), " "), " contrived 7 "),
		"metrics":       metrics.value("invented_total", "") == 7,
		"status":        strings.Contains(said.String(), `,"devised":7`),
		"log":           strings.Contains(string(lines), " invented=7 "),
		"merged":        readSummary(t, merged+".summary.json").Datagrams.N("invented") == 14,
	} {
		if !has {
			t.Errorf("no new counter in: %s\n%s", where, &said)
		}
	}
}
