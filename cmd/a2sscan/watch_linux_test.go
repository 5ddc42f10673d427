package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/wire"
)

// With these flags, TestWatchLife becomes a long run.
var (
	lifeNetwork = flag.String("life-network", "127.130.0.0/24", "network of TestWatchLife")
	lifeSpec    = flag.String("life", "outages=60,restarts=20,renames=20,maps=10,steamids=10,moves=10,flaps=10,span=8s,longest=18s", "what happens in TestWatchLife")
	lifeEvery   = flag.Duration("life-every", 5*time.Second, "cycle of TestWatchLife")
	lifeFull    = flag.Duration("life-full", 20*time.Second, "cycle of full checks of TestWatchLife")
	lifeFor     = flag.Duration("life-for", 27*time.Second, "duration of TestWatchLife")
	lifeStrict  = flag.Bool("life-strict", false, "fail TestWatchLife if something is reported late or not at all, as on a busy machine")
	lifeRate    = flag.String("life-rate", "5k", "rate of TestWatchLife")
	lifeWindows = flag.Int("life-windows", 10, "in TestWatchLife, one of so many servers is in a window of maintenance; 0: none")
)

// The defaults of the flags --down-after and --damp.
const lifeDownAfter, lifeDamp = 3, 10 * time.Minute

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

// witness asks a healthy server of a fleet all the time, and notes when the fleet did not
// answer. On a busy machine, a watch may rightly find servers down at such a time.
type witness struct {
	mu   sync.Mutex
	last time.Time      // of the latest answer
	gaps [][2]time.Time // times without an answer
}

func newWitness(t *testing.T, server netip.AddrPort) *witness {
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(server))
	check(t, err)
	w := &witness{last: time.Now()}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for {
			if _, err := conn.Write(wire.AppendRequest(nil, wire.QuestionInfo, wire.NoChallenge)); errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	go func() {
		for b := make([]byte, 1500); ; {
			if _, err := conn.Read(b); errors.Is(err, net.ErrClosed) {
				return
			}
			w.mu.Lock()
			w.note(time.Now())
			w.mu.Unlock()
		}
	}()
	return w
}

// note notes a gap that ends now.
func (w *witness) note(now time.Time) {
	if now.Sub(w.last) > time.Second { // the timeout of an attempt
		w.gaps = append(w.gaps, [2]time.Time{w.last, now})
	}
	w.last = now
}

// excuses reports whether the fleet did not answer at some moment between two times.
func (w *witness) excuses(from, to time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(time.Now())
	return slices.ContainsFunc(w.gaps, func(gap [2]time.Time) bool { return gap[0].Before(to) && from.Before(gap[1]) })
}

// window is a time of maintenance for some networks.
type window struct {
	networks []netip.Prefix
	from, to time.Time // in minutes
}

// newWindow puts a part of the servers into a window that covers most of the test, or all of
// a short one. It writes the file for --maintenance.
func newWindow(t *testing.T, file string, begin, end time.Time) (w window) {
	t.Helper()
	edge := end.Sub(begin) / 8
	if edge < time.Minute {
		edge = -10 * time.Minute // the machine may be slow
	}
	w.from, w.to = begin.Add(edge).UTC().Truncate(time.Minute), end.Add(time.Minute-edge).UTC().Truncate(time.Minute)
	all := netip.MustParsePrefix(*lifeNetwork)
	base, bits := all.Addr().As4(), all.Bits()+7
	var text strings.Builder
	for i := range uint32(1 << 7) {
		if *lifeWindows == 0 || i%uint32(*lifeWindows) != 0 {
			continue
		}
		var addr [4]byte
		binary.BigEndian.PutUint32(addr[:], binary.BigEndian.Uint32(base[:])+i<<(32-bits))
		network := netip.PrefixFrom(netip.AddrFrom4(addr), bits)
		w.networks = append(w.networks, network)
		fmt.Fprintf(&text, "%v %s/%s restart\n", network, w.from.Format("2006-01-02T15:04Z"), w.to.Format("2006-01-02T15:04Z"))
	}
	check(t, os.WriteFile(file, []byte(text.String()), 0o600))
	return w
}

