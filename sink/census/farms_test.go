package census_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// fleetCensus writes and opens the census of a perfect scan of a fleet.
func fleetCensus(t *testing.T, c fleet.Config) *census.Census {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteTruth(&b, "truth", wire.AskAll); err != nil {
		t.Fatal(err)
	}
	return openRecords(t, b.Bytes())
}

// TestFarms: Open finds as many farms, with as many servers, as were planted (EC-60).
func TestFarms(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	for _, kind := range append(fleet.FakerKinds(), fleet.Kind(0)) {
		c := fleet.Config{Network: netip.MustParsePrefix("127.42.0.0/23"), Ports: []uint16{27015}, Alive: 1, Fakes: 0.5, Seed: 5}
		if c.FakeKinds = []fleet.Kind{kind}; kind == 0 {
			c.FakeKinds, c.Fakes = nil, 0
		}
		stats := fleetCensus(t, c).Stats()
		farms, servers := planted(c)
		if stats.Farms.Found != farms || stats.Farms.Sums.Servers != servers {
			t.Errorf("%v: %d farms with %d servers, want %d with %d",
				kind, stats.Farms.Found, stats.Farms.Sums.Servers, farms, servers)
		}
	}
}

// shape is a group of servers. They have in common only what change gives them.
type shape struct {
	name    string
	servers int
	change  func(i int, r *scanner.Result)
	farmed  int // how many of them are in the farm; 0: there is no farm
}

// shapes are farms, and look-alikes with innocent causes. People who run real
// servers give several of them the same name, copy their settings, put many on one
// address, and make a server reachable at several addresses.
var shapes = []shape{
	{"copies with people", 12, func(i int, r *scanner.Result) { copyOf(r, "Best server"); people(r, i, 8) }, 12},
	{"empty copies at many addresses", 26, func(_ int, r *scanner.Result) { copyOf(r, "Best server"); people(r, 0, 0) }, 26},
	{"copies that hide their rules", 30, func(i int, r *scanner.Result) {
		copyOf(r, "Best server")
		people(r, i, 6)
		r.HasRules, r.Rules, r.Err[wire.QuestionRules], r.Status = false, nil, wire.ErrTimeout, scanner.StatusPartial
	}, 30},
	{"copies on the ports of one address", 40, func(i int, r *scanner.Result) {
		copyOf(r, "Best server")
		people(r, i, 30)
		r.Addr = at(7, 30000+i)
	}, 40},
	{"one list under other names and maps", 5, func(i int, r *scanner.Result) {
		people(r, 99, 6)
		r.Info.Map = fmt.Append(nil, "map", i)
	}, 5},
	{"one list in two games", 6, func(i int, r *scanner.Result) {
		people(r, 99, 6)
		r.Info.GameID = []uint64{252490, 440}[i%2]
	}, 6},
	{"copies, some of which show one list", 40, func(i int, r *scanner.Result) {
		copyOf(r, "Best server")
		if people(r, i, 5); i < 20 {
			people(r, 1, 5)
		}
	}, 40},
	{"copies among servers of their owner that are none", 60, func(i int, r *scanner.Result) {
		if r.Info.Name = fmt.Append(nil, "Best server #", i); i < 30 {
			copyOf(r, "Best server")
		}
		people(r, i, 9)
	}, 30},

	{"servers with numbers", 40, func(i int, r *scanner.Result) {
		copyOf(r, fmt.Sprintf("Community server #%d", i+1))
		people(r, i, i%4)
	}, 0},
	{"one name, each its own map", 40, func(i int, r *scanner.Result) {
		copyOf(r, "Community server")
		r.Info.Map = fmt.Append(nil, "map", i/8)
		people(r, i, i%9)
	}, 0},
	{"one name, each its own settings", 40, func(i int, r *scanner.Result) {
		copyOf(r, "Community server")
		r.Rules = append(r.Rules, wire.Rule{Name: []byte("seed"), Value: fmt.Append(nil, i)})
		people(r, i, 5)
	}, 0},
	{"forks of one process, empty, on three addresses", 90, func(i int, r *scanner.Result) {
		copyOf(r, "Versus | Frankfurt")
		people(r, 0, 0)
		r.Addr = at(i%3, 27015+i)
	}, 0},
	{"nine copies with people", 9, func(i int, r *scanner.Result) { copyOf(r, "Best server"); people(r, i, 8) }, 0},
	{"servers with the game's name", 80, func(_ int, r *scanner.Result) { copyOf(r, "Rust Server"); people(r, 0, 0) }, 0},
	{"empty servers", 80, func(_ int, r *scanner.Result) { people(r, 0, 0) }, 0},
	{"many customers on one address", 120, func(i int, r *scanner.Result) { r.Addr = at(1, 27015+i); people(r, i, i%7) }, 0},
	{"one server at two ports and behind a proxy", 3, func(i int, r *scanner.Result) {
		copyOf(r, "Best server")
		people(r, 1, 9)
		r.Addr = at(i/2, 27015+i)
	}, 0},
	{"the same two people", 40, func(_ int, r *scanner.Result) { people(r, 1, 2) }, 0},
	{"people who all came with the map", 40, func(_ int, r *scanner.Result) {
		people(r, 1, 8)
		for p := range r.Players {
			r.Players[p].Duration = 60
		}
	}, 0},
	{"people without names", 40, func(_ int, r *scanner.Result) {
		people(r, 1, 8)
		for p := range r.Players {
			r.Players[p].Name = nil
		}
	}, 0},
	{"silent servers", 80, func(i int, r *scanner.Result) {
		*r = scanner.Result{
			Addr: r.Addr, Status: scanner.StatusNoReply, PlayersAnnounced: -1, RulesAnnounced: -1,
			Err: [wire.NumQuestions]wire.Error{wire.ErrTimeout},
		}
	}, 0},
}

