package main

import (
	"errors"
	"flag"
	"fmt"
	"math/bits"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/simulation"
)

var shards = flag.Int("shards", 6, "how many scans `N` share the list of TestShards; the long form is 16")

// TestShards: several scans share a list, and half of them are killed and resumed.
// Their merged census has the same records and the same ledger as a single scan.
func TestShards(t *testing.T) {
	t.Parallel()
	cfg, _ := serve(t, fleet.Config{
		Network: netip.PrefixFrom(netip.MustParseAddr("127.102.0.0"), 32-bits.Len(uint(20**shards))),
		Kinds:   kinds(*shards >= 16), Alive: 0.9, Seed: 5, DelayMax: 20 * time.Millisecond,
	})
	dir := t.TempDir()
	writeTargets(t, filepath.Join(dir, "servers.txt"), cfg)
	var parts []string
	for i := range *shards {
		parts = append(parts, fmt.Sprintf("s%02d.ndjson.zst", i))
	}
	scans := []func() error{func() error { return tryAt(t, dir, scanServers("-r", "2k", "-o", "one.ndjson.zst")...) }}
	for i, output := range parts {
		scans = append(scans, func() error { return scanShard(t, dir, i, output) })
	}
	atOnce(t, scans...)
	check(t, tryAt(t, dir, append([]string{"merge", "-o", "all.ndjson.zst"}, parts...)...))
	merged, one := readSummary(t, filepath.Join(dir, "all.ndjson.zst.summary.json")), readSummary(t, filepath.Join(dir, "one.ndjson.zst.summary.json"))
	if !reflect.DeepEqual(merged.Targets, one.Targets) || !reflect.DeepEqual(merged.Plan, one.Plan) {
		t.Errorf("merged %+v %+v\none scan %+v %+v", merged.Targets, merged.Plan, one.Targets, one.Plan)
	}
	if merged.Servers != one.Servers || merged.Players != one.Players {
		t.Errorf("merged: %d servers, %d players; one scan: %d, %d", merged.Servers, merged.Players, one.Servers, one.Players)
	}
	report, err := simulation.CompareFile(cfg, filepath.Join(dir, "all.ndjson.zst"))
	if err != nil || report.Servers == 0 || !simulation.Proven(report) {
		t.Errorf("%v, %+v", err, report)
	}
}

// scanServers returns the arguments of all scans of TestShards.
func scanServers(more ...string) []string {
	return append([]string{"scan", "servers.txt", "--allow-reserved", "--timeout", "2s", "--cooldown", "0", "-q"}, more...)
}

// scanShard scans one shard. Every second shard is killed once: when its checkpoint
// has been written, or when its output is durable.
func scanShard(t *testing.T, dir string, i int, output string) error {
	args := scanServers("-o", output, "--checkpoint", output+".checkpoint", "--shard", fmt.Sprintf("%d/%d", i, *shards), "-r", "125")
	if i%2 == 0 {
		step := []string{"checkpoint.written", "output.synced", "file.renamed"}[i/2%3]
		cmd := exec.CommandContext(t.Context(), "dies", append([]string{step, "1"}, args...)...)
		cmd.Dir = dir
		if err := cmd.Run(); err == nil {
			return fmt.Errorf("shard %d did not die at %s", i, step)
		}
	}
	return tryAt(t, dir, args...)
}

// atOnce runs functions that mostly wait at the same time. In contrast to parallel
// subtests, they do not queue behind all other tests.
func atOnce(t *testing.T, all ...func() error) {
	t.Helper()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, do := range all {
		wg.Go(func() { errs[i] = do() })
	}
	wg.Wait()
	check(t, errors.Join(errs...))
}

// tryAt runs the program in a directory. If it fails, the error has what it printed.
func tryAt(t *testing.T, dir string, args ...string) error {
	cmd := exec.CommandContext(t.Context(), "a2sscan", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return nil
}

// kinds returns the kinds of servers of a test: all usual kinds in its long form, and
// otherwise those that answer every question. A scan waits five seconds for the others.
func kinds(long bool) []fleet.Kind {
	if long {
		return fleet.UsualKinds()
	}
	return slices.DeleteFunc(fleet.UsualKinds(), func(k fleet.Kind) bool { return k == fleet.InfoOnly || k == fleet.Silent })
}

// writeTargets writes the list of a fleet, with a bad line and a duplicate.
func writeTargets(t *testing.T, path string, cfg fleet.Config) {
	t.Helper()
	var b []byte
	first := ""
	for at := range cfg.All() {
		if first == "" {
			first = at.String()
		}
		b = fmt.Appendln(b, at)
	}
	b = fmt.Appendf(b, "no server\n%s\n", first)
	check(t, os.WriteFile(path, b, 0o666))
}