// has reports whether a server is in maintenance at some time.
func (w *window) has(addr string) bool {
	a := netip.MustParseAddrPort(addr).Addr()
	return slices.ContainsFunc(w.networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// TestWatchLife watches a fleet to whose servers things happen, and compares the events with
// them.
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
	dir := t.TempDir()
	state, output, hookFile, windows := filepath.Join(dir, "watch.db"), filepath.Join(dir, "events.ndjson"), filepath.Join(dir, "hook"), filepath.Join(dir, "windows")
	hook := &receiver{}
	server := httptest.NewServer(hook)
	t.Cleanup(server.Close)
	check(t, os.WriteFile(hookFile, []byte(server.URL+"/secret\n"), 0o600))
	args := []string{
		"watch", *lifeNetwork, "-p", fmt.Sprint(fl.Config().Ports[0]), "--allow-reserved", "--every", lifeEvery.String(), "--full-every", lifeFull.String(),
		"-r", *lifeRate, "--state", state, "-o", output, "--webhook-file", hookFile, "--status", "json", "--maintenance", windows,
		"--webhook-events", "down,up,blind,seeing,restarted,renamed",
	}
	judge := lifeJudge{T: t, every: *lifeEvery, window: newWindow(t, windows, time.Now(), time.Now().Add(*lifeFor))}
	// The fleet begins to answer when the watch has begun to ask: starting it may take long.
	begin := sync.OnceFunc(func() {
		t.Cleanup(served(fl))
		judge.begin, judge.end = time.Now(), time.Now().Add(*lifeFor)
		var truth bytes.Buffer
		check(t, fl.Config().WriteLife(&truth, judge.begin))
		judge.readTruth(&truth)
		judge.witness = newWitness(t, judge.healthy(fl.Config()))
	})
	status := runWatch(t, args, func() time.Duration {
		begin()
		return time.Until(judge.end)
	})
	judge.readEvents(output)
	judge.outages()
	judge.flaps()
	judge.others()
	judge.stored(state, hook)
	cycles := (lifeFor.Seconds() - 1) / lifeEvery.Seconds()
	t.Logf("%d servers, %d events, %.2f datagrams a server and cycle", status.Servers, len(judge.events),
		float64(status.Sent)/float64(status.Servers)/cycles)
}

// runWatch runs the program, and returns its last status. When the program sends its first
// datagram, begun says how long it may run.
func runWatch(t *testing.T, args []string, begun func() time.Duration) (status watch.Status) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "a2sscan", args...)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	check(t, err)
	var end *time.Timer
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if json.Unmarshal(lines.Bytes(), &status) != nil {
			t.Log(lines.Text())
		}
		if end == nil && status.Sent > 0 {
			end = time.AfterFunc(begun(), func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
			defer end.Stop()
		}
	}
	if err := cmd.Wait(); end == nil || err != nil {
		t.Fatalf("watch: %v", err)
	}
	u := cmd.ProcessState
	t.Logf("user %v, system %v, peak %d MiB", u.UserTime(), u.SystemTime(), u.SysUsage().(*syscall.Rusage).Maxrss>>10)
	return status
}

// lifeJudge compares events with what happened.
type lifeJudge struct {
	*testing.T
	every    time.Duration
	begin    time.Time
	end      time.Time
	window   window
	witness  *witness
	fates    map[string]planned   // by address, without flaps
	silences map[string][]planned // the silences of servers that flap, by address
	cuts     []planned
	events   []db.Event
	at       map[string][]db.Event // events by address
}

func (j *lifeJudge) readTruth(truth io.Reader) {
	j.Helper()
	j.fates, j.silences = map[string]planned{}, map[string][]planned{}
	for d := json.NewDecoder(truth); d.More(); {
		var p planned
		check(j, d.Decode(&p))
		switch p.What {
		case "cut":
			j.cuts = append(j.cuts, p)
		case "flap":
			j.silences[p.Addr] = append(j.silences[p.Addr], p)
		default:
			j.fates[p.Addr] = p
			if p.Old != "" {
				j.fates[p.Old] = p
			}
		}
	}
}

// healthy returns a server to which nothing happens.
func (j *lifeJudge) healthy(c fleet.Config) netip.AddrPort {
	for addr := c.Network.Addr(); c.Network.Contains(addr); addr = addr.Next() {
		server := netip.AddrPortFrom(addr, c.Ports[0])
		_, exists := c.Nature(server)
		if _, happens := j.fates[server.String()]; exists && !happens && j.silences[server.String()] == nil {
			return server
		}
	}
	j.Fatal("something happens to each server")
	return netip.AddrPort{}
}

func (j *lifeJudge) readEvents(output string) {
	j.Helper()
	j.at = map[string][]db.Event{}
	f, err := os.Open(output)
	check(j, err)
	defer f.Close()
	for d := json.NewDecoder(f); d.More(); {
		var e db.Event
		check(j, d.Decode(&e))
		j.events = append(j.events, e)
		j.at[e.Addr] = append(j.at[e.Addr], e)
	}
}

// of returns the events of some kinds at an address.
func (j *lifeJudge) of(addr string, kinds ...string) []db.Event {
	return slices.DeleteFunc(slices.Clone(j.at[addr]), func(e db.Event) bool { return !slices.Contains(kinds, e.Kind) })
}

// cut reports whether a cut overlaps a time, with a cycle and the schedule around it.
func (j *lifeJudge) cut(from, to time.Time) bool {
	return slices.ContainsFunc(j.cuts, func(c planned) bool {
		return from.Before(c.To.Add(j.every+5*time.Second)) && to.After(c.From.Add(-j.every))
	})
}

