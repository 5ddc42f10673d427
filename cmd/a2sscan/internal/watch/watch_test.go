package watch

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// world is a network of simulated servers, and a watcher of them, in simulated time.
type world struct {
	t       *testing.T
	w       *Watcher
	now     time.Time
	servers []*fake
	flights []flight
	loss    float64 // of checks
	rng     *rand.Rand
	events  []db.Event
	stored  []db.Server
	fresh   []netip.AddrPort
	paused  time.Duration
	asked   int
	full    int
}

// fake is a simulated server.
type fake struct {
	addr           netip.AddrPort
	dead           bool
	unlucky        bool // a check of it was lost
	name, mapName  string
	version        string
	people, places int
	ruled          int // people according to a rule, which is right; 0: no such rule
	steam          uint64
	played, uptime int // seconds; 0: no such answer
	challenge      uint32
	forgets        bool // it ignores old challenges
	ignored        int  // requests
	noRules        bool
	onlyPlayers    bool
}

// silence makes servers silent, or lets them answer again.
func silence(dead bool, servers []*fake) {
	for _, f := range servers {
		f.dead = dead
	}
}

type flight struct {
	due time.Time
	r   *scanner.Result
}

const attempts = 3

// usual are the rules of most tests.
func usual() Rules {
	return Rules{Every: time.Minute, FullEvery: 10 * time.Minute, DownAfter: 3, Attempts: attempts, Damp: 10 * time.Minute, BlindMax: 10 * time.Minute, Answers: true}
}

// newWorld returns a world of n servers, eight in each /24.
func newWorld(t *testing.T, n int, rules Rules) *world {
	x := &world{t: t, now: time.Date(2026, 11, 20, 12, 10, 0, 0, time.UTC), rng: rand.New(rand.NewPCG(1, 2))}
	x.w = New(rules, x.now)
	var addrs []netip.AddrPort
	for i := range n {
		x.servers = append(x.servers, newFake(i))
		addrs = append(addrs, x.servers[i].addr)
	}
	x.w.Watch(addrs, x.now)
	return x
}

func newFake(i int) *fake {
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, byte(i >> 11), byte(i >> 3), byte(i & 7)}), 27015)
	return &fake{
		addr: addr, name: fmt.Sprintf("a server named %d", i), mapName: "de_dust2", version: "1.0", people: 5, places: 20,
		steam: 1<<56 | 3<<52 | 1<<32 | uint64(i+1), played: 3600,
	}
}

// answer is what the server answers to a check.
func (f *fake) answer(t scanner.Target, at time.Time) *scanner.Result {
	r := &scanner.Result{Addr: t.Addr, Time: at, Asked: wire.AskInfo, PlayersAnnounced: -1, RulesAnnounced: -1}
	if !t.InfoOnly {
		r.Asked = wire.AskAll
	}
	if f.dead {
		r.Status, r.Sent = scanner.StatusNoReply, attempts
		return r
	}
	if f.forgets {
		f.challenge++
	}
	r.Status, r.Sent, r.Received, r.Challenge = scanner.StatusOK, 1, 1, f.challenge
	if f.forgets && t.Challenge != 0 {
		f.ignored++
		r.Sent = 3
	}
	if f.onlyPlayers {
		if r.Status = scanner.StatusPartial; t.InfoOnly {
			r.Status, r.Sent, r.Received = scanner.StatusNoReply, attempts, 0
		} else {
			r.HasPlayers = true
		}
		return r
	}
	r.HasInfo = true
	r.Info = wire.Info{
		Has:  wire.HasName | wire.HasMap | wire.HasVersion | wire.HasPlayers | wire.HasMaxPlayers | wire.HasFolder,
		Name: []byte(f.name), Map: []byte(f.mapName), Version: []byte(f.version), Players: uint32(f.people), MaxPlayers: uint32(f.places),
		Folder: []byte("valve"), SteamID: f.steam,
	}
	if f.uptime > 0 {
		r.Info.Has, r.Info.GameID = r.Info.Has|wire.HasGameID, 252490 // Rust
	}
	if f.ruled > 0 {
		r.Info.Has, r.Info.GameID = r.Info.Has|wire.HasGameID, 393380 // Squad
	}
	if t.InfoOnly {
		return r
	}
	r.HasPlayers, r.HasRules = true, !f.noRules
	for range f.people {
		r.Players = append(r.Players, wire.Player{Name: []byte("somebody"), Duration: float32(f.played)})
	}
	if f.uptime > 0 && r.HasRules {
		r.Rules = []wire.Rule{{Name: []byte("uptime"), Value: fmt.Append(nil, f.uptime)}}
	}
	if f.ruled > 0 && r.HasRules {
		r.Rules = []wire.Rule{{Name: []byte("PlayerCount_i"), Value: fmt.Append(nil, f.ruled)}}
	}
	if f.noRules {
		r.Status, r.Err[wire.QuestionRules] = scanner.StatusPartial, wire.ErrTimeout
	}
	new(scanner.Interpreter).Interpret(r)
	return r
}

// run lets time pass.
func (x *world) run(d time.Duration) {
	for end := x.now.Add(d); x.now.Before(end); {
		for {
			t, due := x.w.Next(x.now)
			if !due {
				break
			}
			x.asked++
			if !t.InfoOnly {
				x.full++
			}
			f := x.servers[slices.IndexFunc(x.servers, func(f *fake) bool { return f.addr == t.Addr })]
			lost := f.dead
			if x.rng.Float64() < x.loss {
				f.dead, f.unlucky = true, true
			}
			r, delay := f.answer(t, x.now), 50*time.Millisecond
			if f.dead {
				delay = 3500 * time.Millisecond
			}
			x.flights = append(x.flights, flight{x.now.Add(delay), r})
			f.dead = lost
		}
		x.now = x.now.Add(tickEvery)
		for i := 0; i < len(x.flights); i++ {
			if fl := x.flights[i]; !fl.due.After(x.now) {
				x.w.Answered(fl.r, x.now)
				x.flights = slices.Delete(x.flights, i, i+1)
				i--
			}
		}
		paused, _ := x.w.Tick(x.now)
		x.paused += paused
		x.take()
	}
	for i := range x.servers {
		x.servers[i].played += int(d.Seconds())
		if x.servers[i].uptime > 0 {
			x.servers[i].uptime += int(d.Seconds())
		}
	}
}

