package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// kills is how many runs TestKill ends, over all its commands.
var killSeed = flag.Uint64("kill-seed", 0, "the seed `N` of TestKill, to repeat a run; 0: another one each time")

var kills = flag.Int("kills", 6, "how many `N` scans TestKill kills; the long form is 100")

// dies is the program, which kills itself when it has done a step so often:
//
//	dies STEP TIMES scan …
//
// The windows between two changes of files are too narrow to be hit by chance.
func dies() {
	name, times := os.Args[1], os.Args[2]
	left, err := strconv.Atoi(times)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	checkpoint.Step = func(now string) {
		mu.Lock()
		defer mu.Unlock()
		if now == name {
			left--
		}
		if left == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	os.Args = append(os.Args[:1], os.Args[3:]...)
	main()
}

// killSteps are the steps after which a scan may die, and how often each is
// done at most in a scan of this test.
var killSteps = map[string]int{
	"checkpoint.temporary-written": 4,
	"checkpoint.temporary-synced":  4,
	"checkpoint.renamed":           4,
	"checkpoint.written":           4,
	"checkpoint.removed":           1,
	"output.created":               1,
	"silent.written":               3,
	"output.written":               3,
	"output.synced":                3,
	"summary.written":              1,
}

// killed is one scan that is killed again and again.
type killed struct {
	*testing.T
	rng  *rand.Rand
	dir  string
	cfg  fleet.Config
	args []string
	hits map[string]int // how often each way of dying happened
	last string         // the latest of them

	rotates bool
	named   map[string][]byte // parts that got their names, as they were then
}

// TestKill: a scan that is killed at any moment, and gone on with by the same
// command until it is complete, has every server exactly once, as it is; its
// numbers add up; and whenever it dies, what it wrote can be read.
func TestKill(t *testing.T) {
	t.Parallel() // it waits for scans, most of the time
	cfg := fleet.Config{
		Network: netip.MustParsePrefix("127.67.0.0/22"),
		Alive:   0.9, Seed: 3, DelayMax: 20 * time.Millisecond,
	}
	if *kills > 20 {
		cfg.Network = netip.MustParsePrefix("127.67.0.0/21")
	}
	cfg, _ = serve(t, cfg)
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("to repeat: -kill-seed %d", seed)
	hits := map[string]int{}
	for round := 0; deaths(hits) < *kills; round++ {
		k := &killed{T: t, cfg: cfg, dir: t.TempDir(), hits: hits,
			rng: rand.New(rand.NewPCG(seed, uint64(round)))}
		k.prepare(round%2 == 1, round%3 > 0)
		k.toTheEnd()
	}
	t.Logf("%d kills: %v", deaths(hits), hits)
}

// TestKillSteps: a scan that dies the first time that it has done a step is
// complete after the same command again.
func TestKillSteps(t *testing.T) {
	t.Parallel()
	cfg, _ := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.72.0.0/25"),
		Kinds:   []fleet.Kind{fleet.Source}, // which answers everything at once
	})
	for round, how := range slices.Sorted(maps.Keys(killSteps)) {
		if how == "silent.written" {
			continue // nobody is silent here; TestSilentFile has it
		}
		for _, rotates := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s rotates=%v", how, rotates), func(t *testing.T) {
				t.Parallel()
				k := &killed{T: t, cfg: cfg, dir: t.TempDir(), hits: map[string]int{},
					rng: rand.New(rand.NewPCG(1, uint64(round)))}
				k.prepare(round%2 == 0, rotates)
				k.diesOnce(how)
			})
		}
	}
}

// diesOnce has the scan die the first time that it has done a step, and go on.
func (k *killed) diesOnce(how string) {
	k.start(how, exec.CommandContext(k.Context(), "dies", append([]string{how, "1"}, k.args...)...), 0)
	if k.hits[how] != 1 {
		k.Errorf("%s: it did not die", how)
	}
	k.checkKilled(how)
	if _, err := os.Stat(k.path("scan.checkpoint")); err == nil || len(k.files()) == 0 {
		k.start("", exec.CommandContext(k.Context(), "a2sscan", k.args...), 0)
	}
	k.checkEnd()
}