// wrong reports an event that should not be there, unless the fleet was too slow to answer.
func (j *lifeJudge) wrong(what string, e *db.Event, truth any) {
	j.Helper()
	from := e.Time
	if e.Evidence != nil && !e.Evidence.First.IsZero() {
		from = e.Evidence.First
	}
	if j.witness.excuses(from, e.Time.Add(time.Second)) && !j.cut(from, e.Time) {
		j.Logf("this machine was too busy: %s: %s", what, watch.Text(e))
		return
	}
	j.Errorf("%s: %+v, %+v; the truth is %+v", what, *e, e.Evidence, truth)
}

// outages checks the events "down" of servers that do not flap.
func (j *lifeJudge) outages() {
	var late []time.Duration
	missed, due, maintained := 0, 0, 0
	for i := range j.events {
		e := &j.events[i]
		if e.Kind != "down" || j.silences[e.Addr] != nil {
			continue
		}
		p, ok := j.fates[e.Addr]
		outage := ok && (p.What == "outage" || p.What == "moved" && p.Old == e.Addr)
		short := p.What == "outage" && p.To.Sub(p.From) < 2*j.every
		// A server that is still down when its window ends is reported for the second time.
		outlasts := j.window.has(e.Addr) && !e.Time.Before(j.window.to)
		if all := j.of(e.Addr, "down"); !outage || short || all[0].ID != e.ID && !outlasts {
			j.wrong("FALSE", e, p)
		}
		if e.Planned {
			maintained++
		}
		begins := e.Evidence.First
		if edge := 2 * time.Second; begins.Sub(j.window.from).Abs() < edge || e.Time.Sub(j.window.to).Abs() < edge {
			continue
		}
		if e.Planned != (j.window.has(e.Addr) && begins.After(j.window.from) && e.Time.Before(j.window.to)) {
			j.Errorf("planned is %v: %+v, %+v; the truth is %+v", e.Planned, e, e.Evidence, p)
		}
	}
	for addr, p := range j.fates {
		if p.What != "outage" || p.From.Before(j.begin.Add(2*j.every)) || p.To.Sub(p.From) <= 4*j.every+5*time.Second || j.cut(p.From, p.To) || p.To.After(j.end) {
			continue
		}
		due++
		if found := j.of(addr, "down"); len(found) > 0 {
			late = append(late, found[0].Reported.Sub(p.From))
		} else if missed++; *lifeStrict {
			j.Errorf("missed: %s %+v", addr, p)
		}
	}
	j.Logf("%d events down are planned", maintained)
	if len(late) == 0 {
		j.Logf("%d of %d outages reported", due-missed, due)
		return
	}
	slices.Sort(late)
	p99 := late[len(late)*99/100]
	j.Logf("%d of %d outages reported; after %v at the median, %v for 99 %%", due-missed, due, late[len(late)/2], p99)
	if *lifeStrict && p99 > 4*j.every+6*time.Second {
		j.Errorf("p99 %v", p99)
	}
}