// take collects the effects of the watcher.
func (x *world) take() {
	decided := x.w.take()
	x.events = append(x.events, decided.events...)
	for _, s := range decided.servers {
		x.stored = append(x.stored, s)
	}
	x.fresh = append(x.fresh, decided.fresh...)
}

// giveBack returns the effects to the watcher, as if nobody had taken them.
func (x *world) giveBack() {
	x.w.decided = effects{events: x.events, servers: map[int64]db.Server{}}
	for _, s := range x.rows() {
		x.w.decided.servers[s.ID] = s
	}
	x.events, x.stored = nil, nil
}

// restart replaces the watcher by one that begins with the stored rows.
func (x *world) restart(rows ...db.Server) {
	var addrs []netip.AddrPort
	x.w = New(x.w.rules, x.now)
	for i := range rows {
		x.w.Restore(&rows[i], x.now)
		addrs = append(addrs, rows[i].Addr)
	}
	x.w.Watch(addrs, x.now)
}

// rows returns the servers that were stored, by their ID.
func (x *world) rows() []db.Server {
	rows := make([]db.Server, len(x.servers))
	for _, s := range x.stored {
		answer := rows[s.ID-1].Answer
		if rows[s.ID-1] = s; len(s.Answer) == 0 {
			rows[s.ID-1].Answer = answer
		}
	}
	return rows
}

// want checks the kinds and addresses of all events since the last call, such as "down 3".
func (x *world) want(events ...string) {
	x.t.Helper()
	var got []string
	for _, e := range x.events {
		i := slices.IndexFunc(x.servers, func(f *fake) bool { return f.addr.String() == e.Addr })
		word := e.Kind
		if i >= 0 {
			word += fmt.Sprint(" ", i)
		}
		got = append(got, word)
	}
	slices.Sort(got)
	slices.Sort(events)
	if !slices.Equal(got, events) {
		x.t.Errorf("events %q, want %q", got, events)
		for _, e := range x.events {
			x.t.Log(Text(&e))
		}
	}
	x.events = nil
}

// all returns a word for each of the servers from one to another.
func all(kind string, from, to int) (events []string) {
	for i := from; i < to; i++ {
		events = append(events, fmt.Sprint(kind, " ", i))
	}
	return events
}

// The first answers emit nothing. A server is down after three cycles without an answer, and
// a shorter silence is none. A server that never answered is never down.
func TestDownAndUp(t *testing.T) {
	x := newWorld(t, 40, usual())
	x.servers[7].dead = true
	x.run(5 * time.Minute)
	x.want()
	x.servers[3].dead = true
	x.run(110 * time.Second)
	x.servers[3].dead = false
	x.run(5 * time.Minute)
	x.want()
	x.servers[3].dead = true
	x.run(4*time.Minute + 5*time.Second)
	if len(x.events) != 1 {
		t.Fatal(x.events)
	}
	e := x.events[0]
	if e.Evidence.Checks != 3 || e.Evidence.Requests != 9 || e.For < 10*60 || e.For > 14*60 || e.Evidence.AllSilent {
		t.Errorf("%+v %+v", e, e.Evidence)
	}
	x.want("down 3")
	x.run(3 * time.Minute)
	x.servers[3].dead = false
	x.run(61 * time.Second)
	if e := x.events[0]; e.For < 6*60 || e.For > 9*60 {
		t.Errorf("down for %d s", e.For)
	}
	x.want("up 3")
	s := x.sums(3)
	if total := s[db.UpFor] + s[db.DownFor]; s[db.DownFor] < 6*60 || s[db.DownFor] > 9*60 || total < 18*60 || total > 21*60 {
		t.Errorf("%v", s)
	}
}

// Checks are spread over the cycle; a full one comes at least every ten cycles, and after a
// change.
func TestSchedule(t *testing.T) {
	x := newWorld(t, 300, usual())
	most := 0
	for range 60 * 12 {
		was := x.asked
		x.run(time.Second)
		most = max(most, x.asked-was)
	}
	if most > 6 || x.asked != 300*12 {
		t.Errorf("%d checks in 12 cycles, at most %d in a second; want 3600 and about 5", x.asked, most)
	}
	if x.full < 300*2 || x.full > 300*2+60 {
		t.Errorf("%d full checks, want the first of each, and one more", x.full)
	}
	full := x.full
	x.servers[1].mapName, x.servers[1].people = "de_nuke", 6
	x.servers[2].people = 7
	x.run(59 * time.Second)
	if n := x.full - full; n > 31 {
		t.Errorf("%d full checks in a cycle", n)
	}
	x.want()
}

// A server gets its last challenge back, unless it ignores old ones.
func TestChallenge(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.servers[0].challenge, x.servers[1].challenge, x.servers[1].forgets = 7, 7, true
	x.run(34 * time.Minute)
	if n := x.servers[1].ignored; n < 2 || n > 5 {
		t.Errorf("%d of 34 checks have a challenge that the server ignores", n)
	}
	if x.w.servers[0].challenge != 7 || x.w.servers[0].plain != 0 {
		t.Errorf("%+v", x.w.servers[0])
	}
}

// When most servers fall silent at once, the watcher is blind, and calls nothing down.
func TestBlind(t *testing.T) {
	for _, after := range []int{1, 3} {
		rules := usual()
		rules.DownAfter = after
		x := newWorld(t, 200, rules)
		x.run(3 * time.Minute)
		silence(true, x.servers[:190])
		x.run(4 * time.Minute)
		x.want("blind")
		silence(false, x.servers[1:])
		x.run(5 * time.Minute)
		x.want("seeing", "down 0")
		lasted(t, "unseen", x.sums(5)[db.UnseenFor], 4*time.Minute)
	}
}

// A short outage that runs into a cut is not taken for a long one.
func TestOutageBeforeCut(t *testing.T) {
	x := newWorld(t, 600, usual())
	x.run(3 * time.Minute)
	silence(true, x.servers[:100])
	x.run(110 * time.Second)
	silence(true, x.servers)
	x.run(90 * time.Second)
	silence(false, x.servers)
	x.run(2 * time.Minute)
	x.want("blind", "seeing")
}

