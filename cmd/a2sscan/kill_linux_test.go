package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
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

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/wire"
)

var (
	kills    = flag.Int("kills", 8, "how many `N` scans TestKill kills, over all modes; the long form is 1000")
	killSeed = flag.Uint64("kill-seed", 0, "the `seed` of the first round of TestKill; 0: another one each time")
	killMode = flag.String("kill-mode", "", "the one `mode` of TestKill; empty: all")
)

// dies runs the program, which kills itself after it has done STEP for the TIMES-th
// time:
//
//	dies STEP TIMES scan …
//
// It kills itself because a kill from outside would almost never fall between two
// file operations.
func dies() {
	atStep(os.Args[1], os.Args[2], func() {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	})
	os.Args = append(os.Args[:1], os.Args[3:]...)
	main()
}

// pauses runs the program. When the program has done STEP for the TIMES-th time, it
// runs a shell command and waits for its end. In the command, $PPID is the program:
//
//	pauses STEP TIMES COMMAND scan …
func pauses() {
	command := os.Args[3]
	atStep(os.Args[1], os.Args[2], func() {
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%s: %v: %s", command, err, out))
		}
	})
	os.Args = append(os.Args[:1], os.Args[4:]...)
	main()
}

// atStep calls do once, when the process has done a step the given number of times.
func atStep(name, times string, do func()) {
	left, err := strconv.Atoi(times)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	disk.Step = func(now string) {
		mu.Lock()
		defer mu.Unlock()
		if now == name {
			if left--; left == 0 {
				do()
			}
		}
	}
}

// killSteps are the steps after which a scan may die. The number is the maximum number
// of times that a scan of TestKill does the step.
var killSteps = map[string]int{
	"file.written":       4,
	"file.synced":        4,
	"file.renamed":       4,
	"checkpoint.written": 4,
	"checkpoint.removed": 1,
	"output.created":     1,
	"output.block":       5,
	"output.cut":         1,
	"output.repacked":    1,
	"output.written":     3,
	"output.synced":      3,
	"output.closed":      3,
	"output.renamed":     1,
	"part.created":       3,
	"part.renamed":       3,
	"part.removed":       1,
	"silent.written":     3,
	"summary.written":    1,
}

// killModes are the kinds of scans that TestKill kills.
var killModes = []struct {
	name    string
	prepare func(*killed)
}{
	{"single", func(k *killed) { k.resumes() }},
	{"rotate", func(k *killed) { k.resumes("--rotate", k.either("1s", "100k")) }},
	{"shard", func(k *killed) { k.resumes(); k.shards = 2 }},
	{"second-look", func(k *killed) { k.resumes("--second-look") }},
	{"input-order", func(k *killed) { k.resumes("--order", "input") }},
	{"stdin", func(k *killed) {
		k.piped = true
		if k.rng.IntN(2) == 0 {
			k.resumes("--order", k.either("random", "input"))
		} else {
			k.appends = true
		}
	}},
	{"append", func(k *killed) { k.appends = true; k.writeOld() }},
	{"force", func(k *killed) {
		if k.rng.IntN(2) == 0 {
			k.resumes()
		}
		k.writeOld()
		k.flags = append(k.flags, "--force")
	}},
}

// killed is one census, made by scans that are killed again and again.
type killed struct {
	*testing.T
	rng  *rand.Rand
	dir  string
	cfg  fleet.Config
	most int // how many runs of this round to kill
	n    int // how many of them were killed so far

	output  string
	flags   []string // in addition to those of every mode
	saved   bool     // with a checkpoint: the same command resumes
	appends bool     // with --append: the same command starts over
	piped   bool     // the list is on standard input
	shards  int      // 0: the scan is not divided
	shard   int      // the shard that is being scanned

	list    []byte
	runs    int
	old     []byte            // the output before the first run; nil: none
	settled []byte            // with appends: the lines that could be read after the last kill
	named   map[string][]byte // parts that have their final names, with their content at that time
	last    string            // how the last run ended
	history []string          // how all runs ended
}

