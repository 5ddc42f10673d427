package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

// With these flags, TestWatchLife becomes a long run.
var (
	lifeNetwork = flag.String("life-network", "127.130.0.0/24", "network of TestWatchLife")
	lifeSpec    = flag.String("life", "outages=60,restarts=20,renames=20,maps=10,steamids=10,moves=10,span=8s,longest=18s", "what happens in TestWatchLife")
	lifeEvery   = flag.Duration("life-every", 5*time.Second, "cycle of TestWatchLife")
	lifeFull    = flag.Duration("life-full", 20*time.Second, "cycle of full checks of TestWatchLife")
	lifeFor     = flag.Duration("life-for", 27*time.Second, "duration of TestWatchLife")
	lifeStrict  = flag.Bool("life-strict", false, "fail TestWatchLife if something is reported late or not at all, as on a busy machine")
	lifeKills   = flag.Int("life-kills", 0, "kill the watch so many times in TestWatchLife")
	lifeRate    = flag.String("life-rate", "5k", "rate of TestWatchLife")
)

// planned is a line of the fleet's truth.
type planned struct {
	What     string `json:"event"`
	Addr     string
	From, To time.Time
	Evidence bool
	Old      string
}

// receiver stands in for a webhook's receiver.
type receiver struct {
	mu    sync.Mutex
	posts [][]int64 // the IDs of each POST
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var body struct{ IDs []int64 }
	b, _ := io.ReadAll(request.Body)
	if json.Unmarshal(b, &body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.posts = append(r.posts, body.IDs)
	r.mu.Unlock()
}

// TestWatchLife watches a fleet to whose servers things happen, and compares the events with
// them. Kills, if there are any, may delay an event, but no event is lost or written twice.
func TestWatchLife(t *testing.T) {
	t.Parallel()
	skipShort(t)
	life, err := fleet.ParseLife(*lifeSpec)
	check(t, err)
	fl, err := fleet.New(fleet.Config{
		Network: netip.MustParsePrefix(*lifeNetwork), Ports: []uint16{0}, Seed: 3, Loss: 0.02, Alive: 0.9, Life: life,
		Kinds: []fleet.Kind{fleet.Source, fleet.SourceLists, fleet.SourceOpen, fleet.GoldSource},
	})
	check(t, err)
	t.Cleanup(served(fl))
	var truth bytes.Buffer
	check(t, fl.Config().WriteLife(&truth, time.Now()))
	dir := t.TempDir()
	state, output, hookFile := filepath.Join(dir, "watch.db"), filepath.Join(dir, "events.ndjson"), filepath.Join(dir, "hook")
	hook := &receiver{}
	server := httptest.NewServer(hook)
	t.Cleanup(server.Close)
	check(t, os.WriteFile(hookFile, []byte(server.URL+"/secret\n"), 0o600))
	args := []string{
		"watch", *lifeNetwork, "-p", fmt.Sprint(fl.Config().Ports[0]), "--allow-reserved", "--every", lifeEvery.String(), "--full-every", lifeFull.String(),
		"-r", *lifeRate, "--state", state, "-o", output, "--webhook-file", hookFile, "--status", "json",
		"--webhook-events", "down,up,blind,seeing,restarted,renamed",
	}
	begin := time.Now()
	end := begin.Add(*lifeFor)
	kills := 0
	var status watch.Status
	for time.Now().Before(end) {
		until := end
		if kills < *lifeKills {
			until = time.Now().Add(*lifeFor/time.Duration(*lifeKills+1) + time.Duration(rand.IntN(1000))*time.Millisecond)
		}
		killed := until.Before(end)
		status = runWatch(t, args, time.Until(until), killed)
		if killed {
			kills++
		}
	}
	judge := lifeJudge{T: t, every: *lifeEvery, kills: kills, begin: begin, end: end}
	judge.read(&truth, output)
	judge.outages()
	judge.others()
	judge.ids(state, hook)
	cycles := (lifeFor.Seconds() - 1) / lifeEvery.Seconds()
	t.Logf("%d servers, %d kills, %d events, %.2f datagrams a server and cycle", status.Servers, kills, len(judge.events),
		float64(status.Sent)/float64(status.Servers)/cycles)
}

// runWatch runs the program for some time, and returns its last status.
func runWatch(t *testing.T, args []string, d time.Duration, kill bool) (status watch.Status) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if !kill {
		args = append(slices.Clone(args), "--max-runtime", d.String())
	}
	cmd := exec.CommandContext(ctx, "a2sscan", args...)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	check(t, err)
	if kill {
		timer := time.AfterFunc(d, cancel)
		defer timer.Stop()
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if json.Unmarshal(lines.Bytes(), &status) != nil {
			t.Log(lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil && !kill {
		t.Errorf("watch: %v", err)
	}
	if u := cmd.ProcessState; u != nil && !kill {
		t.Logf("user %v, system %v, peak %d MiB", u.UserTime(), u.SystemTime(), peakOf(cmd)>>20)
	}
	return status
}

// lifeJudge compares events with what happened.
type lifeJudge struct {
	*testing.T
	every  time.Duration
	kills  int
	begin  time.Time
	end    time.Time
	fates  map[string]planned // by address
	cuts   []planned
	events []watchdb.Event
}

func (j *lifeJudge) read(truth io.Reader, output string) {
	j.Helper()
	j.fates = map[string]planned{}
	for d := json.NewDecoder(truth); d.More(); {
		var p planned
		check(j, d.Decode(&p))
		if p.What == "cut" {
			j.cuts = append(j.cuts, p)
			continue
		}
		j.fates[p.Addr] = p
		if p.Old != "" {
			j.fates[p.Old] = p
		}
	}
	f, err := os.Open(output)
	check(j, err)
	defer f.Close()
	for d := json.NewDecoder(f); d.More(); {
		var e watchdb.Event
		check(j, d.Decode(&e))
		j.events = append(j.events, e)
	}
}

// of returns the events of a kind at an address.
func (j *lifeJudge) of(kind string, addr string) (found []watchdb.Event) {
	for _, e := range j.events {
		if e.Kind == kind && e.Addr == addr {
			found = append(found, e)
		}
	}
	return found
}

// cut reports whether a cut overlaps a time, with a cycle and the schedule around it.
func (j *lifeJudge) cut(from, to time.Time) bool {
	return slices.ContainsFunc(j.cuts, func(c planned) bool {
		return from.Before(c.To.Add(j.every+5*time.Second)) && to.After(c.From.Add(-j.every))
	})
}

// outages checks the events "down".
func (j *lifeJudge) outages() {
	downs := map[string]int{}
	var late []time.Duration
	missed, due := 0, 0
	for _, e := range j.events {
		if e.Kind == "down" {
			downs[e.Addr]++
		}
	}
	for addr, n := range downs {
		p, ok := j.fates[addr]
		outage := ok && (p.What == "outage" || p.What == "moved" && p.Old == addr)
		short := p.What == "outage" && p.To.Sub(p.From) < 2*j.every
		if !outage || short || n > 1 {
			j.Errorf("FALSE: %s down %d times, %+v, %+v", addr, n, p, j.of("down", addr))
		}
	}
	for addr, p := range j.fates {
		if p.What != "outage" || p.From.Before(j.begin.Add(2*j.every)) || p.To.Sub(p.From) <= 4*j.every+5*time.Second || j.cut(p.From, p.To) || p.To.After(j.end) {
			continue
		}
		due++
		if found := j.of("down", addr); len(found) == 1 {
			late = append(late, found[0].Time.Sub(p.From))
		} else if missed++; *lifeStrict {
			j.Errorf("missed: %s %+v", addr, p)
		}
	}
	if len(late) == 0 || j.kills > 0 {
		j.Logf("%d of %d outages reported, with %d kills", due-missed, due, j.kills)
		return
	}
	slices.Sort(late)
	p99 := late[len(late)*99/100]
	j.Logf("%d of %d outages reported; after %v at the median, %v for 99 %%", due-missed, due, late[len(late)/2], p99)
	if *lifeStrict && p99 > 4*j.every+6*time.Second {
		j.Errorf("p99 %v", p99)
	}
}

// others checks the other events.
func (j *lifeJudge) others() {
	want, got := map[string]int{}, map[string]int{}
	for addr, p := range j.fates {
		counts := p.What != "restart" || p.Evidence
		if addr != p.Addr || !counts || p.From.Before(j.begin.Add(2*j.every)) || j.cut(p.From, p.To.Add(5*j.every)) || p.To.Add(5*j.every).After(j.end) {
			continue
		}
		kind := map[string]string{"restart": "restarted", "renamed": "renamed", "moved": "moved"}[p.What]
		want[p.What]++
		if len(j.of(kind, addr)) > 0 {
			got[p.What]++
		}
	}
	counts := map[string]int{}
	for _, e := range j.events {
		counts[e.Kind]++
		p := j.fates[e.Addr]
		if e.Kind == "restarted" && p.What != "restart" || e.Kind == "renamed" && p.What != "renamed" || e.Kind == "moved" && p.What != "moved" {
			j.Errorf("INVENTED: %+v, but %+v", e, p)
		}
	}
	j.Logf("reported %v of %v; all events: %v", got, want, counts)
	if len(counts) < 3 {
		j.Errorf("hardly any events: %v", counts)
	}
	if !*lifeStrict {
		return
	}
	if got["restart"]*100 < want["restart"]*99 || got["renamed"]*100 < want["renamed"]*99 {
		j.Errorf("reported %v of %v", got, want)
	}
	if counts["blind"] != len(j.cuts) || counts["seeing"] != len(j.cuts) {
		j.Errorf("%d blind, %d seeing, for %d cuts", counts["blind"], counts["seeing"], len(j.cuts))
	}
}

// ids checks that each event is once in the file and in the state, and at least once in a POST.
func (j *lifeJudge) ids(state string, hook *receiver) {
	db, err := watchdb.Read(state)
	check(j, err)
	defer db.Close()
	stored, err := db.Since(0, 1<<30)
	if err != nil || len(stored) != len(j.events) {
		j.Fatalf("%d events in the state, %d in the file: %v", len(stored), len(j.events), err)
	}
	hook.mu.Lock()
	defer hook.mu.Unlock()
	posted, again := map[int64]int{}, 0
	for _, ids := range hook.posts {
		repeated := false
		for _, id := range ids {
			posted[id]++
			repeated = repeated || posted[id] > 1
		}
		if repeated {
			again++
		}
	}
	for i, e := range j.events {
		if e.ID != int64(i+1) || stored[i].ID != e.ID {
			j.Fatalf("event %d has the ID %d, and %d in the state", i+1, e.ID, stored[i].ID)
		}
		wanted := slices.Contains([]string{"up", "down", "blind", "seeing", "restarted", "renamed"}, e.Kind)
		if last := j.end.Add(-5 * time.Second); wanted && posted[e.ID] == 0 && e.Time.Before(last) {
			j.Errorf("no POST has event %d", e.ID)
		}
	}
	if again > j.kills {
		j.Errorf("%d POSTs repeat an event, after %d kills", again, j.kills)
	}
	j.Logf("%d events, in %d POSTs, of which %d repeated others", len(j.events), len(hook.posts), again)
}

// peakOf returns the peak of the memory of a process that has ended, in bytes.
func peakOf(cmd *exec.Cmd) int64 {
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}