// What does not look like an outage of the watcher's own network is reported.
func TestNotBlind(t *testing.T) {
	x := newWorld(t, 200, usual())
	x.run(3 * time.Minute)
	silence(true, x.servers[:100]) // half of them
	x.run(5 * time.Minute)
	x.want(all("down", 0, 100)...)

	x = newWorld(t, 3, usual()) // an owner of three in one rack
	x.run(3 * time.Minute)
	silence(true, x.servers)
	x.run(5 * time.Minute)
	x.want(all("down", 0, 3)...)
}

// TestBlindDown: a blind watcher learns nothing about a server that was down before. That time
// is unseen, and confirms no event that damping holds back, until --blind-max is over.
func TestBlindDown(t *testing.T) {
	for _, c := range []struct {
		cut, unseen time.Duration
		lasts       bool // whether server 0 is still down after the cut
		during      []string
		after       []string
	}{
		{9 * time.Minute, 9 * time.Minute, true, nil, []string{"seeing", "down 0"}},
		{9 * time.Minute, 9 * time.Minute, false, nil, []string{"seeing"}},
		{15 * time.Minute, 10 * time.Minute, true, append(all("down", 1, 40), "down 0"), append(all("up", 1, 40), "seeing")},
	} {
		rules := usual()
		rules.Damp = 10 * time.Hour
		x := newWorld(t, 40, rules)
		x.run(3 * time.Minute)
		for i := range 3 { // damping holds back the second event down
			x.servers[0].dead = i%2 == 0
			for (x.w.servers[0].status == db.Down) != x.servers[0].dead {
				x.run(time.Second)
			}
		}
		x.want("down 0", "up 0")
		silence(true, x.servers)
		for !x.w.view.blind {
			x.run(time.Second)
		}
		x.want("blind")
		before := x.sums(0)
		x.run(c.cut)
		x.want(c.during...)
		silence(false, x.servers[1:])
		x.servers[0].dead = c.lasts
		x.run(5 * time.Minute)
		x.want(c.after...)
		s, up := x.sums(0), uint32(0)
		lasted(t, "unseen", s[db.UnseenFor]-before[db.UnseenFor], c.unseen)
		if !c.lasts {
			up = 5 * 60
		}
		lasted(t, "down", s[db.DownFor]-before[db.DownFor]+up, c.cut-c.unseen+5*time.Minute)
	}
}

// After --blind-max, the silent servers are down, with that evidence. The time before is unseen.
func TestBlindMax(t *testing.T) {
	x := newWorld(t, 40, usual())
	x.run(3 * time.Minute)
	silence(true, x.servers)
	x.run(9 * time.Minute)
	x.want("blind")
	x.run(3 * time.Minute)
	for i := range x.servers {
		s := x.sums(i)
		lasted(t, "unseen", s[db.UnseenFor], 10*time.Minute)
		lasted(t, "down", s[db.DownFor], time.Minute)
	}
	for _, e := range x.events {
		if !e.Evidence.AllSilent {
			t.Errorf("%+v", e.Evidence)
		}
	}
	x.want(all("down", 0, 40)...)
	silence(false, x.servers)
	x.run(2 * time.Minute)
	x.want(append(all("up", 0, 40), "seeing")...)
}

// References decide alone.
func TestReferences(t *testing.T) {
	rules := usual()
	rules.References = []netip.AddrPort{newFake(0).addr, newFake(1).addr}
	x := newWorld(t, 100, rules)
	x.run(3 * time.Minute)
	silence(true, x.servers[1:])
	x.run(6 * time.Minute)
	x.want(all("down", 1, 100)...)
	silence(false, x.servers[1:])
	x.run(2 * time.Minute)
	x.want(all("up", 1, 100)...)
	silence(true, x.servers[:50])
	x.run(5 * time.Minute)
	x.want("blind")
}

// When a scan fails, the watcher is blind until a datagram leaves again.
func TestScanFailed(t *testing.T) {
	x := newWorld(t, 3, usual())
	r := &Watch{Options: &Options{Rules: usual()}, watcher: x.w, monitor: &scanner.Monitor{}}
	r.checkSending(x.now)
	x.run(2 * time.Minute)
	r.scanFailed(&scanner.Stats{})
	r.checkSending(x.now)
	x.w.Tick(x.now.Add(time.Second))
	if events := x.w.take().events; len(events) != 1 || events[0].Kind != "blind" {
		t.Errorf("%+v", events)
	}
}

// While the process does not run, nobody asks: that time is unseen, and silence that was asked
// for before it means nothing. The same holds when the clock is set.
func TestPause(t *testing.T) {
	for _, jump := range []time.Duration{30 * time.Minute, -30 * time.Minute} {
		x := newWorld(t, 40, usual())
		x.run(5 * time.Minute)
		x.servers[2].dead = true
		x.run(2 * time.Minute)
		x.flights = nil
		x.now = x.now.Add(jump)
		x.run(100 * time.Second)
		x.want()
		x.run(3 * time.Minute)
		x.want("down 2")
		s := x.sums(9)
		if want := max(0, jump); s[db.UpFor] < 600 || (time.Duration(s[db.UnseenFor])*time.Second-want).Abs() > 5*time.Second {
			t.Errorf("%v after %v, want nearly 700 s up", s, jump)
		}
	}
}

// Goroutines may read the clock in another order than they reach the watcher: that is no pause.
func TestClockOrder(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.run(time.Minute)
	x.w.Tick(x.now.Add(-30 * time.Millisecond))
	if paused, _ := x.w.Tick(x.now); paused != 0 || x.paused != 0 {
		t.Errorf("paused for %v", paused+x.paused)
	}
}

// A check that was not really sent is none.
func TestNotAsked(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.run(2 * time.Minute)
	x.servers[0].dead = true
	for range 60 * 5 * 10 {
		x.run(100 * time.Millisecond)
		for _, f := range x.flights {
			f.r.Sent = 0
		}
	}
	x.want()
}

