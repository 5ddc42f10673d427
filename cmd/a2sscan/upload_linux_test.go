package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store/storetest"
	"github.com/a2sscan/a2sscan/sink/disk"
)

var (
	uploadKills = flag.Int("upload-kills", 4, "how many `N` times TestUploadKills kills scans and the store; the long form is 200")
	uploadSeed  = flag.Uint64("upload-seed", 0, "the `seed` of the first round of TestUploadKills; 0: another one each time")
)

// uploadSteps are the steps after which an uploading scan may die. The number is the
// maximum number of times that a scan does the step.
var uploadSteps = map[string]int{
	"part.created": 3, "part.uploaded": 3, "part.renamed": 3, "part.unspooled": 2, "part.removed": 1,
	"checkpoint.written": 4, "file.renamed": 4, "checkpoint.removed": 1,
	"output.synced": 3, "output.block": 4, "output.cut": 1, "summary.written": 1,
}

// TestUploadKills kills scans that upload at any moment, and also the store. A scan that
// ends while the store is down says that the same command uploads the rest. In the end
// the store has each part exactly once, as the summary describes it, and the parts have
// one correct record of every server. A part that is in the store never changes.
func TestUploadKills(t *testing.T) {
	t.Parallel() // it waits for scans, most of the time
	s := new(storetest.Store)
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	cfg, _ := serve(t, killFleet(180, *uploadKills))
	seed := cmp.Or(*uploadSeed, rand.Uint64()>>16)
	for round, left := seed, *uploadKills; left > 0; round++ {
		t.Run(strconv.FormatUint(round, 10), func(t *testing.T) {
			u := &uploading{T: t, store: s, cfg: cfg, rng: rand.New(rand.NewPCG(round, 0)), dir: t.TempDir(),
				prefix: fmt.Sprintf("n%d", round), seen: map[string][]byte{}, left: min(left, 8)}
			u.env = append(os.Environ(), storetest.EnvironmentOf(s.URL)...)
			u.toTheEnd()
			left -= u.kills()
		})
		if t.Failed() {
			return
		}
	}
}

// uploading is one census that is uploaded by scans that are killed.
type uploading struct {
	*testing.T
	store  *storetest.Store
	cfg    fleet.Config
	rng    *rand.Rand
	dir    string
	prefix string
	env    []string
	flags  []string
	left   int // kills still to come

	runs    int
	history []string
	seen    map[string][]byte // parts that were in the store after a kill

	scans   int          // scans that were killed
	outages atomic.Int64 // of the store
}

func (u *uploading) kills() int { return u.scans + int(u.outages.Load()) }

// toTheEnd repeats the command until the census is complete.
func (u *uploading) toTheEnd() {
	defer func() {
		if u.Failed() {
			u.Logf("to repeat: -upload-seed %s\nruns: %v, outages: %d", strings.TrimPrefix(u.prefix, "n"), u.history, u.outages.Load())
		}
	}()
	var list bytes.Buffer
	for at := range u.cfg.All() {
		fmt.Fprintln(&list, at)
	}
	if err := os.WriteFile(filepath.Join(u.dir, "servers.txt"), list.Bytes(), 0o666); err != nil {
		u.Fatal(err)
	}
	u.flags = []string{"--rotate", []string{"1s", "100k"}[u.rng.IntN(2)]}
	scans := 1 + u.rng.IntN(max(1, u.left-1))
	stop := u.disturb(rand.New(rand.NewPCG(u.rng.Uint64(), 0)), u.left-scans)
	for complete := false; !complete; {
		if u.runs > 40 {
			u.Fatal("the scan does not come to its end")
		}
		complete = u.run(u.scans < scans)
		u.checkSeen()
	}
	stop()
	u.checkEnd()
}

// disturb kills the store the given number of times, each time starting it again. The
// returned function ends this early. The store is running when it returns.
func (u *uploading) disturb(rng *rand.Rand, times int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; n < times && ctx.Err() == nil; n++ {
			pause(ctx, time.Duration(rng.IntN(900))*time.Millisecond)
			u.outages.Add(1)
			u.store.Down()
			pause(ctx, time.Duration(rng.IntN(900))*time.Millisecond)
			u.store.Heal()
		}
	}()
	return func() { cancel(); <-done }
}

// pause waits for the time d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// run starts the command, and may kill it. It reports whether the census is complete.
func (u *uploading) run(killed bool) (complete bool) {
	u.runs++
	args := append([]string{"scan", "servers.txt", "--allow-reserved"}, killRate(*uploadKills)...)
	args = append(args, "-q", "-o", "s3://census/"+u.prefix+"/census.ndjson.zst", "--checkpoint", "scan.checkpoint")
	args = append(args, u.flags...)
	how, name, after := "to its end", "a2sscan", time.Duration(0)
	if killed {
		how, after = "from outside", time.Duration(1+u.rng.IntN(longestRun(*uploadKills)))*time.Millisecond
		if u.rng.IntN(3) > 0 {
			steps := slices.Sorted(maps.Keys(uploadSteps))
			how, after, name = steps[u.rng.IntN(len(steps))], 0, "dies"
			args = append([]string{how, strconv.Itoa(1 + u.rng.IntN(uploadSteps[how]))}, args...)
		}
	}
	return u.start(how, exec.CommandContext(u.Context(), name, args...), after)
}