func deaths(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// prepare writes the list and chooses the command.
func (k *killed) prepare(packed, rotates bool) {
	var list bytes.Buffer
	for at := range k.cfg.All() {
		fmt.Fprintf(&list, "%s tag %d\n", at, at.Addr().As4()[3])
	}
	again, _, _ := bytes.Cut(list.Bytes(), []byte("\n"))
	fmt.Fprintf(&list, "no server\n0.0.0.0:27015\n%s\n", again)
	if err := os.WriteFile(k.path("servers.txt"), list.Bytes(), 0o666); err != nil {
		k.Fatal(err)
	}
	output := "census.ndjson"
	if packed {
		output += ".zst"
	}
	k.args = []string{"scan", "servers.txt", "--allow-reserved", "-o", output,
		"--checkpoint", "scan.checkpoint", "-r", "2k", "--timeout", "300ms", "--cooldown", "0", "-q",
		"--summary", "summary.json"}
	if k.rng.IntN(2) == 0 {
		k.args = append(k.args, "--second-look")
	}
	if k.rotates = rotates; rotates {
		k.args = append(k.args, "--rotate", "1s")
		k.named = map[string][]byte{}
	}
}

// files are those of the output, in the order of their names.
func (k *killed) files() []string {
	files, err := filepath.Glob(k.path("census*"))
	if err != nil {
		k.Fatal(err)
	}
	return files
}

func (k *killed) path(name string) string { return filepath.Join(k.dir, name) }

// toTheEnd runs the command until the scan is complete.
func (k *killed) toTheEnd() {
	k.Helper()
	for run := 0; ; run++ {
		if run > 50 {
			k.Fatal("the scan does not come to its end")
		}
		how, alive := k.run(run)
		_, err := os.Stat(k.path("scan.checkpoint"))
		if err != nil && len(k.files()) > 0 {
			break // complete, or there was an output before the first checkpoint
		}
		if alive {
			k.Fatalf("a run that was not killed (%s) left its checkpoint", how)
		}
		k.checkKilled(how)
	}
	k.checkEnd()
}

// run starts the command, and kills it unless there were enough kills. It
// reports whether the run ended by itself.
func (k *killed) run(n int) (how string, alive bool) {
	ctx := k.Context()
	cmd := exec.CommandContext(ctx, "a2sscan", k.args...)
	steps := slices.Sorted(maps.Keys(killSteps))
	choice := k.rng.IntN(2 * len(steps))
	var after time.Duration // from the outside; 0: never
	switch {
	case n > 12 || deaths(k.hits) >= *kills:
		how = "not killed"
	case choice < len(steps):
		how = steps[choice]
		times := strconv.Itoa(1 + k.rng.IntN(killSteps[how]))
		cmd = exec.CommandContext(ctx, "dies", append([]string{how, times}, k.args...)...)
	default:
		how = "from outside"
		after = time.Duration(1+k.rng.IntN(2500)) * time.Millisecond
	}
	return how, k.start(how, cmd, after)
}

// start runs a command, kills it after that time unless that is 0, and reports
// whether it ended by itself.
func (k *killed) start(how string, cmd *exec.Cmd, after time.Duration) (alive bool) {
	k.Helper()
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = k.dir, &said
	if err := cmd.Start(); err != nil {
		k.Fatalf("%s: %v", how, err)
	}
	if after > 0 {
		defer time.AfterFunc(after, func() { cmd.Process.Kill() }).Stop()
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true
	case !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		k.Fatalf("%s: %v\n%s", how, err, said.Bytes())
	}
	k.hits[how]++
	k.last = how
	return false
}

// checkKilled: the checkpoint that is left can be read, and the output has at
// least what it names, whole.
func (k *killed) checkKilled(how string) {
	k.Helper()
	file, err := os.ReadFile(k.path("scan.checkpoint"))
	if errors.Is(err, os.ErrNotExist) {
		return // nothing was begun
	}
	c, err := checkpoint.Decode(file)
	if err != nil {
		k.Fatalf("%s: %v", how, err)
	}
	k.checkNamed(how, c)
	want := c.Records
	for _, p := range c.Output.Parts {
		want -= p.Records
	}
	current := k.current(c)
	if c.Output.Offset > 0 {
		all, err := os.ReadFile(current)
		if err != nil || int64(len(all)) < c.Output.Offset {
			k.Fatalf("%s: %d bytes, %d in the checkpoint, %v", how, len(all), c.Output.Offset, err)
		}
		cut := k.path("cut")
		if err := os.WriteFile(cut, all[:c.Output.Offset], 0o666); err != nil {
			k.Fatal(err)
		}
		if n := k.cat(0, cut); n != want {
			k.Fatalf("%s: %d records in %d bytes, want %d", how, n, c.Output.Offset, want)
		}
	}
	if files := k.files(); len(files) > 0 {
		if n := k.cat(-1, files...); n < c.Records {
			k.Fatalf("%s: %d records can be read, %d were promised", how, n, c.Records)
		}
	} else if c.Records > 0 {
		k.Fatalf("%s: no output, and %d records were promised", how, c.Records)
	}
}

// current is the file that a checkpoint's offset is in.
func (k *killed) current(c *checkpoint.Checkpoint) string {
	return c.OutputFile(&c.Plan)
}

// checkNamed: a part that has its name is whole, and stays as it is.
func (k *killed) checkNamed(how string, c *checkpoint.Checkpoint) {
	k.Helper()
	for i, p := range c.Output.Parts {
		if n := k.cat(0, k.either(sink.PartName(c.Plan.Output, c.Start, i+1))); n != p.Records {
			k.Fatalf("%s: part %d has %d records, want %d", how, i, n, p.Records)
		}
	}
	for _, name := range k.files() {
		if k.rotates && !strings.HasSuffix(name, sink.PartSuffix) {
			now, err := os.ReadFile(name)
			if was, known := k.named[name]; err != nil || known && !bytes.Equal(was, now) {
				k.Fatalf("%s: %s is not as it was, %v", how, name, err)
			}
			k.named[name] = now
		}
	}
}

// either is a part by the name that it has.
func (k *killed) either(name string) string {
	if _, err := os.Stat(name); err != nil {
		return name + sink.PartSuffix
	}
	return name
}

// cat reads a census with the program and returns how many records there are.
// truncated is what it may say of a truncated tail, negative for anything.
func (k *killed) cat(truncated int, files ...string) (n uint64) {
	k.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(k.Context(), "a2sscan", append([]string{"cat"}, files...)...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || truncated == 0 && said.Len() > 0 {
		k.Fatalf("cat: %v\n%s", err, said.Bytes())
	}
	for line := range bytes.Lines(out) {
		if !json.Valid(line) || line[len(line)-1] != '\n' {
			k.Fatalf("no record: %s", line)
		}
		n++
	}
	return n
}

// checkEnd: the complete census is the truth, and so are its numbers.
func (k *killed) checkEnd() {
	k.Helper()
	census := k.path("all")
	k.join(census)
	r, err := sink.Open(census)
	if err != nil {
		k.Fatal(err)
	}
	defer r.Close()
	scans := map[string]int{}
	next := func() ([]byte, error) {
		line, err := r.Next()
		if err == nil {
			var rec struct{ Scan, Tag, IP string }
			if err := json.Unmarshal(line, &rec); err != nil {
				return nil, err
			}
			scans[rec.Scan]++
			if want := "tag " + rec.IP[strings.LastIndexByte(rec.IP, '.')+1:]; rec.Tag != want {
				k.Errorf("%s has the tag %q", rec.IP, rec.Tag)
			}
		}
		return line, err
	}
	report, err := fleetjudge.Compare(k.cfg, scanner.AskAll, next)
	if err != nil {
		k.Fatal(err)
	}
	if report.Servers != report.AsTheyAre || report.Twice != 0 || report.Invented != 0 || len(scans) != 1 {
		k.Errorf("%+v, scans %v", report, scans)
	}
	k.checkSummary(uint64(report.Servers))
	left, err := filepath.Glob(k.path("scan.checkpoint*"))
	left = slices.DeleteFunc(left, func(name string) bool {
		return k.last == "checkpoint.removed" && strings.HasSuffix(name, ".lock")
	})
	unfinished, err2 := filepath.Glob(k.path("*" + sink.PartSuffix))
	if left = append(left, unfinished...); len(left) > 0 || err != nil || err2 != nil {
		k.Errorf("%v were left behind, %v, %v", left, err, err2)
	}
}

// join puts all files of the output together, as a shell would.
func (k *killed) join(path string) {
	var all []byte
	for _, name := range k.files() {
		b, err := os.ReadFile(name)
		if err != nil {
			k.Fatal(err)
		}
		all = append(all, b...)
	}
	if err := os.WriteFile(path, all, 0o666); err != nil {
		k.Fatal(err)
	}
}

func (k *killed) checkSummary(servers uint64) {
	k.Helper()
	b, err := os.ReadFile(k.path("summary.json"))
	if err != nil {
		k.Fatal(err)
	}
	var s ledger.Summary
	if err := json.Unmarshal(b, &s); err != nil {
		k.Fatal(err)
	}
	places := uint64(0)
	for range k.cfg.All() {
		places++
	}
	l := s.Targets
	if !s.Consistent || s.Ended != ledger.EndedComplete || s.Records != servers || l.Read != places+3 ||
		l.Invalid != 1 || l.Unscannable != 1 || l.Duplicate != 1 || l.Unfinished != 0 {
		k.Errorf("%s", b)
	}
	if k.rotates != (len(s.Parts) > 0) || k.rotates && len(s.Parts) != len(k.files()) {
		k.Errorf("%d files, the summary has %v", len(k.files()), s.Parts)
	}
	if s.Datagrams.Sent < 3*servers || s.Seconds <= 0 {
		k.Errorf("%d datagrams in %v seconds for %d servers", s.Datagrams.Sent, s.Seconds, servers)
	}
}