// Changes are those of diff. Volatile ones are reported only if they are named.
func TestChanges(t *testing.T) {
	for _, named := range []bool{false, true} {
		rules := usual()
		if named {
			rules.Kinds = []string{"map", "renamed"}
		}
		x := newWorld(t, 10, rules)
		x.run(3 * time.Minute)
		x.servers[1].name = "quite another name"
		x.servers[2].mapName = "de_nuke"
		x.servers[3].version = "2.0"
		x.servers[4].places = 30
		x.run(2 * time.Minute)
		if named {
			x.want("renamed 1", "map 2")
			continue
		}
		for _, e := range x.events {
			if e.Kind == "renamed" && (*e.Before.Name != "a server named 1" || *e.After.Name != "quite another name") {
				t.Errorf("%+v", e)
			}
		}
		x.want("renamed 1", "version 3", "capacity 4")
		x.servers[5].people = 0
		x.servers[6].people = 20
		x.run(2 * time.Minute)
		x.want("empty 5", "full 6")
	}
}

// An answer that lacks a question, because a datagram was lost, replaces no better one.
func TestPoorAnswer(t *testing.T) {
	x := newWorld(t, 1, usual())
	x.servers[0].uptime = 90000
	x.run(11 * time.Minute)
	x.servers[0].noRules = true
	x.run(11 * time.Minute)
	x.servers[0].noRules, x.servers[0].uptime = false, 30
	x.run(11 * time.Minute)
	x.want("restarted 0")
}

// TestPoorCount: an answer that lacks the rules does not give the number of people, if the
// number of INFO is wrong.
func TestPoorCount(t *testing.T) {
	rules := usual()
	rules.FullEvery, rules.Crowd = time.Minute, 18
	x := newWorld(t, 2, rules)
	x.servers[0].people, x.servers[0].ruled = 0, 12
	x.servers[1].people, x.servers[1].ruled = 20, 12
	x.run(3 * time.Minute)
	for _, lost := range []bool{true, false} {
		x.servers[0].noRules, x.servers[1].noRules = lost, lost
		x.run(2 * time.Minute)
	}
	x.want()
	for i := range x.servers {
		if s := x.sums(i); s[db.Counts] == 0 || s[db.PeopleSum] != 12*s[db.Counts] {
			t.Errorf("server %d: %d people in %d counts, want 12 in each", i, s[db.PeopleSum], s[db.Counts])
		}
	}
}

// A restart needs an uptime that fell, or two signs. A Steam ID that changes alone is none,
// nor are durations that begin anew with a map.
func TestRestarted(t *testing.T) {
	x := newWorld(t, 6, usual())
	x.servers[0].uptime = 90000
	x.run(12 * time.Minute)
	x.servers[0].uptime, x.servers[0].name = 20, "restarted with uptime"
	x.servers[1].steam, x.servers[1].played = 90<<52|77, 5
	x.servers[2].steam = 90<<52 | 78
	x.servers[3].mapName, x.servers[3].played, x.servers[3].steam = "de_nuke", 5, 90<<52|79
	x.servers[4].played = 5
	x.run(3 * time.Minute)
	x.want("restarted 0", "restarted 1", "renamed 0")
}

// A server that goes down at one address and comes at another has moved.
func TestMoved(t *testing.T) {
	x := newWorld(t, 12, usual())
	x.servers[11].dead = true
	x.run(5 * time.Minute)
	x.servers[11].name, x.servers[11].steam, x.servers[11].dead = x.servers[2].name, x.servers[2].steam, false
	x.servers[2].dead = true
	x.run(6 * time.Minute)
	for _, e := range x.events {
		if e.Kind == "moved" && (e.By != "steam_id" || e.Before.Addr != x.servers[2].addr.String()) {
			t.Errorf("%+v", e)
		}
	}
	x.want("down 2", "moved 11")
}

// A server that may have come from one of two addresses has not moved.
func TestTwins(t *testing.T) {
	x := newWorld(t, 12, usual())
	x.servers[3].name, x.servers[3].steam = x.servers[2].name, x.servers[2].steam
	x.servers[11].name, x.servers[11].steam, x.servers[11].dead = x.servers[2].name, x.servers[2].steam, true
	x.run(5 * time.Minute)
	x.servers[2].dead, x.servers[3].dead, x.servers[11].dead = true, true, false
	x.run(6 * time.Minute)
	x.want("down 2", "down 3")

	x = newWorld(t, 12, usual()) // nor has one that falls after its twin came back
	x.servers[3].name, x.servers[3].steam = x.servers[2].name, x.servers[2].steam
	x.run(3 * time.Minute)
	x.servers[2].dead = true
	x.run(6 * time.Minute)
	x.servers[2].dead, x.servers[3].dead = false, true
	x.run(6 * time.Minute)
	x.want("down 2", "up 2", "down 3")
}

// A server may be down only after many checks.
func TestDownLate(t *testing.T) {
	rules := usual()
	rules.DownAfter = 300
	x := newWorld(t, 3, rules)
	x.run(2 * time.Minute)
	x.servers[1].dead = true
	x.run(299 * time.Minute)
	x.want()
	x.run(3 * time.Minute)
	x.want("down 1")
}

// A server that flaps is reported twice in ten minutes, and then as it is.
func TestDamping(t *testing.T) {
	rules := usual()
	rules.DownAfter, rules.Damp = 1, 20*time.Minute
	x := newWorld(t, 3, rules)
	x.run(2 * time.Minute)
	for i := range 9 {
		x.servers[0].dead = i%2 == 0
		x.run(time.Minute)
	}
	x.want("down 0", "up 0")
	x.run(5 * time.Minute)
	if len(x.events) != 1 || x.events[0].LeftOut != 6 {
		t.Errorf("%+v", x.events)
	}
	x.want("down 0")
	if n := x.sums(0)[db.Outages]; n != 5 {
		t.Errorf("%d outages are counted, and 5 happened", n)
	}
}