// TestFarmShapes: the shapes of farms get a verdict and the look-alikes none, each by
// itself among honest servers, and all of them together.
func TestFarmShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	check := func(name string, records []byte, farms, servers int) {
		t.Helper()
		stats := openRecords(t, records).Stats()
		if stats.Farms.Found != uint64(farms) || stats.Farms.Sums.Servers != uint64(servers) {
			t.Errorf("%s: %d farms with %d servers, want %d with %d: %+v",
				name, stats.Farms.Found, stats.Farms.Sums.Servers, farms, servers, stats.Farms.Top)
		}
	}
	var all []byte
	farms, servers := 0, 0
	for n, s := range shapes {
		records := s.records(n + 1)
		all = append(all, records...)
		if s.farmed > 0 {
			farms, servers = farms+1, servers+s.farmed
		}
		check(s.name, append(records, ordinary.records(0)...), min(s.farmed, 1), s.farmed)
	}
	check("all", append(all, ordinary.records(0)...), farms, servers)
}

// ordinary are servers that have nothing in common.
var ordinary = shape{"honest servers", 200, func(int, *scanner.Result) {}, 0}

// records makes the records of a shape. Shapes with different numbers have nothing in
// common.
func (s *shape) records(number int) (lines []byte) {
	var e record.Encoder
	for i := range s.servers {
		r := &scanner.Result{
			Status: scanner.StatusOK, HasInfo: true, HasPlayers: true, HasRules: true, RulesDistinct: true, PlayersAnnounced: -1, RulesAnnounced: -1,
			Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{30, byte(number), byte(i), 7}), 27015),
		}
		r.Info = wire.Info{
			Format: wire.FormatSource, Name: fmt.Appendf(nil, "Server %d of group %d", i, number), Map: []byte("Procedural Map"),
			Folder: []byte("rust"), Game: []byte("Rust"), MaxPlayers: 64, Environment: 'l', Version: []byte("2511"), GameID: 252490,
			Has: wire.HasName | wire.HasMap | wire.HasFolder | wire.HasGame | wire.HasAppID | wire.HasPlayers | wire.HasMaxPlayers |
				wire.HasBots | wire.HasEnvironment | wire.HasVersion | wire.HasGameID,
		}
		r.Rules = []wire.Rule{{Name: []byte("world.seed"), Value: fmt.Append(nil, number, i)}}
		people(r, i, 4)
		s.change(i, r)
		own := r.Addr.Addr().As4()
		own[1] = byte(number) // each shape has its own addresses
		r.Addr = netip.AddrPortFrom(netip.AddrFrom4(own), r.Addr.Port())
		for p := range r.Players { // nobody plays in two shapes
			if len(r.Players[p].Name) > 0 {
				r.Players[p].Name = fmt.Appendf(nil, "%s of %d", r.Players[p].Name, number)
			}
		}
		if name := string(r.Info.Name); name == "Best server" || name == "Community server" {
			r.Info.Name = fmt.Appendf(nil, "%s %c%[2]c%[2]c", name, 'a'+number)
		}
		for _, p := range r.Players {
			r.PlayersHash = r.PlayersHash*31 + xxhash.Sum64(fmt.Append(nil, p))
		}
		lines = e.Append(lines, "scan", r)
	}
	return lines
}

// at returns an address that several servers of a shape share.
func at(host, port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{30, 0, 255, byte(host)}), uint16(port))
}

// copyOf gives a server a name, and the settings that all copies have.
func copyOf(r *scanner.Result, name string) {
	r.Info.Name = []byte(name)
	r.Rules = []wire.Rule{{Name: []byte("world.seed"), Value: []byte("7")}}
}

// people fills a server with n people; the same group is the same people.
func people(r *scanner.Result, group, n int) {
	r.Players = nil
	for p := range n {
		r.Players = append(r.Players, wire.Player{
			Name: fmt.Appendf(nil, "player %d of %d", p, group), Score: int32(p), Duration: float32(100*p + group + 1),
		})
	}
	r.Info.Players = uint32(n)
}

