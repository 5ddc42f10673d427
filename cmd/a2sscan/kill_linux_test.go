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
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// kills is how many runs TestKill ends, over all its commands.
var kills = flag.Int("kills", 8, "how many `N` scans TestKill kills; the long form is 100")

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
	step = func(now string) {
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
}

// TestKill: a scan that is killed at any moment, and gone on with by the same
// command until it is complete, has every server exactly once, as it is; its
// numbers add up; and whenever it dies, what it wrote can be read.
func TestKill(t *testing.T) {
	cfg := fleet.Config{
		Network: netip.MustParsePrefix("127.67.0.0/21"), Ports: []uint16{27110},
		Alive: 0.9, Seed: 3, DelayMax: 20 * time.Millisecond,
	}
	serve(t, cfg)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	hits := map[string]int{}
	for round := 0; deaths(hits) < *kills; round++ {
		k := &killed{T: t, cfg: cfg, dir: t.TempDir(), hits: hits,
			rng: rand.New(rand.NewPCG(seed, uint64(round)))}
		k.prepare(round)
		k.toTheEnd()
	}
	t.Logf("%d kills: %v", deaths(hits), hits)
}

func deaths(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// prepare writes the list and chooses the command.
func (k *killed) prepare(round int) {
	var list bytes.Buffer
	for at := range k.cfg.All() {
		fmt.Fprintf(&list, "%s tag %d\n", at, at.Addr().As4()[3])
	}
	fmt.Fprintf(&list, "no server\n0.0.0.0:27015\n127.67.0.1:27110\n")
	if err := os.WriteFile(k.path("servers.txt"), list.Bytes(), 0o666); err != nil {
		k.Fatal(err)
	}
	output := []string{"census.ndjson", "census.ndjson.zst"}[round%2]
	k.args = []string{"scan", "servers.txt", "--allow-reserved", "-o", output,
		"--checkpoint", "scan.checkpoint", "-r", "3000", "--timeout", "300ms", "--cooldown", "0", "-q"}
}

func (k *killed) path(name string) string { return filepath.Join(k.dir, name) }

func (k *killed) output() string { return k.path(k.args[slices.Index(k.args, "-o")+1]) }

// toTheEnd runs the command until the scan is complete.
func (k *killed) toTheEnd() {
	k.Helper()
	began := false
	for run := 0; ; run++ {
		if run > 50 {
			k.Fatal("the scan does not come to its end")
		}
		how, alive := k.run(run)
		_, err := os.Stat(k.path("scan.checkpoint"))
		began = began || err == nil
		if began && err != nil {
			break // complete: the checkpoint is gone
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
	switch {
	case n > 12 || deaths(k.hits) >= *kills:
		how = "not killed"
	case choice < len(steps):
		how = steps[choice]
		times := strconv.Itoa(1 + k.rng.IntN(killSteps[how]))
		cmd = exec.CommandContext(ctx, "dies", append([]string{how, times}, k.args...)...)
	default:
		how = "from outside"
		after := time.Duration(k.rng.IntN(2500)) * time.Millisecond
		timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
		defer timer.Stop()
	}
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = k.dir, &said
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return how, true
	case !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		k.Fatalf("%s: %v\n%s", how, err, said.Bytes())
	}
	k.hits[how]++
	return how, false
}

// checkKilled: the checkpoint that is left can be read, and the output has at
// least what it names, whole.
func (k *killed) checkKilled(how string) {
	k.Helper()
	file, err := os.ReadFile(k.path("scan.checkpoint"))
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(k.output()); err == nil {
			k.Fatalf("%s: there is an output and no checkpoint", how)
		}
		return
	}
	c, err := decodeCheckpoint(file)
	if err != nil {
		k.Fatalf("%s: %v", how, err)
	}
	if c.Output.Offset == 0 {
		return
	}
	all, err := os.ReadFile(k.output())
	if err != nil || int64(len(all)) < c.Output.Offset {
		k.Fatalf("%s: %d bytes, %d in the checkpoint, %v", how, len(all), c.Output.Offset, err)
	}
	cut := k.path("cut" + filepath.Base(k.output()))
	if err := os.WriteFile(cut, all[:c.Output.Offset], 0o666); err != nil {
		k.Fatal(err)
	}
	if n := k.cat(cut, 0); n != c.Records {
		k.Fatalf("%s: %d records in %d bytes, want %d", how, n, c.Output.Offset, c.Records)
	}
	if n := k.cat(k.output(), -1); n < c.Records {
		k.Fatalf("%s: %d records can be read, %d were promised", how, n, c.Records)
	}
}

// cat reads a census with the program and returns how many records there are.
// torn is what it may say of a torn tail, negative for anything.
func (k *killed) cat(path string, torn int) (n uint64) {
	k.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(k.Context(), "a2sscan", "cat", path)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || torn == 0 && said.Len() > 0 {
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
	r, err := sink.Open(k.output())
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
	report, err := fleet.Compare(k.cfg, scanner.AskAll, next)
	if err != nil {
		k.Fatal(err)
	}
	if report.Servers != report.AsTheyAre || report.Twice != 0 || report.Invented != 0 || len(scans) != 1 {
		k.Errorf("%+v, scans %v", report, scans)
	}
	k.checkSummary(uint64(report.Servers))
	for _, name := range []string{"scan.checkpoint", "scan.checkpoint.tmp"} {
		if _, err := os.Stat(k.path(name)); err == nil {
			k.Errorf("%s was left behind", name)
		}
	}
}

func (k *killed) checkSummary(servers uint64) {
	k.Helper()
	b, err := os.ReadFile(k.output() + ".summary.json")
	if err != nil {
		k.Fatal(err)
	}
	var s summary
	if err := json.Unmarshal(b, &s); err != nil {
		k.Fatal(err)
	}
	places := uint64(0)
	for range k.cfg.All() {
		places++
	}
	l := s.Targets
	if !s.Consistent || s.Ended != endedComplete || s.Records != servers || l.Read != places+3 ||
		l.Invalid != 1 || l.Unscannable != 1 || l.Duplicate != 1 || l.Unfinished != 0 {
		k.Errorf("%s", b)
	}
	if s.Datagrams.Sent < 3*servers || s.Seconds <= 0 || s.Resumed == 0 && deaths(k.hits) > 20 {
		k.Logf("%s", b)
	}
}