// Damping holds back no state that lasts: a second outage is reported within 2N+1 cycles of
// its beginning, and its end likewise, if they are wanted.
func TestSecondOutage(t *testing.T) {
	for _, kinds := range [][]string{nil, {"down"}, {"up"}} {
		for _, n := range []int{1, 3, 5} {
			rules := usual()
			rules.DownAfter, rules.Damp, rules.Kinds = n, 10*time.Hour, kinds
			x := newWorld(t, 3, rules)
			toggle := func(dead bool, kind string, held bool) {
				t.Helper()
				x.servers[0].dead = dead
				if kinds != nil && kinds[0] != kind {
					x.run(time.Duration(2*n+1)*time.Minute + 4*time.Second)
					x.want()
					return
				}
				began := x.now
				for len(x.events) == 0 && x.now.Sub(began) < time.Hour {
					x.run(time.Second)
				}
				if len(x.events) == 0 {
					t.Fatalf("%q, n %d: %s is never reported", kinds, n, kind)
				}
				e := x.events[0]
				if after := x.now.Sub(began); after > time.Duration(2*n+1)*time.Minute+4*time.Second {
					t.Errorf("%q, n %d: %s reported after %v", kinds, n, kind, after)
				}
				late := e.Reported.Sub(e.Time)
				if held != (late > 0) || late > time.Duration(n)*time.Minute+4*time.Second || x.now.Sub(e.Reported) > 2*time.Second {
					t.Errorf("%q, n %d: %s at %v, reported at %v, now %v", kinds, n, kind, e.Time, e.Reported, x.now)
				}
				x.want(kind + " 0")
				x.run(30 * time.Second)
			}
			x.run(3 * time.Minute)
			toggle(true, "down", false)
			toggle(false, "up", false)
			toggle(true, "down", true)
			toggle(false, "up", true)
			toggle(true, "down", true)
		}
	}
}

// What damping holds back at the end of the watch is reported before the end, unless it only
// repeats the latest report.
func TestFinish(t *testing.T) {
	for _, repeats := range []bool{false, true} {
		rules := usual()
		rules.DownAfter, rules.Damp = 1, 20*time.Minute
		x := newWorld(t, 3, rules)
		x.run(2 * time.Minute)
		for i := range 3 {
			x.servers[0].dead = i%2 == 0
			x.run(time.Minute)
		}
		x.want("down 0", "up 0")
		if repeats {
			x.servers[0].dead = false
			x.run(24 * time.Hour)
		}
		x.w.Finish(x.now)
		if x.take(); !repeats {
			if len(x.events) != 1 || !x.events[0].Time.Before(x.events[0].Reported) {
				t.Errorf("%+v", x.events)
			}
			x.want("down 0")
			x.w.Finish(x.now)
			x.take()
		}
		x.want()
	}
}

// A crowd is reported when enough people are on a server, and again only after fewer than
// half of them were left.
func TestCrowd(t *testing.T) {
	rules := usual()
	rules.Crowd, rules.Damp, rules.Kinds = 15, 0, []string{"up"}
	x := newWorld(t, 3, rules)
	people := func(n int) {
		x.servers[1].people = n
		x.run(61 * time.Second)
	}
	x.servers[2].people = 18 // from the beginning
	x.run(2 * time.Minute)
	people(14)
	x.want()
	people(15)
	if e := x.events[0]; *e.Before.People != 14 || *e.After.People != 15 {
		t.Errorf("%+v", e)
	}
	x.want("crowd 1")
	for _, n := range []int{16, 8, 17} {
		people(n)
	}
	x.want()
	people(7)
	people(15)
	x.want("crowd 1")
	x.restart(x.rows()...)
	x.run(2 * time.Minute)
	people(19)
	x.want()
}

// TestEmptyOnce: the next watch does not repeat that a server is empty, or full.
func TestEmptyOnce(t *testing.T) {
	rules := usual()
	rules.FullEvery, rules.Kinds = time.Hour, []string{"empty", "full"}
	x := newWorld(t, 2, rules)
	x.run(2 * time.Minute)
	x.servers[0].people, x.servers[1].people = 0, x.servers[1].places
	x.run(2 * time.Minute)
	x.want("empty 0", "full 1")
	x.restart(x.rows()...)
	x.run(2 * time.Minute)
	x.want()
}

// A server that stays down is reported again, also by the next watch, but not while the
// watcher is blind.
func TestRemind(t *testing.T) {
	rules := usual()
	rules.Remind = time.Hour
	x := newWorld(t, 40, rules)
	x.run(2 * time.Minute)
	x.servers[0].dead = true
	x.run(58 * time.Minute)
	x.want("down 0")
	x.run(7 * time.Minute)
	if e := x.events[0]; e.For < 60*60 || e.For > 65*60 || !strings.Contains(Text(&e), "still down, for 6") {
		t.Errorf("%+v: %s", e, Text(&e))
	}
	x.want("reminder 0")
	x.run(30 * time.Minute)
	rows := x.rows()
	rows[0].Told = seconds(x.now) // as if the reminder had been late
	x.restart(rows...)
	x.run(58 * time.Minute)
	x.want()
	x.run(4 * time.Minute)
	x.want("reminder 0")
	x.run(50 * time.Minute)
	silence(true, x.servers)
	x.run(9 * time.Minute) // the next reminder is due in them
	x.want("blind")
	silence(false, x.servers)
	x.run(90 * time.Minute)
	x.want("seeing", "up 0")
}

// A server that answers only PLAYER is up, and is asked everything in each check.
func TestOnlyPlayers(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.servers[1].onlyPlayers = true
	x.run(5 * time.Minute)
	if n := x.w.Status(); n.Up != 2 {
		t.Errorf("%+v", n)
	}
	x.want()
	x.servers[1].dead = true
	x.run(5 * time.Minute)
	x.want("down 1")
}