// flaps checks the events of servers that flap: each silence that lasts is reported in time,
// and damping holds back the others.
func (j *lifeJudge) flaps() {
	var late []time.Duration
	due, missed, reported := 0, 0, 0
	for addr, silences := range j.silences {
		if j.window.has(addr) {
			continue // planned and other events are damped separately
		}
		length := silences[0].To.Sub(silences[0].From)
		all := j.of(addr, "down", "up")
		reported += len(all)
		for i := range all {
			e := &all[i]
			if e.Kind == "down" && !slices.ContainsFunc(silences, func(p planned) bool {
				return !e.Evidence.First.Before(p.From.Add(-j.every)) && e.Evidence.First.Before(p.To) // a slow check began earlier
			}) {
				j.wrong("FALSE", e, silences)
			}
			lasting := map[string]int{"down": 2*lifeDownAfter - 1, "up": lifeDownAfter}[e.Kind]
			atEnd := e.Reported.After(j.end.Add(-2 * time.Second)) // what is held back then is reported
			if i >= 2 && !atEnd && e.Reported.Before(all[0].Reported.Add(lifeDamp-time.Second)) && length < time.Duration(lasting)*j.every-j.every/4 {
				j.wrong("not damped", e, silences)
			}
		}
		for _, p := range silences {
			if length <= (2*lifeDownAfter+1)*j.every+5*time.Second || p.From.Before(j.begin.Add(2*j.every)) || p.To.After(j.end) || j.cut(p.From, p.To) {
				continue
			}
			due++
			i := slices.IndexFunc(all, func(e db.Event) bool { return e.Kind == "down" && e.Reported.After(p.From) && e.Reported.Before(p.To) })
			if i >= 0 {
				late = append(late, all[i].Reported.Sub(p.From))
			} else if missed++; *lifeStrict {
				j.Errorf("missed: %s %+v; all silences are %+v", addr, p, silences)
			}
		}
	}
	j.Logf("%d servers flap: %d events, %d of %d lasting silences reported", len(j.silences), reported, due-missed, due)
	if len(late) > 0 {
		latest := slices.Max(late)
		j.Logf("the latest after %v", latest)
		if *lifeStrict && latest > (2*lifeDownAfter+1)*j.every+5*time.Second {
			j.Errorf("a lasting silence was reported after %v", latest)
		}
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
		if len(j.of(addr, kind)) > 0 {
			got[p.What]++
		}
	}
	counts := map[string]int{}
	for i := range j.events {
		e := &j.events[i]
		counts[e.Kind]++
		p := j.fates[e.Addr]
		silences := append([]planned{p}, j.silences[e.Addr]...)
		// A server that was silent at first is new when it answers, so it may look like one that moved.
		isNew := slices.ContainsFunc(silences, func(s planned) bool { return s.From.Before(j.begin.Add(2*j.every)) && s.To.After(s.From) })
		if e.Kind == "restarted" && p.What != "restart" || e.Kind == "renamed" && p.What != "renamed" || e.Kind == "moved" && p.What != "moved" && !isNew {
			j.Errorf("INVENTED: %+v, but %+v", e, p)
		}
		if e.Planned && !j.window.has(e.Addr) {
			j.Errorf("INVENTED: planned, but in no window: %+v", e)
		}
	}
	j.Logf("reported %v of %v; all events: %v", got, want, counts)
	if len(counts) < 3 && !j.witness.excuses(j.begin, j.end) {
		j.Errorf("hardly any events: %v", counts)
	}
	if !*lifeStrict {
		return
	}
	for _, what := range []string{"restart", "renamed"} {
		if missed := want[what] - got[what]; missed > 1+want[what]/100 {
			j.Errorf("reported %d of %d %s", got[what], want[what], what)
		}
	}
	if counts["blind"] != len(j.cuts) || counts["seeing"] != len(j.cuts) {
		j.Errorf("%d blind, %d seeing, for %d cuts", counts["blind"], counts["seeing"], len(j.cuts))
	}
}

// stored checks that each event is once in the file and in the state, and that the receiver
// has all that it should have, except for planned ones, and those that were waiting at the
// end. Time that servers were down in their window is planned.
func (j *lifeJudge) stored(path string, hook *receiver) {
	state, err := db.Read(path)
	check(j, err)
	defer state.Close()
	stored, err := state.Since(0, 1<<30)
	if err != nil || len(stored) != len(j.events) {
		j.Fatalf("%d events in the state, %d in the file: %v", len(stored), len(j.events), err)
	}
	sent, _, _, err := state.Cursor("webhook", 1<<30)
	check(j, err)
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
		wanted := slices.Contains([]string{"up", "down", "blind", "seeing", "restarted", "renamed"}, e.Kind) && !e.Planned
		if wanted && posted[e.ID] == 0 && e.ID <= sent {
			j.Errorf("no POST has event %d", e.ID)
		} else if !wanted && posted[e.ID] > 0 {
			j.Errorf("a POST has %+v", e)
		}
	}
	if again > 0 {
		j.Errorf("%d POSTs repeat an event", again)
	}
	j.Logf("%d events, in %d POSTs, of which %d repeated others", len(j.events), len(hook.posts), again)

	addrs := map[int]string{}
	check(j, state.Servers(func(s *db.Server) { addrs[int(s.ID)] = s.Addr.String() }))
	hours, err := state.Running()
	check(j, err)
	total, down := uint32(0), map[string]uint32{}
	for _, hour := range hours {
		for i, sample := range hour.Samples {
			addr := addrs[1+hour.Block*db.BlockSize+i]
			total += sample[db.PlannedFor]
			down[addr] += sample[db.DownFor] + sample[db.Outages]
			if sample[db.PlannedFor] > 0 && !j.window.has(addr) {
				j.Errorf("%s is in no window, and was down as planned: %v", addr, sample)
			}
		}
	}
	servers := 0
	for addr := range j.fates {
		all := j.of(addr, "down")
		if len(all) == 0 || slices.ContainsFunc(all, func(e db.Event) bool { return !e.Planned }) {
			continue
		}
		if servers++; down[addr] > 0 {
			j.Errorf("%s was down only as planned, but %d s count as down: %+v", addr, down[addr], all)
		}
	}
	j.Logf("%d servers were down only as planned; planned downtime is %d s", servers, total)
	if *lifeStrict && *lifeWindows > 0 && (servers == 0 || total == 0) {
		j.Errorf("no server was down as planned")
	}
}