// TestKill kills scans at any moment and repeats the command until the census is
// complete. Then the census has one correct record of every server, and the sums of the
// summary add up. Whenever a scan dies, everything written before can be read.
func TestKill(t *testing.T) {
	t.Parallel() // most of the time it waits for scans
	seed := *killSeed
	for seed == 0 {
		seed = rand.Uint64() >> 16
	}
	share := len(killModes)
	if *killMode != "" {
		share = 1
	}
	for i, m := range killModes {
		if *killMode != "" && *killMode != m.name {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg, _ := serve(t, killFleet(byte(160+i)))
			left := (*kills + share - 1) / share
			for round := seed; left > 0 && round < seed+uint64(*kills)+20; round++ {
				t.Run(strconv.FormatUint(round, 10), func(t *testing.T) {
					k := newKilled(t, cfg, rand.NewPCG(round, uint64(i)), left)
					m.prepare(k)
					k.toTheEnd(fmt.Sprintf("-kill-mode %s -kill-seed %d -kills %d", m.name, round, left))
					left -= k.n
				})
			}
		})
	}
}

// killFleet returns a fleet. With many kills it has more servers, the scans have a higher
// rate, and some servers leave questions without an answer.
func killFleet(second byte) fleet.Config {
	cfg := fleet.Config{Alive: 0.9, Seed: 3, DelayMax: 20 * time.Millisecond}
	long := *kills > 100
	cfg.Kinds = kinds(long)
	bits := 25
	if long {
		bits = 22
	}
	cfg.Network = netip.PrefixFrom(netip.AddrFrom4([4]byte{127, second}), bits)
	return cfg
}

// rate returns the rate of the scans of TestKill, and the longest time after which one is
// killed from outside.
func rate() (perSecond string, longest time.Duration) {
	if *kills > 100 {
		return "2k", 4 * time.Second
	}
	return "300", 2 * time.Second
}

// newKilled prepares a round: it writes the list of targets, and chooses the form of
// the output and the number of kills at random where the mode leaves them open.
func newKilled(t *testing.T, cfg fleet.Config, seed rand.Source, most int) *killed {
	k := &killed{T: t, cfg: cfg, dir: t.TempDir(), named: map[string][]byte{},
		rng: rand.New(seed)}
	k.most = min(1+k.rng.IntN(8), most)
	k.output = "census.ndjson" + []string{"", ".zst", ".gz"}[k.rng.IntN(3)]
	var list bytes.Buffer
	for at := range cfg.All() {
		fmt.Fprintf(&list, "%s tag %d\n", at, at.Addr().As4()[3])
	}
	again, _, _ := bytes.Cut(list.Bytes(), []byte("\n"))
	fmt.Fprintf(&list, "no server\n0.0.0.0:27015\n%s\n", again)
	k.list = list.Bytes()
	check(t, os.WriteFile(k.path("servers.txt"), k.list, 0o666))
	return k
}

func (k *killed) either(a, b string) string {
	if k.rng.IntN(2) == 0 {
		return a
	}
	return b
}

func (k *killed) path(name string) string { return filepath.Join(k.dir, name) }

// resumes selects a scan with a checkpoint.
func (k *killed) resumes(flags ...string) {
	k.saved = true
	k.flags = append(k.flags, flags...)
}