func (u *uploading) start(how string, cmd *exec.Cmd, after time.Duration) (complete bool) {
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.Env = u.dir, &said, u.env
	if err := cmd.Start(); err != nil {
		u.Fatal(err)
	}
	if after > 0 {
		defer time.AfterFunc(after, func() { cmd.Process.Kill() }).Stop()
	}
	err := cmd.Wait()
	if strings.Contains(said.String(), storetest.SecretKey) || strings.Contains(said.String(), storetest.AccessKey) {
		u.Errorf("%s: credentials in %s", how, &said)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		u.history = append(u.history, how+": complete")
		return true
	case errors.As(err, &exit) && exit.ExitCode() == console.ExitOutput && u.outages.Load() > 0 &&
		strings.Contains(said.String(), "the same command uploads what is missing"):
		u.history = append(u.history, how+": the store was down")
		return false
	case !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		u.Fatalf("%s: %v\n%s", how, err, said.Bytes())
	}
	u.scans++
	u.history = append(u.history, how)
	u.checkSaved()
	// It had done everything if it removed its checkpoint, after the store had the summary.
	_, err = os.Stat(filepath.Join(u.dir, "scan.checkpoint"))
	return errors.Is(err, fs.ErrNotExist) && slices.ContainsFunc(u.names(), func(n string) bool { return strings.HasSuffix(n, ".summary.json") })
}

// checkSaved fails the test if a complete part of the checkpoint is neither on this
// machine nor in the store, or if the checkpoint contains credentials.
func (u *uploading) checkSaved() {
	file, err := os.ReadFile(filepath.Join(u.dir, "scan.checkpoint"))
	if err != nil {
		return // there is none yet, or none any more
	}
	c, err := checkpoint.Decode(file)
	if err != nil {
		u.Fatal(err)
	}
	text, _ := json.Marshal(c)
	if bytes.Contains(text, []byte(storetest.SecretKey)) || bytes.Contains(text, []byte(storetest.AccessKey)) {
		u.Errorf("credentials in %s", text)
	}
	objects := u.objects()
	for _, p := range c.Output.Parts { // each is here or there
		name := strings.TrimSuffix(filepath.Base(p.Name), disk.PartSuffix)
		here, _ := filepath.Glob(filepath.Join(u.dir, "census.ndjson.zst.upload", name+"*"))
		if len(here) == 0 && int64(len(objects[name])) != p.Bytes {
			u.Errorf("%s is neither here nor in the store", name)
		}
	}
}

// names returns the names of the objects.
func (u *uploading) names() []string { return slices.Sorted(maps.Keys(u.objects())) }

// checkSeen fails the test if a part has changed since the store had it.
func (u *uploading) checkSeen() {
	now := u.objects()
	for name, content := range u.seen {
		if !bytes.Equal(now[name], content) {
			u.Errorf("%s is not as it was: %d bytes, before %d", name, len(now[name]), len(content))
		}
	}
	for name, content := range now {
		if strings.HasSuffix(name, ".zst") {
			u.seen[name] = content
		}
	}
}

// checkEnd fails the test if the store does not have exactly the files that the summary
// lists, or if the parts do not have one correct record of every server.
func (u *uploading) checkEnd() {
	objects, sum := u.objects(), ledger.Summary{}
	want := []string{}
	for name, content := range objects {
		if strings.HasSuffix(name, ".summary.json") {
			want = append(want, name)
			if err := json.Unmarshal(content, &sum); err != nil {
				u.Error(err)
			}
		}
	}
	for _, p := range sum.Parts {
		want = append(want, strings.TrimPrefix(p.Name, "s3://census/"+u.prefix+"/"))
	}
	slices.Sort(want)
	if got := u.names(); !slices.Equal(got, want) || len(sum.Parts) == 0 {
		u.Errorf("the store has %v, want %v", got, want)
	}
	if !sum.Consistent || sum.Ended != ledger.EndedComplete || sum.Targets.N("unfinished") != 0 {
		u.Errorf("summary: consistent %t, ended %s, %+v", sum.Consistent, sum.Ended, sum.Targets)
	}
	all := "s3://census/" + u.prefix + "/"
	u.command("verify", all)
	census := filepath.Join(u.dir, "all.ndjson")
	if err := os.WriteFile(census, u.command("cat", all), 0o666); err != nil {
		u.Fatal(err)
	}
	checkTruth(u.T, u.cfg, census)
	u.checkLeft()
}

// checkLeft fails the test if files are left on this machine, unless the last run was
// killed after it had uploaded everything.
func (u *uploading) checkLeft() {
	left, _ := filepath.Glob(filepath.Join(u.dir, "*.upload", "*"))
	if strings.HasSuffix(u.history[len(u.history)-1], "complete") && len(left) > 0 {
		u.Errorf("%v were left behind", left)
	}
}

// command runs another command of the program and returns its output.
func (u *uploading) command(args ...string) []byte {
	cmd := exec.CommandContext(u.Context(), "a2sscan", args...)
	var said bytes.Buffer
	cmd.Env, cmd.Stderr = u.env, &said
	out, err := cmd.Output()
	if err != nil {
		u.Errorf("%v: %v\n%s%s", args, err, &said, out)
	}
	return out
}

// objects returns the objects of the census by their names.
func (u *uploading) objects() map[string][]byte {
	below := map[string][]byte{}
	for key, content := range u.store.Objects() {
		if name, ok := strings.CutPrefix(key, u.prefix+"/"); ok {
			below[name] = content
		}
	}
	return below
}