// TestLivePage: a watch shows its servers on its page, with a state and without, and ends
// although the page is open. With the state, the next watch shows the history of this one.
func TestLivePage(t *testing.T) {
	t.Parallel()
	skipShort(t)
	const network = "127.144.0.0/28"
	fl, err := fleet.New(fleet.Config{Network: netip.MustParsePrefix(network), Ports: []uint16{0}, Seed: 3, Alive: 1, Kinds: []fleet.Kind{fleet.Source}})
	check(t, err)
	t.Cleanup(served(fl))
	port := fmt.Sprint(fl.Config().Ports[0])
	list := filepath.Join(t.TempDir(), "servers.txt")
	check(t, os.WriteFile(list, []byte("127.144.1.1:"+port+" Survival <Main>\n127.144.0.2:"+port+" another name\n"), 0o600))
	args := []string{"watch", network, list, "-p", port, "--allow-reserved", "--every", "5s", "--listen", "0", "--public-name", "status.example.org",
		"--page-title", "Ours & <theirs>", "--page-link", "https://example.org/?a=1&b=2", "--status", "none", "-o", filepath.Join(t.TempDir(), "events.ndjson")}
	for _, more := range [][]string{nil, {"--state", filepath.Join(t.TempDir(), "watch.db")}} {
		page := startPage(t, append(args[:len(args):len(args)], more...))
		all := page.until("/api/stats", `"down":0,"planned":0,"silent":1,"unanswered":0,"unknown":0`)
		servers := 0
		if _, err := fmt.Sscanf(all[strings.Index(all, `"up"`):], `"up":%d`, &servers); err != nil || servers < 14 {
			t.Fatalf("%d servers, %v: %s", servers, err, all)
		}
		for path, want := range map[string]string{
			"/": "Ours &amp; &lt;theirs&gt;", "/server/127.144.0.1:" + port: ">Uptime", "/api/servers?limit=1": `"next":`,
			"/api/events": `"last":`, "/api/schema": "$defs", "/healthz": "watching",
			"/metrics": fmt.Sprintf(`a2sscan_watch_servers{status="up"} %d`, servers),
		} {
			if status, text := page.get(path, ""); status != 200 || !strings.Contains(text, want) {
				t.Errorf("%s: %d, lacks %s:\n%.500s", path, status, want, text)
			}
		}
		_, front := page.get("/", "status.example.org")
		for _, want := range []string{
			`<a href="https://example.org/?a=1&amp;b=2" rel="noopener">example.org</a>`, `<bdi>Survival &lt;Main&gt;</bdi></a></td><td role="cell" data-label="Status"><b class="state silent">`,
		} {
			if !strings.Contains(front, want) {
				t.Errorf("the page lacks %s:\n%.9000s", want, front[strings.Index(front, "<body"):])
			}
		}
		if strings.Contains(front, "another name") {
			t.Error("a server that has a name is shown with that of the list")
		}
		if status, _ := page.get("/", "evil.example"); status != 421 {
			t.Errorf("another name is answered with %d", status)
		}
		endsSoon(t, page.cmd, 1, console.ExitOK)
		if more != nil {
			page = startPage(t, append(args[:len(args):len(args)], more...))
			page.until("/api/stats", fmt.Sprintf(`"up":%d,`, servers))
			page.until("/api/servers/127.144.0.1:"+port, `"answer":{`)
			endsSoon(t, page.cmd, 1, console.ExitOK)
		}
	}
}

// TestUptimeTable: in the table for people, each column begins at the same place, whatever the
// names are, and a server that was down for seconds was not up for 100 %.
func TestUptimeTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "watch.db")
	state, err := db.Open(path)
	check(t, err)
	names := []string{"a", "サーバー・日本語の長い名前です", "Сервер на русском языке, длинный", "🎮🎮 e\u0301te\u0301", strings.Repeat("x", 50)}
	var addrs []netip.AddrPort
	var servers []db.Server
	var samples []db.Sample
	at := time.Now().Truncate(time.Hour)
	for i, name := range names {
		addrs = append(addrs, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, byte(i)}), 1))
		servers = append(servers, db.Server{ID: int64(i + 1), LastSeen: uint32(at.Unix()), Since: uint32(at.Unix()), Status: db.Up, Answer: fmt.Appendf(nil, `{"info":{"name":%q}}`, name)})
		samples = append(samples, db.Sample{db.UpFor: 3590, db.DownFor: 10, db.Outages: 1})
	}
	samples[0] = db.Sample{db.UpFor: 3600}
	check(t, state.Add(addrs))
	check(t, state.Flush(nil, servers, db.Hour{Number: at.Unix() / 3600, Samples: samples}))
	check(t, state.Close())
	out, err := exec.Command("a2sscan", "uptime", "--state", path, "--format", "text").Output()
	check(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(names)+2 {
		t.Fatalf("%s", out)
	}
	column := strings.Index(lines[0], "UP ")
	for i, line := range lines[1:] {
		want := "99.72 %"
		switch i {
		case 0:
			want = "100.00 %"
		case len(names):
			want = "99.77 %"
		}
		name, rest, found := strings.Cut(line, want)
		if !found || console.Columns(name) != column || !strings.HasPrefix(rest, " ") || console.Columns(line) > 80 {
			t.Errorf("%q begins at column %d, want %s at %d", line, console.Columns(name), want, column)
		}
	}
	if !strings.Contains(lines[2], "サーバー・日本語の") {
		t.Errorf("%q", lines[2])
	}
}