// writeOld writes the census of another scan. If the next scan appends, that census
// may end in the middle of a record.
func (k *killed) writeOld() {
	var lines []byte
	for i := range 500 {
		lines = fmt.Appendf(lines, `{"schema":1,"scan":"yesterday","ip":"203.0.113.%d","port":%d,"status":"no_reply"}`+"\n", i%250, i+1)
	}
	if k.appends && k.rng.IntN(2) == 0 {
		lines = append(lines, `{"schema":1,"scan":"yest`...)
	}
	k.settled = lines[:bytes.LastIndexByte(lines, '\n')+1]
	k.old = lines
	switch filepath.Ext(k.output) {
	case ".zst":
		k.old = k.packed(func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	case ".gz":
		k.old = k.packed(func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	}
	check(k, os.WriteFile(k.path(k.output), k.old, 0o666))
}

// packed returns the settled lines compressed.
func (k *killed) packed(with func(io.Writer) (io.WriteCloser, error)) []byte {
	k.Helper()
	var b bytes.Buffer
	z, err := with(&b)
	if err == nil {
		_, err = z.Write(k.settled)
	}
	if err == nil {
		err = z.Close()
	}
	check(k, err)
	return b.Bytes()
}

// args returns the arguments of the next run.
func (k *killed) args() []string {
	perSecond, _ := rate()
	args := []string{"scan", "servers.txt", "--allow-reserved", "-r", perSecond, "--timeout", "1s", "--retries", "4", "--cooldown", "0"}
	args = append(args, "-q", "-o", k.output, "--summary", k.ofShard("summary.json"))
	if k.piped {
		args[1] = "-"
	}
	if k.saved {
		args = append(args, "--checkpoint", k.ofShard("scan.checkpoint"))
	}
	if k.shards > 0 {
		args = append(args, "--shard", fmt.Sprintf("%d/%d", k.shard, k.shards))
	}
	if k.appends {
		args = append(args, "--scan-id", k.scanID())
		if len(k.files()) > 0 {
			args = append(args, "--append")
		}
	}
	return append(args, k.flags...)
}

// scanID returns the scan ID of this run, for modes in which each run is a new scan.
func (k *killed) scanID() string { return fmt.Sprintf("run-%d", k.runs) }

// ofShard returns a file name for the current shard, if the scan is divided.
func (k *killed) ofShard(name string) string {
	if k.shards > 0 {
		return fmt.Sprintf("%d-%s", k.shard, name)
	}
	return name
}

// toTheEnd repeats the command until the census is complete. again is the command
// that repeats this round.
func (k *killed) toTheEnd(again string) {
	k.Helper()
	defer func() {
		if k.Failed() {
			k.Logf("to repeat: %s\nruns: %v", again, k.history)
		}
	}()
	if k.shards == 0 {
		k.scanToTheEnd()
	}
	for base := k.output; k.shard < k.shards; k.shard++ {
		k.output = k.ofShard(base)
		k.scanToTheEnd()
	}
	k.checkEnd()
}

// scanToTheEnd repeats the command until the scan is complete.
func (k *killed) scanToTheEnd() {
	k.Helper()
	for first := k.runs; ; {
		if k.runs > first+50 {
			k.Fatal("the scan does not finish")
		}
		alive := k.run()
		switch {
		case alive && k.saved && !k.done():
			k.Fatal("a run that was not killed left its checkpoint")
		case alive:
			return
		case k.appends:
			k.settle()
		case k.saved && k.done():
			return // the scan was complete before it was killed
		case k.saved:
			k.checkKilled()
		default:
			k.checkOld()
		}
	}
}

// done reports whether a scan with a checkpoint is complete, which means that it
// wrote its summary and removed the checkpoint.
func (k *killed) done() bool {
	_, err := os.Stat(k.path(k.ofShard("scan.checkpoint")))
	_, err2 := os.Stat(k.path(k.ofShard("summary.json")))
	return errors.Is(err, os.ErrNotExist) && err2 == nil
}

// run starts the command, and kills it unless enough runs were killed. It reports
// whether the run ended by itself.
func (k *killed) run() (alive bool) {
	k.Helper()
	steps := slices.DeleteFunc(slices.Sorted(maps.Keys(killSteps)), k.neverDoes)
	choice := k.rng.IntN(2 * len(steps))
	switch {
	case k.n >= k.most:
		return k.start("not killed", exec.CommandContext(k.Context(), "a2sscan", k.args()...), 0)
	case choice < len(steps):
		how := steps[choice]
		times := strconv.Itoa(1 + k.rng.IntN(killSteps[how]))
		args := append([]string{how, times}, k.args()...)
		return k.start(how, exec.CommandContext(k.Context(), "dies", args...), 0)
	default:
		_, longest := rate()
		after := time.Duration(1 + k.rng.Int64N(int64(longest)))
		return k.start("from outside", exec.CommandContext(k.Context(), "a2sscan", k.args()...), after)
	}
}

// neverDoes reports whether the scans of this mode never do a step.
func (k *killed) neverDoes(step string) bool {
	kind, _, _ := strings.Cut(step, ".")
	switch {
	case step == "output.repacked":
		return !k.appends || filepath.Ext(k.output) == ".ndjson"
	case step == "output.renamed":
		return !slices.Contains(k.flags, "--force")
	case step == "output.created" || step == "output.block" || step == "output.closed":
		return false
	case kind == "part":
		return !slices.Contains(k.flags, "--rotate")
	case kind == "silent":
		return !slices.Contains(k.flags, "--second-look")
	}
	return !k.saved
}

// start runs a command and kills it when the time after has passed; 0 means never. It
// reports whether the command ended by itself.
func (k *killed) start(how string, cmd *exec.Cmd, after time.Duration) (alive bool) {
	k.Helper()
	k.runs++
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = k.dir, &said
	if k.piped {
		cmd.Stdin = bytes.NewReader(k.list)
	}
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
		k.last = "complete"
		k.history = append(k.history, how+": complete")
		return true
	case !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		k.Fatalf("%s: %v\n%s", how, err, said.Bytes())
	}
	k.n++
	k.last = how
	k.history = append(k.history, fmt.Sprintf("%s after %v", how, after))
	return false
}

// TestKillSteps: if a scan dies when it does a step for the first time, running the
// same command again completes it.
func TestKillSteps(t *testing.T) {
	skipShort(t)
	t.Parallel()
	cfg, _ := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.72.0.0/26"),
		Kinds:   []fleet.Kind{fleet.Source}, // they answer everything at once
	})
	modes := map[string][]string{} // the modes in which a scan does a step; without an entry, the default mode
	for _, step := range []string{"output.cut", "output.repacked", "part.removed", "silent.written"} {
		modes[step] = []string{} // only a resumed scan does these; TestSilentFile tests the last
	}
	modes["output.renamed"] = []string{"force"}
	modes["part.created"], modes["part.renamed"] = []string{"rotate"}, []string{"rotate"}
	for i, how := range slices.Sorted(maps.Keys(killSteps)) {
		these, ok := modes[how]
		if !ok {
			these = []string{"single", "rotate"}
		}
		for _, mode := range these {
			t.Run(how+" "+mode, func(t *testing.T) {
				t.Parallel()
				k := newKilled(t, cfg, rand.NewPCG(uint64(i), 0), 1)
				k.dieOnce(mode, how)
			})
		}
	}
}

