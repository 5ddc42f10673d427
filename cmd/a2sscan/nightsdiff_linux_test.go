package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/sink/census"
)

var nightly = flag.Int("nights", 640, "how many servers `N` TestNights scans; the long form is 65536")

// nightLoss is the share of datagrams that the lossy night of TestNights loses, each way.
const nightLoss = 0.01

// TestNights scans servers on two nights with known changes of every kind. diff finds all
// of them and invents none. Its output is the same for one scan, for three shards in
// parts, and for shuffled records. A scan that loses datagrams misses some servers, and
// diff marks each of those as a likely loss.
func TestNights(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	t.Parallel()
	n, dir := startNights(t, *nightly), t.TempDir()
	n.begin(t, false, 0)
	n.scan(t, dir, "old.ndjson.zst", false)
	n.begin(t, true, 0)
	shards := n.scanLater(t, dir)
	first := n.diff(t, dir, []string{"old.ndjson.zst"}, []string{"new.ndjson.zst"})
	missing, invented := n.check(t, first)
	if len(missing)+len(invented) > 0 {
		t.Errorf("%d changes are missing: %q; %d are invented: %+v", len(missing), missing[:min(10, len(missing))], len(invented), invented[:min(10, len(invented))])
	}
	t.Logf("%d changes of %d servers, %d reported: %d are missing, %d invented",
		len(n.changes()), n.servers, bytes.Count(first, []byte("\n")), len(missing), len(invented))

	shuffleFile(t, filepath.Join(dir, "old.ndjson.zst"), filepath.Join(dir, "shuffled.ndjson"))
	again := n.diff(t, dir, []string{"shuffled.ndjson"}, shards)
	compareDiffs(t, timeless(again), timeless(first))

	n.begin(t, true, nightLoss)
	n.scan(t, dir, "lossy.ndjson.zst", true)
	n.checkLossy(t, n.diff(t, dir, []string{"old.ndjson.zst"}, []string{"lossy.ndjson.zst"}))
}

// scan scans the targets of a night.
func (n *nights) scan(t *testing.T, dir, output string, later bool, more ...string) {
	t.Helper()
	if err := n.tryScan(t, dir, output, later, more...); err != nil {
		t.Fatal(err)
	}
}

// tryScan does what scan does, and returns the error.
func (n *nights) tryScan(t *testing.T, dir, output string, later bool, more ...string) error {
	list := output + ".list"
	if err := os.WriteFile(filepath.Join(dir, list), n.targets(later), 0o666); err != nil {
		return err
	}
	return tryAt(t, dir, append([]string{"scan", list, "--allow-reserved", "--unanswered", "-q", "--cooldown", "0", "-r", n.scanRate(),
		"--timeout", n.scanTimeout().String(), "-o", output}, more...)...)
}

// scanLater scans the second night twice: in one scan, and in three shards, each of
// several parts. It returns the files of the shards, the last one first.
func (n *nights) scanLater(t *testing.T, dir string) (files []string) {
	t.Helper()
	scans := []func() error{func() error { return n.tryScan(t, dir, "new.ndjson.zst", true) }}
	for i := range 3 {
		scans = append(scans, func() error {
			return n.tryScan(t, dir, fmt.Sprintf("shard%d.ndjson", i), true, "--shard", fmt.Sprintf("%d/3", i), "--rotate", n.partSize())
		})
	}
	atOnce(t, scans...)
	files, err := filepath.Glob(filepath.Join(dir, "shard*Z-*.ndjson"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%q, %v: want several parts", files, err)
	}
	slices.Reverse(files)
	return files
}

// diff compares two nights.
func (n *nights) diff(t *testing.T, dir string, before, after []string) []byte {
	t.Helper()
	args := []string{"diff", "--volatile", before[0], after[0], "-o", "diff.ndjson"}
	for _, file := range before[1:] {
		args = append(args, "--old", file)
	}
	for _, file := range after[1:] {
		args = append(args, "--new", file)
	}
	runAt(t, dir, args...)
	text, err := os.ReadFile(filepath.Join(dir, "diff.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "diff.ndjson")); err != nil {
		t.Fatal(err)
	}
	return text
}

// scanDependent matches the parts of a diff that differ from scan to scan: the estimated
// loss, and a flag that servers get on a busy machine.
var scanDependent = regexp.MustCompile(`,"loss_chance":[0-9.e-]+|,"likely_loss":true|,"flags":\["edge_answers"\]`)

// timeless returns a diff without the parts that scanDependent matches.
func timeless(diff []byte) []byte { return scanDependent.ReplaceAll(diff, nil) }

// compareDiffs fails the test if two diffs differ, and shows the first line that does.
func compareDiffs(t *testing.T, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	x, y := bytes.SplitAfter(got, []byte("\n")), bytes.SplitAfter(want, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			t.Errorf("line %d of %d:\n%s\nwant, of %d:\n%s", i, len(x), x[i], len(y), y[i])
			return
		}
	}
	t.Errorf("%d lines, want %d", len(x), len(y))
}

// check returns the changes that diff did not find, and those that did not happen.
func (n *nights) check(t *testing.T, diff []byte) (missing []string, invented []census.Change) {
	t.Helper()
	left := n.changes()
	for line := range bytes.Lines(diff) {
		var c census.Change
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		key := change(c.Kind, c.Addr)
		if !left[key] {
			invented = append(invented, c)
		}
		delete(left, key)
	}
	return slices.Sorted(maps.Keys(left)), invented
}

// checkLossy checks a diff with a lossy night. At most two servers or, if that is more,
// one in 10,000 may be wrong. The only changes that may be invented are servers
// reported as gone, and each of these must be marked as a likely loss.
func (n *nights) checkLossy(t *testing.T, diff []byte) {
	t.Helper()
	missing, invented := n.check(t, diff)
	wrong := map[string]bool{}
	for _, c := range invented {
		wrong[c.Addr] = true
		// Loss can make a live server silent, and hide whether it demands a challenge.
		if c.Kind != "challenge" && (c.Kind != "gone" || c.LossChance == 0) {
			t.Errorf("invented: %+v", c)
		}
	}
	for _, key := range missing {
		_, addr, _ := strings.Cut(key, " ")
		wrong[addr] = true
	}
	t.Logf("loss of %v each way: %d servers called gone that are there, %d changes not found", nightLoss, len(invented), len(missing))
	if len(wrong) > max(2, n.servers/10_000) {
		t.Errorf("%d servers are wrong: %q", len(wrong), slices.Sorted(maps.Keys(wrong)))
	}
}

// shuffleFile writes the records of a census in another order, and not compressed.
func shuffleFile(t *testing.T, from, to string) {
	t.Helper()
	lines := bytes.SplitAfter(ran(t, "cat", "--format", "json", from), []byte("\n"))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	if err := os.WriteFile(to, bytes.Join(lines, nil), 0o666); err != nil {
		t.Fatal(err)
	}
}
