package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/bits"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/simulation"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/wire"
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

var million = flag.Int("million", 300, "how many servers `N` the nights of TestMillion have; the long form is 1000000")

// mostMemory and leastReading are limits that TestMillion checks, the second only with
// 100,000 servers or more.
const (
	mostMemory   = 1 << 30 // maximum peak resident set of stats, diff and report, in bytes
	leastReading = 0.60    // minimum speed of reading, as a fraction of that of zstd -dc
	ruledEvery   = 12      // the second night changes a rule of every 12th server
)

// TestMillion runs diff, stats and report on two nights of a large fleet, checks their
// memory, and compares the speed of reading with that of zstd -dc. It only prints the
// times, because they depend on the machine.
func TestMillion(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	for night, name := range []string{"old.ndjson.zst", "new.ndjson.zst"} {
		writeNight(t, filepath.Join(dir, name), uint64(night), *million)
	}
	base := measure(t, dir, "version").memory
	out := filepath.Join(dir, "out")
	for _, args := range [][]string{
		{"stats", "old.ndjson.zst", "-o", out + ".stats"},
		{"diff", "old.ndjson.zst", "new.ndjson.zst", "-o", out},
		{"diff", "--volatile", "old.ndjson.zst", "new.ndjson.zst", "-o", out},
		{"report", "new.ndjson.zst", "--before", "old.ndjson.zst", "--history", "nights", "-o", "page.html"},
	} {
		if args[0] == "report" {
			writeHistory(t, filepath.Join(dir, "nights"), out+".stats")
		}
		u := measure(t, dir, args...)
		if u.memory > mostMemory {
			t.Errorf("%v: %d MiB", args, u.memory>>20)
		}
		if args[0] == "diff" {
			checkRuled(t, out, *million)
		}
	}
	t.Logf("the program by itself: %d MiB", base>>20)
	checkPage(t, filepath.Join(dir, "page.html"))
	compareReading(t, filepath.Join(dir, "old.ndjson.zst"))
}

// writeNight writes the census of a night, as a scan does.
func writeNight(t *testing.T, path string, night uint64, servers int) {
	t.Helper()
	games := append(fleet.UsualKinds(), fleet.Games)
	cfg := fleet.Config{
		Network: netip.MustParsePrefix("127.0.0.0/11"), Ports: []uint16{27015}, Seed: 5, Kinds: games, Night: night,
	}
	c, err := fleet.NewCensus(cfg)
	check(t, err)
	w, err := sink.Create(path, sink.Options{})
	check(t, err)
	start := time.Date(2026, 11, 20+int(night), 3, 0, 0, 0, time.UTC)
	places, n := uint64(0), 0
	for addr := range cfg.All() {
		i := places
		places++
		r := c.Expect(addr, wire.AskAll).Result
		if r == nil {
			continue
		}
		r.Time, r.RTT = start.Add(time.Duration(i)*time.Millisecond), time.Duration(i%200_000)*time.Microsecond
		if night > 0 && isRuled(i) && r.HasRules && r.Err[wire.QuestionRules] == 0 {
			r.Rules = append(r.Rules, wire.Rule{Name: []byte("new_rule"), Value: []byte("1")})
		}
		check(t, w.Write(fmt.Sprint("night-", night), r))
		if n++; n == servers {
			break
		}
	}
	check(t, w.Close())
}

// historyNights returns the number of nights in the history of TestMillion's report.
func historyNights() int {
	if *million < 100_000 {
		return 30
	}
	return 365
}

// writeHistory writes the stats of earlier nights. It copies them from a file, and changes the
// dates and the number of people for each night.
func writeHistory(t *testing.T, dir, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	check(t, err)
	s, err := census.ParseStats(text)
	check(t, err)
	check(t, os.Mkdir(dir, 0o777))
	for range historyNights() {
		for _, at := range []*census.Moment{s.First, s.Last} {
			at.Time = at.AddDate(0, 0, -1)
		}
		s.All.People -= s.All.People / 1000
		if text, err = json.MarshalIndent(s, "", " "); err != nil {
			t.Fatal(err)
		}
		check(t, os.WriteFile(filepath.Join(dir, s.First.Format("20060102.stats.json")), text, 0o666))
	}
	t.Logf("%d nights of %d kB", historyNights(), len(text)/1000)
}

// checkPage checks that the page is not too large and contains the history.
func checkPage(t *testing.T, path string) {
	t.Helper()
	page, err := os.ReadFile(path)
	check(t, err)
	t.Logf("the page has %d kB", len(page)/1000)
	if len(page) > report.MaxSize || !bytes.Contains(page, fmt.Append(nil, historyNights()+1, " nights from ")) {
		t.Errorf("%d bytes, or without %d nights", len(page), historyNights()+1)
	}
}

// isRuled reports whether server number place has another rule on the second night.
func isRuled(place uint64) bool { return place%ruledEvery == 0 }

// checkRuled checks that a diff lists the rules that changed.
func checkRuled(t *testing.T, path string, servers int) {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	rules, shown := bytes.Count(text, []byte(`{"change":"rules"`)), bytes.Count(text, []byte(`"new_rule":"1"`))
	t.Logf("%d changes, %d of rules", bytes.Count(text, []byte("\n")), rules)
	if shown < servers/ruledEvery/2 || rules < shown {
		t.Errorf("%d changes of rules, %d show the new one", rules, shown)
	}
}

// usage holds the time and memory that a command took.
type usage struct {
	wall, user, system time.Duration
	memory             int64 // peak resident set
}

func (u usage) String() string {
	averages, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(averages), " ")
	return fmt.Sprintf("%.1f s wall, %.1f s user, %.1f s system, %d MiB, load %s",
		u.wall.Seconds(), u.user.Seconds(), u.system.Seconds(), u.memory>>20, load)
}

// measure runs the program, and prints and returns its usage.
func measure(t *testing.T, dir string, args ...string) usage {
	t.Helper()
	return measureCommand(t, dir, "a2sscan", args...)
}

func measureCommand(t *testing.T, dir, name string, args ...string) usage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	var errors bytes.Buffer
	cmd.Stderr = &errors
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, errors.String())
	}
	state := cmd.ProcessState
	u := usage{time.Since(start), state.UserTime(), state.SystemTime(), state.SysUsage().(*syscall.Rusage).Maxrss << 10}
	t.Logf("%s %s: %v", name, strings.Join(args, " "), u)
	return u
}

// compareReading compares the speed of reading a census with that of zstd alone. It runs
// both a few times in turn, and takes the quickest run of each.
func compareReading(t *testing.T, path string) {
	t.Helper()
	zstd, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("SKIPPED, READING WAS NOT COMPARED: there is no zstd in PATH (Debian: package zstd)")
	}
	var alone, ours time.Duration
	for round := range 3 {
		took := measureCommand(t, "", zstd, "-dc", path).wall
		start := time.Now()
		r, err := sink.Open(path)
		check(t, err)
		for err == nil {
			_, err = r.Next()
		}
		r.Close()
		if err != io.EOF || r.Damage().Found() {
			t.Fatal(r.Damage(), err)
		}
		mine := time.Since(start)
		if round == 0 || took < alone {
			alone = took
		}
		if round == 0 || mine < ours {
			ours = mine
		}
	}
	ratio := alone.Seconds() / ours.Seconds()
	t.Logf("zstd -dc %v, reading %v: %.2f of its speed", alone, ours, ratio)
	if *million >= 100_000 && ratio < leastReading {
		t.Errorf("reading has %.2f of the speed of zstd -dc, want %.2f", ratio, leastReading)
	}
}