// dieOnce lets a scan die when it does a step for the first time, and resumes it.
func (k *killed) dieOnce(mode, how string) {
	k.saved = true
	switch mode {
	case "rotate":
		k.flags = []string{"--rotate", "1s"}
	case "force":
		k.flags = []string{"--force"}
		k.writeOld()
	}
	k.start(how, exec.CommandContext(k.Context(), "dies", append([]string{how, "1"}, k.args()...)...), 0)
	if k.n != 1 {
		k.Errorf("%s: the scan did not die", how)
	}
	if !k.done() {
		k.scanToTheEnd()
	}
	k.checkEnd()
}

// files returns the files with records of this census, sorted by name.
func (k *killed) files() (files []string) {
	all, err := filepath.Glob(k.path("*census*"))
	check(k, err)
	for _, name := range all {
		if k.appends || k.old == nil || strings.HasSuffix(name, disk.PartSuffix) || !bytes.Equal(k.read(name), k.old) {
			files = append(files, name)
		}
	}
	return files
}

func (k *killed) read(name string) []byte {
	k.Helper()
	b, err := os.ReadFile(name)
	check(k, err)
	return b
}

// checkKilled fails the test if the checkpoint that a killed scan left can't be read,
// or if the output has fewer complete records than the checkpoint counts.
func (k *killed) checkKilled() {
	k.Helper()
	k.checkOld()
	file, err := os.ReadFile(k.path(k.ofShard("scan.checkpoint")))
	if errors.Is(err, os.ErrNotExist) {
		files := slices.DeleteFunc(k.files(), func(name string) bool { // those of the shards before
			return k.shards > 0 && !strings.HasPrefix(filepath.Base(name), k.ofShard(""))
		})
		if len(files) > 0 {
			k.Errorf("%s: no checkpoint, but %v", k.last, files)
		}
		return // the scan had written nothing yet
	}
	c, err := scan.DecodeCheckpoint(file)
	if err != nil {
		k.Fatalf("%s: %v", k.last, err)
	}
	k.checkParts(c)
	want := c.Records
	for _, p := range c.Output.Parts {
		want -= p.Records
	}
	if c.Output.Offset > 0 {
		k.checkOffset(c, want)
	}
	if files := k.mine(); len(files) > 0 {
		if n := countLines(k.cat(false, files...)); n < c.Records {
			k.Errorf("%s: %d records can be read, but the checkpoint has %d", k.last, n, c.Records)
		}
	} else if c.Records > 0 {
		k.Errorf("%s: no output, but the checkpoint has %d records", k.last, c.Records)
	}
}