// livePage is a watch that runs.
type livePage struct {
	*process
	url string
}

// startPage starts a watch and waits for its page.
func startPage(t *testing.T, args []string) *livePage {
	t.Helper()
	p := startScan(t, args...)
	_, url, _ := strings.Cut(p.wait(p.err, "live page: "), "live page: ")
	go io.Copy(io.Discard, p.err)
	return &livePage{p, strings.TrimSuffix(url, "/\n")}
}

// get asks the page, under a name if that is not empty.
func (p *livePage) get(path, host string) (status int, text string) {
	p.Helper()
	r, err := http.NewRequest("GET", p.url+path, nil)
	check(p, err)
	r.Host = host
	answer, err := http.DefaultClient.Do(r)
	check(p, err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	check(p, err)
	return answer.StatusCode, string(b)
}

// until asks until the answer has a text.
func (p *livePage) until(path, want string) (text string) {
	p.Helper()
	for range 600 {
		if _, text = p.get(path, ""); strings.Contains(text, want) {
			return text
		}
		time.Sleep(200 * time.Millisecond)
	}
	p.Fatalf("%s never has %s:\n%.500s", path, want, text)
	return text
}

// renamed are servers that have another, long name in each second. They count the checks.
type renamed struct {
	list     string
	requests atomic.Int64
}

func newRenamed(t *testing.T, n int) *renamed {
	t.Helper()
	r := &renamed{}
	for range n {
		conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 140, 0, 1)})
		check(t, err)
		t.Cleanup(func() { conn.Close() })
		r.list += conn.LocalAddr().String() + "\n"
		go func() {
			for b := make([]byte, 100); ; {
				n, from, err := conn.ReadFromUDP(b)
				if err != nil {
					return
				}
				if n >= 25 {
					r.requests.Add(1)
					name := fmt.Sprint(time.Now().Unix(), strings.Repeat(" long", 100))
					_, _ = conn.WriteToUDP(wire.AppendInfo(nil, &wire.Info{Protocol: 17, Name: []byte(name), ShortAppID: 440, MaxPlayers: 9}), from)
				}
			}
		}()
	}
	return r
}

// more waits until the servers were asked n more times.
func (r *renamed) more(t *testing.T, n int64) {
	t.Helper()
	want := r.requests.Load() + n
	for end := time.Now().Add(10 * time.Minute); r.requests.Load() < want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("asked %d times, want %d: the checks have stopped", r.requests.Load(), want)
		}
	}
}

// watch returns a command that watches the servers.
func (r *renamed) watch(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	list := filepath.Join(t.TempDir(), "servers.txt")
	check(t, os.WriteFile(list, []byte(r.list), 0o600))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, "a2sscan", append([]string{"watch", list, "--allow-reserved", "--every", "5s", "--full-every", "5s", "--damp", "0"}, args...)...)
}

// smallPipe returns a pipe that takes 4096 bytes.
func smallPipe(t *testing.T, full bool) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	check(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	size, err := unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, 4096)
	check(t, err)
	if full {
		if _, err := w.Write(bytes.Repeat([]byte("\n"), size)); err != nil {
			t.Fatal(err)
		}
	}
	return r, w
}

// startSaying starts a command and returns its messages. Unlike the pipe of cmd.StderrPipe, they can
// still be read after cmd.Wait.
func startSaying(t *testing.T, cmd *exec.Cmd) *os.File {
	t.Helper()
	said, w, err := os.Pipe()
	check(t, err)
	t.Cleanup(func() { said.Close() })
	cmd.Stderr = w
	check(t, cmd.Start())
	w.Close()
	return said
}

// endsSoon sends SIGTERM, and waits for the end of a process that a stalled reader must not hold up.
func endsSoon(t *testing.T, cmd *exec.Cmd, signals, code int) {
	t.Helper()
	begin := time.Now()
	check(t, cmd.Process.Signal(syscall.SIGTERM))
	if signals > 1 { // a second signal soon after the first may be lost, so it is repeated
		defer console.Every(300*time.Millisecond, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })()
	}
	cmd.Wait()
	t.Logf("ended %v after the signal", time.Since(begin))
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
}