// openRecords writes records to a file and opens it.
func openRecords(t *testing.T, records []byte) *census.Census {
	t.Helper()
	name := filepath.Join(t.TempDir(), "census.ndjson")
	if err := os.WriteFile(name, records, 0o666); err != nil {
		t.Fatal(err)
	}
	opened, err := census.Open([]string{name}, census.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// TestNoScan: a record that names no scan adds no name to those of the census.
func TestNoScan(t *testing.T) {
	const record = `{"schema":1,"ip":"192.0.2.%d","port":27015,%s"status":"ok","info":{"name":"a"}}` + "\n"
	var b []byte
	b = fmt.Appendf(b, record, 1, ``)
	b = fmt.Appendf(b, record, 2, `"scan":"monday",`)
	if s := openRecords(t, b).Stats(); !slices.Equal(s.Scans, []string{"monday"}) {
		t.Errorf("%q", s.Scans)
	}
}

// TestFarmIDs: a farm keeps its ID while most of its servers keep their game and name, whatever
// happens to their maps, versions, players and addresses. Farms with the same name have different
// IDs, and the largest keeps the usual one.
func TestFarmIDs(t *testing.T) {
	night := func(shapes ...shape) (ids []string) {
		var records []byte
		for i, s := range shapes {
			records = append(records, s.records(i+1)...)
		}
		for _, farm := range openRecords(t, records).Stats().Farms.Top {
			ids = append(ids, farm.ID)
		}
		return ids
	}
	clones := func(servers, group int, name, level string) shape {
		return shape{"clones", servers, func(i int, r *scanner.Result) {
			copyOf(r, name)
			r.Info.Map, r.Info.Version = []byte(level), []byte(level)
			people(r, group+i, 6)
		}, servers}
	}
	list := func(group, renamed int) shape {
		return shape{"list", 8, func(i int, r *scanner.Result) {
			people(r, group, 6)
			if r.Info.Name = []byte("Joined by a list"); i < renamed {
				r.Info.Name = fmt.Append(nil, "Renamed ", i, group)
			}
			r.Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{31, 0, byte(group), byte(i)}), 27015)
		}, 8}
	}
	for _, test := range []struct {
		name          string
		before, after []shape
		same          []bool // whether the farms of after have the IDs of those of before
	}{
		{"other map, version, people, number", []shape{clones(20, 0, "Copied server", "dust")}, []shape{clones(14, 100, "Copied server", "nuke")}, []bool{true}},
		{"other list and addresses", []shape{list(7, 0)}, []shape{list(8, 0)}, []bool{true}},
		{"a few new names", []shape{list(7, 0)}, []shape{list(8, 3)}, []bool{true}},
		{"another name", []shape{clones(20, 0, "Copied server", "dust")}, []shape{clones(20, 0, "Another server", "dust")}, []bool{false}},
		{"a smaller farm of the same name", []shape{clones(20, 0, "Copied server", "dust")},
			[]shape{clones(12, 200, "Copied server", "aztec"), clones(20, 0, "Copied server", "dust")}, []bool{true, false}},
	} {
		before, after := night(test.before...), night(test.after...)
		if len(before) != 1 || len(after) != len(test.same) {
			t.Fatalf("%s: farms %q before, %q after", test.name, before, after)
		}
		for i, same := range test.same {
			if (after[i] == before[0]) != same {
				t.Errorf("%s: farms %q before, %q after", test.name, before, after)
			}
		}
	}
}

// TestFlagged: servers with flags are counted apart if they are in no farm: those whose number
// or list of players is contradicted, and those that only answer in an unusual way.
func TestFlagged(t *testing.T) {
	flags := []game.Flags{0, game.FlagCountMismatch | game.FlagRedirect, game.FlagRedirect, game.FlagTinyDurations, game.FlagEdgeAnswers | game.FlagConflict, game.FlagNoGSLT}
	flagged := func(i int, r *scanner.Result) { r.Flags = flags[i%len(flags)] }
	farm := shape{"farm", 12, func(i int, r *scanner.Result) {
		flagged(i, r)
		copyOf(r, "Best server")
		people(r, i, 8)
	}, 12}
	honest := shape{"honest servers", len(flags), flagged, 0}
	stats := openRecords(t, append(farm.records(1), honest.records(2)...)).Stats()
	doubtful, unusual := stats.Flagged.Doubtful, stats.Flagged.Unusual
	if doubtful.Servers != 2 || doubtful.People != 8 || unusual.Servers != 3 || stats.Farms.Sums.Servers != 12 || stats.Flags["redirect"] != 6 {
		t.Errorf("doubtful %+v, unusual %+v, %d in farms, flags %v", doubtful, unusual, stats.Farms.Sums.Servers, stats.Flags)
	}
}

// planted returns the number of farms of a fleet that share a list or are clones,
// and the number of their servers.
func planted(c fleet.Config) (farms, servers uint64) {
	seen := map[uint64]bool{}
	for addr := c.Network.Addr(); c.Network.Contains(addr); addr = addr.Next() {
		n, ok := c.Nature(netip.AddrPortFrom(addr, c.Ports[0]))
		if !ok || n.Kind != fleet.FarmList && n.Kind != fleet.FarmClones {
			continue
		}
		seen[n.Farm] = true
		servers++
	}
	return uint64(len(seen)), servers
}