// mine returns the files of the scan or, if it is divided, of the current shard.
func (k *killed) mine() []string {
	return slices.DeleteFunc(k.files(), func(name string) bool {
		return k.shards > 0 && !strings.HasPrefix(filepath.Base(name), k.output)
	})
}

// checkOffset fails the test unless the output has want complete records before the
// offset in the checkpoint.
func (k *killed) checkOffset(c *scan.Checkpoint, want uint64) {
	k.Helper()
	plan := c.Plan
	all := k.read(c.OutputFile(&plan))
	if int64(len(all)) < c.Output.Offset {
		k.Errorf("%s: %d bytes, %d in the checkpoint", k.last, len(all), c.Output.Offset)
		return
	}
	cut := k.path("cut")
	check(k, os.WriteFile(cut, all[:c.Output.Offset], 0o666))
	if n := countLines(k.cat(true, cut)); n != want {
		k.Errorf("%s: %d records in %d bytes, want %d", k.last, n, c.Output.Offset, want)
	}
}

// checkParts fails the test if a part has another number of records than in the
// checkpoint, or if a part that has its final name has changed.
func (k *killed) checkParts(c *scan.Checkpoint) {
	k.Helper()
	for i, p := range c.Output.Parts {
		name := sink.PartName(c.Plan.Output, c.Start, i+1)
		if _, err := os.Stat(name); err != nil {
			name += disk.PartSuffix
		}
		if n := countLines(k.cat(true, name)); n != p.Records {
			k.Errorf("%s: part %d has %d records, want %d", k.last, i+1, n, p.Records)
		}
	}
	for _, name := range k.files() {
		if c.Plan.Parts && !strings.HasSuffix(name, disk.PartSuffix) {
			now := k.read(name)
			if was, known := k.named[name]; known && !bytes.Equal(was, now) {
				k.Errorf("%s: %s has changed", k.last, name)
			}
			k.named[name] = now
		}
	}
}

// checkOld fails the test if a scan with --force removed the old census before a new
// one was complete.
func (k *killed) checkOld() {
	k.Helper()
	if k.old == nil || bytes.Equal(k.read(k.path(k.output)), k.old) {
		return
	}
	if _, err := os.Stat(k.path(k.output + disk.PartSuffix)); err == nil {
		return // the old census was replaced, and a later run starts over beside it
	}
	k.checkTruth(k.cat(true, k.path(k.output)), true)
}

// settle fails the test if the output of a scan that appends, and was killed, no longer
// begins with the old records. It keeps all readable records for the next time.
func (k *killed) settle() {
	k.Helper()
	files := k.files()
	if len(files) == 0 {
		return
	}
	lines := k.cat(false, files...)
	if !bytes.HasPrefix(lines, k.settled) {
		k.Errorf("%s: of %d records %d are left, or some have changed", k.last, countLines(k.settled), countLines(lines))
	}
	k.checkTruth(k.ofScan(lines, k.lastScan()), false)
	k.settled = lines
}

// lastScan returns the scan ID of the last run.
func (k *killed) lastScan() string {
	was := *k
	was.runs--
	return was.scanID()
}

// ofScan returns the records of a scan.
func (k *killed) ofScan(lines []byte, running string) (of []byte) {
	for line := range bytes.Lines(lines) {
		var record struct{ Scan string }
		check(k, json.Unmarshal(line, &record))
		if record.Scan == running {
			of = append(of, line...)
		}
	}
	return of
}