// A server that leaves the list is watched for a day.
func TestList(t *testing.T) {
	x := newWorld(t, 3, usual())
	x.run(2 * time.Minute)
	two := []netip.AddrPort{x.servers[0].addr, x.servers[1].addr}
	x.w.Watch(two, x.now)
	x.servers[2].dead = true
	x.run(5 * time.Minute)
	x.want("down 2")
	x.w.Watch(two, x.now.Add(25*time.Hour))
	x.w.Tick(x.now.Add(time.Second))
	if n := x.w.status; n.Servers != 2 || n.Down != 0 {
		t.Errorf("%+v", n)
	}
	fresh := newFake(9)
	x.servers = append(x.servers, fresh)
	list := append(two, fresh.addr)
	x.fresh = nil
	x.w.Watch(list, x.now)
	if x.take(); !slices.Equal(x.fresh, []netip.AddrPort{fresh.addr}) {
		t.Errorf("unknown: %v", x.fresh)
	}
	x.run(2 * time.Minute)
	if n := x.w.status; n.Servers != 3 || n.Up != 3 {
		t.Errorf("%+v", n)
	}
	x.want()
	x.run(10 * time.Minute)
	x.now = x.now.Add(5 * time.Second) // a pause
	x.run(time.Second)
	x.w.Watch(append(list, x.servers[2].addr), x.now)
	x.run(10 * time.Minute)
	if down := x.sums(2)[db.DownFor]; down < 13*60 || down > 17*60 {
		t.Errorf("%d s down, want about 5 minutes before it was forgotten, and 10 after", down)
	}
}

// A watch that begins again knows what it knew, and reports what happened meanwhile.
func TestRestore(t *testing.T) {
	x := newWorld(t, 4, usual())
	x.run(2 * time.Minute)
	x.servers[1].dead = true
	x.run(5 * time.Minute)
	x.want("down 1")
	if n := len(x.stored); n != 4+1 {
		t.Errorf("%d changes to store, want an answer of each server, and an outage", n)
	}
	rows, hours := x.rows(), x.w.hours.running()
	if strings.Contains(string(rows[0].Answer), "somebody") {
		t.Errorf("the answer names players: %s", rows[0].Answer)
	}
	var addrs []netip.AddrPort
	again := &world{t: t, now: x.now.Add(10 * time.Minute), rng: x.rng, servers: x.servers}
	again.w = New(usual(), again.now)
	for i := range rows {
		again.w.Restore(&rows[i], again.now)
		addrs = append(addrs, rows[i].Addr)
	}
	again.w.Resume(hours, again.now)
	again.now = again.now.Add(10 * time.Second) // reading the state took so long
	again.w.Watch(addrs[:3], again.now)         // the last one is asked for the rest of its day
	again.w.Tick(again.now)
	if n := again.w.status; n.People != 15 {
		t.Errorf("%d people before the first answer, and 15 were on the servers that are up", n.People)
	}
	x.servers[1].dead, x.servers[2].name = false, "renamed while nobody watched"
	again.run(2 * time.Minute)
	again.want("up 1", "renamed 2")
	if again.paused != 0 {
		t.Errorf("a pause of %v", again.paused)
	}
	var s db.Sample
	for _, h := range again.w.hours.running() {
		s = h.Samples[0]
	}
	if s[db.UpFor] < 7*60 || s[db.UpFor] > 9*60 || s[db.UnseenFor] > 5 {
		t.Errorf("%+v, want up to 7 and 2 minutes up, and the gap in neither count", s)
	}
}

// Hours that have ended are stored as they were, also those that an earlier watch left open.
func TestHours(t *testing.T) {
	state := newState(t)
	x := newWorld(t, 3, usual())
	begin := x.now
	check(t, state.Add([]netip.AddrPort{x.servers[0].addr, x.servers[1].addr, x.servers[2].addr}))
	watch := func(d time.Duration) {
		for end := x.now.Add(d); x.now.Before(end); {
			x.run(time.Minute)
			hours := x.w.hours.running()
			if hours[0].Number+1 < x.now.Unix()/3600 {
				t.Fatalf("hour %d is stored again at %v", hours[0].Number, x.now)
			}
			check(t, state.Flush(nil, x.stored, hours...))
			x.stored = nil
		}
	}
	watch(165 * time.Minute)         // until 14:55
	x.now = x.now.Add(5 * time.Hour) // 19:55
	x.w = New(usual(), x.now)
	check(t, state.Servers(func(s *db.Server) { x.w.Restore(s, x.now) }))
	hours, err := state.Running()
	if err != nil || len(hours) != 2 {
		t.Fatalf("%v, %v", hours, err)
	}
	x.w.Resume(hours, x.now)
	x.w.Watch([]netip.AddrPort{x.servers[0].addr, x.servers[1].addr, x.servers[2].addr}, x.now)
	watch(10 * time.Minute)
	periods, err := state.History(2, begin, x.now)
	check(t, err)
	var got []string
	for _, p := range periods {
		got = append(got, fmt.Sprintf("%s %d", p.Time.Format("15"), (p.Up+240)/300*5))
	}
	if want := []string{"12 50", "13 60", "14 55", "19 5", "20 5"}; !slices.Equal(got, want) {
		t.Errorf("minutes up %q, want %q", got, want)
	}
	if hours, err := state.Running(); err != nil || len(hours) != 2 {
		t.Errorf("%d hours are still open: %v", len(hours), err)
	}
}

// A server that never answered keeps the time of its first check, also in the next watch.
func TestNeverAnswered(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.servers[1].dead = true
	begun := x.now
	x.run(5 * time.Minute)
	x.want()
	s := &x.w.servers[1]
	if at := moment(s.since); s.status != db.Unknown || at.Before(begun) || at.After(begun.Add(time.Minute)) || s.silentAt != s.since {
		t.Errorf("unknown since %v, silent since %v; the watch began %v", at, moment(s.silentAt), begun)
	}
	x.now = x.now.Add(10 * time.Minute)
	x.restart(x.rows()...)
	x.run(2 * time.Minute)
	if got := x.w.servers[1]; got.since != s.since || got.silentAt == s.since {
		t.Errorf("after a restart: unknown since %v, before %v", moment(got.since), moment(s.since))
	}
}