// idsIn appends the IDs of events in lines of JSON. Each line must be whole.
func idsIn(t *testing.T, ids []int64, lines []byte) []int64 {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var e db.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

// TestWatchStalled: a watch whose events nobody takes goes on, says so, and ends with a signal. The
// next one writes what this one did not.
func TestWatchStalled(t *testing.T) {
	t.Parallel()
	skipShort(t)
	for _, kind := range []string{"pipe", "fifo"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			servers := newRenamed(t, 8)
			dir := t.TempDir()
			args := []string{"--state", filepath.Join(dir, "watch.db"), "--status", "json"}
			var events *os.File
			start := func(more ...string) *exec.Cmd {
				cmd := servers.watch(t, append(args[:len(args):len(args)], more...)...)
				if kind == "pipe" {
					var w *os.File
					events, w = smallPipe(t, false)
					cmd.Stdout = w
				} else {
					fifo := filepath.Join(dir, "events")
					_ = syscall.Mkfifo(fifo, 0o600)
					var err error
					if events, err = os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { events.Close() })
					_, _ = unix.FcntlInt(events.Fd(), unix.F_SETPIPE_SZ, 4096)
					cmd.Args = append(cmd.Args, "-o", fifo)
				}
				return cmd
			}
			cmd := start("--listen", "0", "--log-file", filepath.Join(dir, "log"))
			said := startSaying(t, cmd)
			if w, ok := cmd.Stdout.(*os.File); ok {
				w.Close()
			}
			trouble, text := make(chan struct{}), make(chan string, 1)
			go func() {
				text <- watchFor(said, `"trouble":"the reader of the output has stopped reading (since `, trouble)
			}()
			select {
			case <-trouble:
			case all := <-text:
				t.Fatalf("it ended without saying that the reader has stopped reading:\n%s", all)
			case <-time.After(10 * time.Minute):
				cmd.Process.Kill()
				t.Fatalf("it never says that the reader has stopped reading:\n%s", <-text)
			}
			servers.more(t, 3*8)
			if log, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || !strings.Contains(string(log), "the output is blocked") {
				t.Errorf("the log: %v\n%s", err, log)
			} else if _, address, _ := strings.Cut(string(log), `msg="page served" address=`); address != "" {
				address, _, _ = strings.Cut(address, "\n")
				for path, want := range map[string]string{"/livez": "200 watching\n", "/healthz": "503 the reader of the output has stopped reading (since "} {
					resp, err := http.Get("http://" + address + path)
					check(t, err)
					body, _ := io.ReadAll(resp.Body)
					resp.Body.Close()
					if got := fmt.Sprint(resp.StatusCode, " ", string(body)); !strings.HasPrefix(got, want) {
						t.Errorf("%s: %q, want %q", path, got, want)
					}
				}
			}
			endsSoon(t, cmd, 1, console.ExitOK)
			if all := <-text; !strings.Contains(all, "the next watch with this state writes these events") {
				t.Error(all)
			}
			first, _ := io.ReadAll(events)
			ids := idsIn(t, nil, first)
			if len(ids) == 0 {
				t.Fatal("no event fits into the pipe")
			}
			// A watch waits only for a second at its end, so a slow machine needs another one.
			for last := int64(-1); last != int64(len(ids)); {
				cmd = start("--max-runtime", "3s")
				check(t, cmd.Start())
				if w, ok := cmd.Stdout.(*os.File); ok {
					w.Close()
				}
				var rest bytes.Buffer
				ended := make(chan struct{})
				go func() { cmd.Wait(); close(ended) }()
				for over := false; !over; {
					select {
					case <-ended:
						over = true
					case <-time.After(10 * time.Millisecond): // a named pipe without a writer is at its end
					}
					io.Copy(&rest, events)
				}
				before := len(ids)
				if ids = idsIn(t, ids, rest.Bytes()); len(ids) == before {
					t.Fatalf("a watch wrote none of the events that waited:\n%v", ids)
				}
				state, err := db.Read(args[1])
				check(t, err)
				last, _, err = state.Last()
				check(t, err)
				check(t, state.Close())
			}
			for i, id := range ids {
				if id != int64(i+1) {
					t.Fatalf("event %d has the ID %d", i+1, id)
				}
			}
		})
	}
}

