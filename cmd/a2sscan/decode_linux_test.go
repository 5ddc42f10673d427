package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/bench/captures"
	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// TestCapturesDecoded decodes every recorded server with the decode command. Its record
// is that of the library's Result, of which TestCaptures of package scanner checks the
// answers and the game.
func TestCapturesDecoded(t *testing.T) {
	out, d := filepath.Join(t.TempDir(), "records.ndjson"), scanner.NewDecoder()
	for _, file := range captures.Files(t) {
		code, _, said := runIn("decode", "--raw", file, "-o", out, "--force")
		if code != console.ExitOK {
			t.Errorf("%s: %d %s", file, code, said)
			continue
		}
		line, err := os.ReadFile(out)
		check(t, err)
		d.Reset()
		for _, datagram := range captures.Datagrams(t, file) {
			d.Add(datagram)
		}
		if want := record.Append(nil, "", d.Result()); !bytes.Equal(line, want) {
			t.Errorf("%s: %s\nwant %s", captures.Name(file), line, want)
		}
		if _, r, err := record.Read(bytes.TrimSpace(line)); err != nil || !bytes.Equal(record.Append(nil, "", r), line) {
			t.Errorf("%s: read again: %v", captures.Name(file), err)
		}
	}
}

// TestCapturesNoFarms: if each recorded server gets an address of its own, no server
// counts as part of a farm. The recordings include servers of one owner, and servers
// that were recorded many times.
func TestCapturesNoFarms(t *testing.T) {
	files, dir := captures.Files(t), t.TempDir()
	records, placed := filepath.Join(dir, "records.ndjson"), filepath.Join(dir, "placed.ndjson")
	ran(t, append([]string{"decode", "-o", records}, files...)...)
	text, err := os.ReadFile(records)
	check(t, err)
	var lines []byte
	n := 0
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(`{"schema":1,`))
		if !ok || bytes.HasPrefix(rest, []byte(`"ip":`)) {
			t.Fatalf("%.100s", line)
		}
		lines = fmt.Appendf(lines, `{"schema":1,"ip":"203.0.%d.%d","port":27015,%s`, 100+n/256, n%256, rest)
		n++
	}
	check(t, os.WriteFile(placed, lines, 0o666))
	var stats census.Stats
	check(t, json.Unmarshal(ran(t, "stats", placed), &stats))
	t.Logf("%d captures, %d servers, %d farms", len(files), stats.All.Servers, stats.Farms.Found)
	if stats.All.Servers < uint64(len(files)) || stats.Farms.Found != 0 {
		t.Errorf("%d servers of %d captures; farms: %+v", stats.All.Servers, len(files), stats.Farms.Top)
	}
}

// ran runs the program and returns what it printed. It does so in another process,
// because commands tune the garbage collector for themselves.
func ran(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "a2sscan", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v %s", args, err, stderr.String())
	}
	return out
}

// TestDecodeAgain: the records that scan --raw writes, for a bad network with hostile
// servers of all kinds, are the same when they are decoded again.
func TestDecodeAgain(t *testing.T) {
	skipShort(t)
	t.Parallel()
	_, port := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.68.0.0/24"), Seed: 7,
		Hostile: 0.3, Loss: 0.02, Duplicate: 0.02, Reorder: 0.02,
	})
	census := filepath.Join(t.TempDir(), "census.ndjson")
	ran(t, "scan", "127.68.0.0/24", "-p", port, "--allow-reserved", "--raw", "--unanswered",
		"--retries", "1", "--timeout", "300ms", "--cooldown", "0", "--scan-id", "s", "-o", census, "-q")
	want, err := os.ReadFile(census)
	check(t, err)
	again, err := exec.CommandContext(t.Context(), "a2sscan", "decode", "--raw", census).Output()
	check(t, err)
	lines := 0
	next, stop := iter.Pull(bytes.Lines(again))
	defer stop()
	for line := range bytes.Lines(want) {
		lines++
		if decoded, _ := next(); !bytes.Equal(decoded, line) {
			t.Errorf("%s decodes to %s", line, decoded)
		}
	}
	if lines != 256 || bytes.Count(again, []byte{'\n'}) != lines {
		t.Errorf("%d records, decoded to %d", lines, bytes.Count(again, []byte{'\n'}))
	}
}