// cat reads files with the program. It ends the test if a file is damaged or, with
// complete set, ends with a partial record.
func (k *killed) cat(complete bool, files ...string) []byte {
	k.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(k.Context(), "a2sscan", append([]string{"cat"}, files...)...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	// The exit code for a census that a kill cut off is the one for damage.
	cut := !complete && cmd.ProcessState.ExitCode() == console.ExitNumbers && bytes.Contains(said.Bytes(), []byte(" is truncated: "))
	if !cut && (err != nil || complete && said.Len() > 0 || bytes.Contains(said.Bytes(), []byte("damaged"))) {
		k.Fatalf("%s: cat: %v\n%s", k.last, err, said.Bytes())
	}
	for line := range bytes.Lines(out) {
		if !json.Valid(line) || line[len(line)-1] != '\n' {
			k.Errorf("no record: %s", line)
		}
	}
	return out
}

func countLines(lines []byte) uint64 { return uint64(bytes.Count(lines, []byte{'\n'})) }

// checkTruth fails the test if a record has the wrong tag or differs from the fleet, if
// a server has two records, or if there are more scans than shards. If complete is set,
// it also fails if a server has no record. It returns how many servers answer,
// including those without a record.
func (k *killed) checkTruth(lines []byte, complete bool) uint64 {
	k.Helper()
	scans := map[string]int{}
	next := func() ([]byte, error) {
		line, rest, found := bytes.Cut(lines, []byte{'\n'})
		if lines = rest; !found {
			return nil, io.EOF
		}
		var rec struct{ Scan, Tag, IP string }
		if err := json.Unmarshal(line, &rec); err != nil {
			return nil, err
		}
		scans[rec.Scan]++
		if want := "tag " + rec.IP[strings.LastIndexByte(rec.IP, '.')+1:]; rec.Tag != want {
			k.Errorf("%s has the tag %q", rec.IP, rec.Tag)
		}
		return line, nil
	}
	report, err := fleetjudge.Compare(k.cfg, wire.AskAll, next)
	check(k, err)
	if !complete {
		report.AsTheyAre += report.Missing
	}
	if report.Servers != report.AsTheyAre || report.Twice != 0 || report.Invented != 0 || len(scans) > max(1, k.shards) {
		k.Errorf("%s: %+v, scans %v", k.last, report, scans)
	}
	return uint64(report.Servers)
}

// checkEnd fails the test if the complete census differs from the fleet, if a summary
// is wrong, or if temporary files are left behind.
func (k *killed) checkEnd() {
	k.Helper()
	lines := k.cat(true, k.files()...)
	if k.appends {
		if !bytes.HasPrefix(lines, k.settled) {
			k.Errorf("of %d records, some are gone", countLines(k.settled))
		}
		lines = k.ofScan(lines, k.lastScan())
	}
	servers := k.checkTruth(lines, true)
	k.checkSummaries(servers)
	left, err := filepath.Glob(k.path("*scan.checkpoint*"))
	left = slices.DeleteFunc(left, func(name string) bool {
		return k.n > 0 && strings.HasSuffix(name, ".lock") // a scan was killed after it had finished
	})
	unfinished, err2 := filepath.Glob(k.path("*" + disk.PartSuffix))
	if left = append(left, unfinished...); len(left) > 0 || err != nil || err2 != nil {
		k.Errorf("%v were left behind, %v, %v", left, err, err2)
	}
}

// checkSummaries fails the test if the counts of the scan, or of all its shards
// together, do not match the number of servers.
func (k *killed) checkSummaries(servers uint64) {
	k.Helper()
	var records, sent, unscannable uint64
	for k.shard = 0; k.shard < max(1, k.shards); k.shard++ {
		s := k.checkSummary()
		records += s.Records
		sent += s.Datagrams.Sent
		unscannable += s.Targets.Unscannable
	}
	if records != servers || sent < 3*servers || unscannable != 1 {
		k.Errorf("%d records of %d servers, %d datagrams, %d unscannable", records, servers, sent, unscannable)
	}
}

func (k *killed) checkSummary() (s ledger.Summary) {
	k.Helper()
	b := k.read(k.path(k.ofShard("summary.json")))
	check(k, json.Unmarshal(b, &s))
	l := s.Targets
	if !s.Consistent || s.Ended != ledger.EndedComplete || l.Read != countLines(k.list) || s.Seconds <= 0 ||
		l.Invalid != 1 || l.Duplicate != 1 || l.Unfinished != 0 {
		k.Errorf("%s", b)
	}
	if rotates := slices.Contains(k.flags, "--rotate"); rotates != (len(s.Parts) > 0) || rotates && len(s.Parts) != len(k.files()) {
		k.Errorf("%d files, the summary has %v", len(k.files()), s.Parts)
	}
	return s
}