// TestAllStalled: a watch goes on, and ends with a signal, although nobody reads its events, its
// messages and its log. A scan ends by itself.
func TestAllStalled(t *testing.T) {
	t.Parallel()
	skipShort(t)
	log := func(t *testing.T) string {
		name := filepath.Join(t.TempDir(), "log")
		check(t, syscall.Mkfifo(name, 0o600))
		fullPipe(t, name)
		return name
	}
	outputs := map[string]func(t *testing.T, cmd *exec.Cmd){
		"pipes": func(t *testing.T, cmd *exec.Cmd) {
			_, out := smallPipe(t, true)
			_, err := smallPipe(t, true)
			cmd.Stdout, cmd.Stderr = out, err
		},
		"terminal": func(t *testing.T, cmd *exec.Cmd) {
			screen, tty := terminalPair(t, 100)
			t.Cleanup(func() { tty.Close() })
			cmd.Stdout, cmd.Stderr = tty, tty
			if _, err := screen.WriteString("\x13"); err != nil { // Ctrl-S
				t.Fatal(err)
			}
		},
	}
	for kind, stall := range outputs {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			servers := newRenamed(t, 8)
			cmd := servers.watch(t, "--status", "text", "--log-file", log(t), "--state", filepath.Join(t.TempDir(), "watch.db"))
			stall(t, cmd)
			check(t, cmd.Start())
			servers.more(t, 4*8)
			endsSoon(t, cmd, 1, console.ExitOK)
		})
		t.Run("without a state, "+kind, func(t *testing.T) {
			t.Parallel()
			servers := newRenamed(t, 8)
			cmd := servers.watch(t)
			stall(t, cmd)
			check(t, cmd.Start())
			servers.more(t, 4*8)
			endsSoon(t, cmd, 1, console.ExitOutput)
		})
		scan := func(t *testing.T, in string, args ...string) *exec.Cmd {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			t.Cleanup(cancel)
			cmd := exec.CommandContext(ctx, "a2sscan", append([]string{"scan", "--allow-reserved", "--cooldown", "0", "--log-file", log(t), "--status", "json"}, args...)...)
			cmd.Stdin = strings.NewReader(in)
			stall(t, cmd)
			check(t, cmd.Start())
			return cmd
		}
		t.Run("a scan ends, "+kind, func(t *testing.T) {
			t.Parallel()
			_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix("127.140.1.0/28"), Kinds: []fleet.Kind{fleet.Source}})
			cmd := scan(t, "", "127.140.1.0/28", "-p", port, "-o", filepath.Join(t.TempDir(), "census.ndjson"))
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
		t.Run("a scan is ended, "+kind, func(t *testing.T) {
			t.Parallel()
			servers := newRenamed(t, 1)
			cmd := scan(t, servers.list+"127.140.9.9:9\n", "-", "--query", "info", "--order", "input", "--timeout", "10m")
			servers.more(t, 1)
			endsSoon(t, cmd, 2, console.ExitInterrupted)
		})
	}
}

// hold holds a database as another program does, until release is called.
func hold(t *testing.T, path, how string) (release func()) {
	t.Helper()
	state, err := sql.Open("sqlite", path)
	check(t, err)
	state.SetMaxOpenConns(1)
	if _, err := state.Exec("PRAGMA busy_timeout = 20000; " + how); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { state.Close() })
	t.Cleanup(release)
	return release
}

// TestStateHeld: a watch goes on while another program has locked its state, and loses nothing. It waits
// for the state at its start, too, and uptime does.
func TestStateHeld(t *testing.T) {
	t.Parallel()
	skipShort(t)
	servers := newRenamed(t, 8)
	dir := t.TempDir()
	state, events := filepath.Join(dir, "watch.db"), filepath.Join(dir, "events.ndjson")
	start := func() (cmd *exec.Cmd, said *bufio.Reader) {
		cmd = servers.watch(t, "--state", state, "-o", events, "--status", "json")
		return cmd, bufio.NewReader(startSaying(t, cmd))
	}
	until := func(said *bufio.Reader, words string) {
		t.Helper()
		(&process{T: t}).wait(said, words)
	}
	events8 := func(said *bufio.Reader) {
		t.Helper()
		for status := (watch.Status{}); status.Events < 8; {
			_ = json.Unmarshal([]byte((&process{T: t}).wait(said, `"events":`)), &status)
		}
	}
	cmd, said := start()
	events8(said)
	release := hold(t, state, "BEGIN IMMEDIATE")
	until(said, `"trouble":"another program has locked the state (since `)
	before := servers.requests.Load()
	servers.more(t, 8)
	release()
	until(said, `"waiting":0,"dropped":0,"sent"`)
	go io.Copy(io.Discard, said)
	endsSoon(t, cmd, 1, console.ExitOK)
	if before == 0 {
		t.Error("nothing was asked")
	}

	release = hold(t, state, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
	uptime := exec.Command("a2sscan", "uptime", "--state", state)
	waits := startSaying(t, uptime)
	cmd, said = start()
	until(said, "waiting, because another program has locked the database")
	until(bufio.NewReader(waits), "waiting, because another program has locked the database")
	release()
	if err := uptime.Wait(); err != nil {
		t.Error(err)
	}
	events8(said)

	release = hold(t, state, "BEGIN IMMEDIATE") // and is still held at the end
	until(said, `"trouble":"another program has locked the state`)
	text := make(chan string, 1)
	go func() { text <- watchFor(said, "", nil) }()
	endsSoon(t, cmd, 1, console.ExitOutput)
	if all := <-text; !strings.Contains(all, " could not be stored") || !strings.Contains(all, `"message":"can't read or write the database of --state: another program has locked the database`) {
		t.Error(all)
	}
	release()
	lines, err := os.ReadFile(events)
	check(t, err)
	ids := idsIn(t, nil, lines)
	for i, id := range ids {
		if id != int64(i+1) {
			t.Fatalf("event %d has the ID %d", i+1, id)
		}
	}
}