// Random outages with loss: every long one is reported once, no short one ever.
func TestOutages(t *testing.T) {
	x := newWorld(t, 400, usual())
	x.loss = 0.0005 // of whole checks, with all retries
	x.run(2 * time.Minute)
	type outage struct{ from, to int }
	plan := make([]outage, 200)
	for i := range plan {
		from := x.rng.IntN(1200)
		plan[i] = outage{from, from + 5 + x.rng.IntN(595)}
	}
	begin := x.now
	seen := map[string]int{}
	for second := range 2000 {
		for i, o := range plan {
			x.servers[i].dead = second >= o.from && second < o.to
		}
		x.run(time.Second)
		for _, e := range x.events {
			if e.Kind != "down" {
				continue
			}
			i := slices.IndexFunc(x.servers, func(f *fake) bool { return f.addr.String() == e.Addr })
			seen[e.Addr]++
			lost := 3 // checks, at least, beside those that the outage covered
			if i < len(plan) {
				lost = 2 - (plan[i].to-plan[i].from)/60
			}
			if lost > 1 || lost == 1 && !x.servers[i].unlucky || seen[e.Addr] > 1 {
				t.Errorf("false: %s", Text(&e))
			} else if late := int(e.Time.Sub(begin).Seconds()) - plan[i].from; late > 4*60+10 {
				t.Errorf("reported after %d s", late)
			}
		}
		x.events = nil
	}
	for i, o := range plan {
		if o.to-o.from > 4*60 && seen[x.servers[i].addr.String()] != 1 {
			t.Errorf("server %d was down for %d s: %d events", i, o.to-o.from, seen[x.servers[i].addr.String()])
		}
	}
}

// The status line accounts for every server.
func TestStatusLine(t *testing.T) {
	s := Status{Servers: 2000, Up: 1985, Down: 1, People: 7654, Every: 60, Took: 60}
	if got, want := s.String(), "2,000 servers: 1,985 up, 1 down, 14 never answered; 7,654 people; 0 events"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Took = 0
	if got := s.String(); !strings.Contains(got, ", 14 not answered yet;") {
		t.Errorf("in the first cycle: %q", got)
	}
}

// TestMissingServer: a state that lacks a server between others is refused, because the watch
// would store the results of the later ones under other addresses.
func TestMissingServer(t *testing.T) {
	for id, want := range map[int]string{1: "no row with the id 1, but later rows", 2: "no row with the id 2, but later rows", 3: "<nil>"} {
		path := filepath.Join(t.TempDir(), "watch.db")
		state, err := db.Open(path)
		check(t, err)
		check(t, state.Add([]netip.AddrPort{newFake(0).addr, newFake(1).addr, newFake(2).addr}))
		raw, err := sql.Open("sqlite", path)
		check(t, err)
		_, err = raw.Exec("DELETE FROM servers WHERE id = ?", id)
		check(t, errors.Join(err, raw.Close()))
		err = (&Watch{Options: &Options{Rules: usual(), DB: state, Log: &Log{}}}).restore()
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("without server %d: %s, want %s", id, got, want)
		}
		check(t, state.Close())
	}
}

// TestKilledHeld: the watch after a kill reports an event that damping held back, if the state
// lasts for the usual number of checks, and does not if the state was just flapping.
func TestKilledHeld(t *testing.T) {
	for _, c := range []struct {
		outages int  // when the last of them is reported, or over, the watch is killed
		up      bool // the server is up then
		lasts   bool
		want    []string
	}{
		{2, false, true, []string{"down 1"}},
		{2, false, false, nil},
		{2, true, true, []string{"up 1"}},
		{2, true, false, nil},
		{1, false, true, nil},
		{1, true, true, nil},
	} {
		rules := usual()
		rules.Damp = 10 * time.Hour
		state := newState(t)
		x := newWorld(t, 3, rules)
		r := &Watch{Options: &Options{DB: state, Log: &Log{}}, watcher: x.w}
		check(t, state.Add([]netip.AddrPort{x.servers[0].addr, x.servers[1].addr, x.servers[2].addr}))
		x.run(2 * time.Minute)
		for i := range c.outages {
			x.servers[1].dead = true
			if i < c.outages-1 || c.up {
				x.run(8 * time.Minute) // so long that it is reported
				x.servers[1].dead = false
			}
			if i < c.outages-1 {
				x.run(8 * time.Minute)
			}
		}
		for x.w.servers[1].status == db.Up != c.up {
			x.run(time.Second)
		}
		x.giveBack()
		check(t, r.flush(t.Context(), true))
		y := &world{t: t, now: x.now.Add(5 * time.Minute), servers: x.servers, rng: x.rng}
		y.w = New(rules, y.now)
		var addrs []netip.AddrPort
		check(t, state.Servers(func(row *db.Server) { y.w.Restore(row, y.now); addrs = append(addrs, row.Addr) }))
		y.w.Watch(addrs, y.now)
		if !c.lasts {
			y.servers[1].dead = c.up
		}
		y.run(4*time.Minute + 4*time.Second)
		for _, e := range y.events {
			if !e.Time.Before(x.now.Add(time.Second)) || e.Reported.Before(y.now.Add(-4*time.Minute)) || e.Kind == "down" && e.Evidence.First.After(x.now) {
				t.Errorf("%+v", e)
			}
		}
		y.run(15 * time.Minute)
		y.want(c.want...)
		check(t, state.Close())
	}
}

// TestFlapping: a few of many servers change their state at random. Each state that lasts is
// reported within 2N+1 cycles. The states of other servers never last, and damping hides most.
func TestFlapping(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it simulates in one goroutine, and go test without -short runs it")
	}
	const n, servers, flapping, hours = 3, 240, 60, 4
	rules := usual()
	rules.Damp = 30 * time.Minute
	x := newWorld(t, servers, rules)
	x.loss = 0.0005 // of whole checks, with all retries
	x.run(2 * time.Minute)
	type state struct {
		dead bool
		from time.Time
		next time.Time // when the next state begins
	}
	states := make([]state, flapping)
	for i := range states {
		states[i].next = x.now.Add(time.Duration(x.rng.IntN(600)) * time.Second)
	}
	last, reports, changes := map[string]db.Event{}, map[string][]db.Event{}, make([]int, flapping)
	for range hours * 3600 {
		for i := range states {
			s := &states[i]
			if x.now.Before(s.next) {
				continue
			}
			s.dead, s.from = !s.dead, x.now
			length := 30 + x.rng.IntN(12*60)
			if i%2 == 1 && s.dead {
				length = 190 + x.rng.IntN(60)
			} else if i%2 == 1 {
				length = 65 + x.rng.IntN(60)
			}
			s.next = x.now.Add(time.Duration(length) * time.Second)
			x.servers[i].dead = s.dead
			changes[i]++
		}
		x.run(time.Second)
		for _, e := range x.events {
			if e.Kind != "up" && e.Kind != "down" {
				continue
			}
			if last[e.Addr].Kind == e.Kind {
				t.Errorf("reported twice: %s", Text(&e))
			}
			last[e.Addr], reports[e.Addr] = e, append(reports[e.Addr], e)
		}
		x.events = nil
		for i := range states {
			s := &states[i]
			reported := cmp.Or(last[x.servers[i].addr.String()].Kind, "up") == map[bool]string{true: "down", false: "up"}[s.dead]
			if age := x.now.Sub(s.from); !s.from.IsZero() && age > (2*n+1)*time.Minute+10*time.Second && age < (2*n+1)*time.Minute+12*time.Second && !reported && !x.servers[i].unlucky {
				t.Errorf("server %d: dead is %v since %v, and nothing is reported at %v", i, s.dead, s.from, x.now)
			}
		}
	}
	const most = 2 * (hours*2 + 1) // a pair of events in each time of --damp
	for i := 1; i < flapping; i += 2 {
		if n := len(reports[x.servers[i].addr.String()]); n < 10 || n > most || changes[i] < 2*most {
			t.Errorf("server %d: %d events for %d changes, want at most %d", i, n, changes[i], most)
		}
	}
}

// A server that is excluded is forgotten at once, and as a reference it proves nothing.
func TestExcluded(t *testing.T) {
	var excluded netip.Addr
	rules := usual()
	rules.Excluded = func(a netip.Addr) bool { return a == excluded }
	rules.References = []netip.AddrPort{newFake(1).addr, newFake(2).addr}
	x := newWorld(t, 3, rules)
	x.run(2 * time.Minute)
	excluded = x.servers[0].addr.Addr()
	x.w.Watch([]netip.AddrPort{x.servers[1].addr, x.servers[2].addr}, x.now)
	x.run(time.Second)
	if n := x.w.status; n.Up != 2 || n.Servers != 2 {
		t.Errorf("%+v, and one of three servers is excluded", n)
	}
	excluded = x.servers[1].addr.Addr()
	x.run(time.Minute)
	x.servers[2].dead = true
	x.run(5 * time.Minute)
	x.want("blind")
}

// Only kinds that are wanted are reported, also of those that are about no single server.
func TestWanted(t *testing.T) {
	rules := usual()
	rules.Kinds = []string{"down", "seeing"}
	x := newWorld(t, 40, rules)
	x.run(3 * time.Minute)
	for _, dead := range []bool{true, false} {
		silence(dead, x.servers)
		x.run(5 * time.Minute)
	}
	x.want("seeing")
}

// A clock that is set back lengthens neither blindness nor damping, and no status began later.
func TestClockBack(t *testing.T) {
	rules := usual()
	rules.Damp = 30 * time.Minute
	x := newWorld(t, 40, rules)
	kill := func(dead bool, d time.Duration, servers ...*fake) {
		silence(dead, servers)
		x.run(d)
	}
	x.run(3 * time.Minute)
	for range 2 {
		kill(true, 5*time.Minute, x.servers[0])
		kill(false, 2*time.Minute, x.servers[0])
	}
	x.want("down 0", "up 0")
	x.now = x.now.Add(-24 * time.Hour)
	x.run(31 * time.Minute)
	kill(true, 5*time.Minute, x.servers[0])
	x.want("down 0")
	kill(false, 31*time.Minute, x.servers[0])
	x.want("up 0")
	kill(true, 3*time.Minute, x.servers...)
	x.now = x.now.Add(-time.Hour)
	x.run(5 * time.Minute)
	x.want("blind")
	kill(false, 3*time.Minute, x.servers...)
	if e := x.events[0]; e.For > 12*60 {
		t.Errorf("blind for %d s", e.For)
	}
	x.want("seeing")

	rows := x.rows()
	rows[0].Status = db.Down
	x.now = x.now.Add(-48 * time.Hour)
	x.restart(rows[0])
	x.run(2 * time.Minute)
	if e := x.events[0]; e.For > 60 {
		t.Errorf("down for %d s", e.For)
	}
	x.want("up 0")
}

// A watch that ends while it is blind is blind when it begins again: each blind has its seeing.
func TestBlindRestart(t *testing.T) {
	state := newState(t)
	x := newWorld(t, 40, usual())
	x.run(3 * time.Minute)
	for id, kind := range []string{"", "blind", "down", "seeing"} {
		e := db.Event{ID: int64(id), Time: x.now, Kind: kind}
		if kind == "down" {
			e.Addr = x.servers[0].addr.String()
		}
		check(t, state.Flush([]db.Event{e}, nil))
		r := &Watch{Options: &Options{DB: state, Log: &Log{}}}
		if err := r.restore(); err != nil || r.watcher.view.blind != (kind == "blind" || kind == "down") {
			t.Errorf("after %q: blind is %v, %v", kind, r.watcher.view.blind, err)
		}
	}
	x.w.view.blind, x.w.view.since = true, seconds(x.now)
	x.run(3 * time.Minute)
	x.want("seeing")
}

// A clock that was a day ahead for a minute costs that minute, not the day, also if the watch ends
// in it.
func TestClockAhead(t *testing.T) {
	for _, ends := range []bool{false, true} {
		x := newWorld(t, 1, usual())
		x.run(5 * time.Minute)
		x.now = x.now.Add(24 * time.Hour)
		x.run(time.Minute)
		rows, hours := x.rows(), x.w.hours.running()
		x.now = x.now.Add(-24 * time.Hour)
		if ends {
			x.restart(rows...)
			x.w.Resume(hours, x.now)
		}
		x.run(10 * time.Minute)
		hours = x.w.hours.running()
		if last := hours[len(hours)-1]; last.Number != x.now.Unix()/3600 || last.Samples[0][db.UpFor] < 8*60 {
			t.Errorf("ends %v: at %v: %+v", ends, x.now, hours)
		}
	}
}

// newState returns a database in memory.
func newState(t *testing.T) *db.DB {
	t.Helper()
	state, err := db.Open("")
	check(t, err)
	t.Cleanup(func() { state.Close() })
	return state
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
