package census

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
)

var bars = flag.Bool("bars", false, "run the large versions of the tests")

// TestMain lets garbage grow. The tests hold little memory, so that collecting it at the
// usual time takes a third of their processor time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// size is the number of servers that the tests make.
func size() int {
	if *bars {
		return 65536
	}
	return 1024
}

// changesOf returns the changes that Diff reports, as lines of JSON and as structs,
// and the Comparison that it returns.
func changesOf(t testing.TB, a, b *Census, volatile bool) (lines []byte, all []Change, c *Comparison) {
	t.Helper()
	c, err := Diff(a, b, nil, volatile, func(one *Change) error {
		line, err := json.Marshal(one)
		lines = append(append(lines, line...), '\n')
		all = append(all, *one)
		return err
	})
	check(t, err)
	return lines, all, c
}

// expectedChanges returns the planned changes, by kind and address.
func expectedChanges(servers int) map[string]bool {
	want := map[string]bool{}
	for i := range servers {
		if kind := planned(i); kind != "" {
			want[fmt.Sprint(kind, " ", madeAddr(i, true))] = true
		}
		if planned(i) == "farm" { // clones have another name and number of people, and the same rules
			for _, kind := range []Kind{"renamed", "players", "rules", "mode", "challenge"} {
				delete(want, fmt.Sprint(kind, " ", madeAddr(i, true)))
			}
		}
	}
	return want
}

// TestDiffFindsAll: Diff finds every planned change and no other, in whatever form
// the censuses are written.
func TestDiffFindsAll(t *testing.T) {
	before, after := madeCensus(size(), false, nil), madeCensus(size(), true, nil)
	var first []byte
	for _, f := range forms {
		lines, all, c := changesOf(t, openMade(t, f, before), openMade(t, f, after), true)
		if first == nil {
			first = lines
			checkChanges(t, all, expectedChanges(size()))
			for _, kind := range Kinds {
				var ofGames uint64
				for _, changes := range c.ByGame {
					ofGames += changes[kind.Kind]
				}
				if ofGames != c.Changes[kind.Kind]-c.Volatile[kind.Kind] {
					t.Errorf("%s: %d changes, %d of them volatile, and %d by game", kind.Kind, c.Changes[kind.Kind], c.Volatile[kind.Kind], ofGames)
				}
			}
			if c.AskedKnown != "unanswered" || c.Changes["gone"] != uint64(size()/64) || c.LikelyLost != nil {
				t.Errorf("%+v", c)
			}
		}
		if !bytes.Equal(lines, first) {
			t.Errorf("%s: other bytes: %d, want %d", f.name, len(lines), len(first))
		}
	}
}

// TestLimitGames: games that strangers made up do not fill by_game, and no change is lost.
func TestLimitGames(t *testing.T) {
	c := &Comparison{ByGame: map[string]map[Kind]uint64{"": {"gone": 3}, "rust": {"new": 50}}}
	for i := range 2 * maxGames {
		c.ByGame[fmt.Sprint(i)] = map[Kind]uint64{"new": 1}
	}
	c.limitGames()
	var all uint64
	for _, changes := range c.ByGame {
		all += changes["new"]
	}
	if len(c.ByGame) > maxGames || all != 50+2*maxGames || c.ByGame["rust"]["new"] != 50 || c.ByGame[""]["gone"] != 3 {
		t.Errorf("%d games, %d changes, %v without a game", len(c.ByGame), all, c.ByGame[""])
	}
}

// TestDiffDetails: Diff reports the same changes if it holds few rules in memory and
// reads the censuses several times.
func TestDiffDetails(t *testing.T) {
	before, after := madeCensus(500, false, nil), madeCensus(500, true, nil)
	a, b := openMade(t, forms[1], before), openMade(t, forms[4], after)
	want, _, _ := changesOf(t, a, b, false)
	defer func(n int) { detailBytes = n }(detailBytes)
	for _, detailBytes = range []int{1, 2000} {
		if got, all, _ := changesOf(t, a, b, false); !bytes.Equal(got, want) {
			t.Errorf("%d bytes at once: %d changes in %d bytes, want %d bytes", detailBytes, len(all), len(got), len(want))
		}
	}
}

// checkChanges fails the test if a planned change is missing, or if a server other
// than a clone has a change that is not planned.
func checkChanges(t *testing.T, all []Change, want map[string]bool) {
	t.Helper()
	missing := maps.Clone(want)
	clones := map[string]bool{}
	for _, c := range all {
		if c.Kind == "farm" {
			clones[c.Addr] = true
		}
	}
	invented := 0
	for _, c := range all {
		key := fmt.Sprint(c.Kind, " ", c.Addr)
		if !want[key] && !clones[c.Addr] {
			if invented++; invented < 10 {
				t.Errorf("invented: %s: %+v, %+v", key, c.Before, c.After)
			}
		}
		delete(missing, key)
	}
	if len(missing) > 0 {
		t.Errorf("%d not found: %q", len(missing), slices.Sorted(maps.Keys(missing))[:min(len(missing), 10)])
	}
}

// TestDiffWithLosses: Diff invents no change if the scan lost datagrams. A question
// without an answer is no change, and servers that are silent because of losses are
// marked.
func TestDiffWithLosses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	lost := map[string]bool{}
	lose := func(i int, r *scanner.Result) {
		if planned(i) != "" {
			return
		}
		switch n := rnd.IntN(10_000); {
		case n == 0:
			*r = *silent(i, true)
			lost[fmt.Sprint("gone", " ", r.Addr)] = true
		case n < 100:
			r.HasRules, r.Rules, r.Game = false, nil, nil
			r.Err[wire.QuestionRules], r.Status = wire.ErrTimeout, scanner.StatusPartial
		case n < 200:
			r.HasPlayers, r.Players = false, nil
			r.Err[wire.QuestionPlayers], r.Status = wire.ErrTimeout, scanner.StatusPartial
		case n < 300:
			r.HasInfo, r.Info, r.Game, r.Unchallenged = false, wire.Info{}, nil, 0
			r.Err[wire.QuestionInfo], r.Status = wire.ErrTimeout, scanner.StatusPartial
		}
	}
	before, after := madeCensus(size(), false, nil), madeCensus(size(), true, lose)
	a, b := openMade(t, forms[0], before), openMade(t, forms[4], after)
	loss := float64(len(lost))
	b.summaries = []*Summary{{Run: Run{Ended: "complete", Consistent: true}}}
	b.summaries[0].FirstAnswers.Missed, b.summaries[0].FirstAnswers.Chance = &loss, new(float64)
	_, all, c := changesOf(t, a, b, true)
	want := expectedChanges(size())
	for key := range lost {
		want[key] = true
	}
	checkChanges(t, all, want)
	for _, one := range all {
		if key := fmt.Sprint(one.Kind, " ", one.Addr); lost[key] && one.LossChance == 0 {
			t.Errorf("%s: not marked", key)
		}
	}
	if c.LikelyLost == nil || loss > 0 && *c.LikelyLost < loss*0.9 {
		t.Errorf("%v likely lost, of %v", c.LikelyLost, loss)
	}
}

// TestLossesOfGames: a scan estimates its losses among all servers. If the Options choose a
// game, the servers of this game have their share of the losses.
func TestLossesOfGames(t *testing.T) {
	twoGames := func(i int, r *scanner.Result) {
		if i/64%2 == 1 && r.Game != nil {
			r.Game.ID, r.Game.Name = "other", "Other"
		}
	}
	before := forms[0].write(t, madeCensus(size(), false, twoGames))
	after := forms[0].write(t, madeCensus(size(), true, twoGames))
	whole, err := Open(after, Options{Summaries: []string{}})
	check(t, err)
	lost := func(games []string) float64 {
		o := Options{Summaries: []string{}, Games: games}
		a, err := Open(before, o)
		check(t, err)
		b, err := Open(after, o)
		check(t, err)
		b.summaries = []*Summary{{Servers: whole.Stats().All.Servers}}
		b.summaries[0].FirstAnswers.Missed, b.summaries[0].FirstAnswers.Chance = new(4.0), new(0.9)
		_, _, c := changesOf(t, a, b, false)
		return *c.LikelyLost
	}
	all, rust, other := lost(nil), lost([]string{"rust"}), lost([]string{"other"})
	if rust == 0 || other == 0 || math.Abs(rust+other-all) > 1e-5 {
		t.Errorf("%v of rust and %v of the other game are likely lost, but %v of both", rust, other, all)
	}
}

// TestFiles: find finds the files of a summary in any folder, the files beside the summary first.
func TestFiles(t *testing.T) {
	parts := func(names ...string) (all []sink.Part) {
		for _, name := range names {
			all = append(all, sink.Part{Name: name, Records: 1})
		}
		return all
	}
	const start = "-20261120T030000Z"
	one, two := "c"+start+"-00001.ndjson", "c"+start+"-00002.ndjson"
	for _, test := range []struct {
		name     string
		output   string
		division []sink.Part
		files    []string
		want     string // the index and the records of each file
	}{
		{"c.summary.json", "c", nil, []string{"b", "c"}, "1:6 "},
		{"b/c.summary.json", "c", nil, []string{"a/c", "b/c"}, "1:6 "},
		{"b/moved.summary.json", "c", nil, []string{"b/c", "b/moved"}, "1:6 "},
		{"d.summary.json", "c.part", nil, []string{"b", "a/c"}, "1:6 "},
		{"d.summary.json", "c", nil, []string{"renamed"}, "0:6 "},
		{"d.summary.json", "c", nil, []string{"a", "b"}, "-1:6 "},
		{"b/c" + start + ".summary.json", "b/c", parts(one, two), []string{"a/" + two, "b/" + two + ".part", "a/" + one, "b/" + one}, "3:1 1:1 "},
		{"b/c" + start + ".summary.json", "b/c", parts(one, two), []string{"a/" + two, "b/" + one, "b/" + one}, "1:1 0:1 "},
		{"b/c" + start + ".summary.json", "b/c", parts(one, two), []string{"a/" + two}, "-1:1 0:1 "},
	} {
		s := &Summary{name: test.name, Output: test.output, Records: 3, Division: test.division}
		s.Earlier = []sink.Scan{{Name: "first", Records: 1}, {Name: "second", Records: 2}}
		got := ""
		for part, at := range s.find(test.files) {
			got += fmt.Sprintf("%d:%d ", at, part.Records)
		}
		if got != test.want {
			t.Errorf("%s in %q: %s, want %s", test.name, test.files, got, test.want)
		}
	}
}

// TestManyFiles: the work of find grows with the number of parts, not with its square.
func TestManyFiles(t *testing.T) {
	allocs := func(n int) float64 {
		s, names := &Summary{name: "moved.summary.json"}, []string{}
		for i := range n {
			names = append(names, sink.PartName("census.ndjson", madeNight(true), i+1))
			s.Division = append(s.Division, sink.Part{Name: names[i]})
		}
		return testing.AllocsPerRun(1, func() {
			i := 0
			for _, at := range s.find(names) {
				if at != i {
					t.Fatalf("of %d parts, part %d is file %d", n, i, at)
				}
				i++
			}
		})
	}
	if few, many := allocs(50), allocs(200); many > 6*few {
		t.Errorf("%v allocations for 50 parts, but %v for 200", few, many)
	}
}

// TestUnite: groups with common servers become one farm, in whatever order they come.
func TestUnite(t *testing.T) {
	for _, clonesFirst := range []bool{false, true} {
		const lists = 10
		c, all := &Census{}, []*Server{}
		for i := range 4 * lists {
			all = append(all, &Server{key: 1<<48 | uint64(4*lists-i)<<16})
		}
		var groups []farm
		for i := range lists {
			groups = append(groups, farm{servers: all[4*i : 4*i+4], list: true})
		}
		groups = append(groups, farm{servers: all, clones: true})
		if clonesFirst {
			slices.Reverse(groups)
		}
		c.unite(groups)
		if len(c.farms) != 1 {
			t.Fatalf("%d farms, want 1", len(c.farms))
		}
		f := &c.farms[0]
		if len(f.servers) != len(all) || !f.clones || !f.list || !slices.IsSortedFunc(f.servers, (*Server).compare) ||
			slices.ContainsFunc(all, func(s *Server) bool { return s.farm != 1 }) {
			t.Errorf("%d servers of %d, clones %v, list %v", len(f.servers), len(all), f.clones, f.list)
		}
	}
}

// TestStatsOfForms: the stats do not depend on how the census is divided, ordered
// and compressed.
func TestStatsOfForms(t *testing.T) {
	lines := madeCensus(size(), true, nil)
	var first []byte
	for _, f := range forms {
		s := openMade(t, f, lines).Stats()
		text, err := json.MarshalIndent(s, "", " ")
		check(t, err)
		if first == nil {
			first = text
			checkStats(t, s, lines)
		}
		if !bytes.Equal(text, first) {
			t.Errorf("%s: other bytes", f.name)
		}
		if back, err := ParseStats(text); err != nil || back.All != s.All {
			t.Errorf("%v, %+v", err, back)
		}
	}
	if len(first) > 1<<20 {
		t.Errorf("%d bytes", len(first))
	}
}

// TestDuplicates: a server with several records counts once, with its latest answer.
func TestDuplicates(t *testing.T) {
	lines := madeCensus(300, true, nil)
	earlier := madeCensus(300, true, func(_ int, r *scanner.Result) {
		r.Time, r.Info.Players = r.Time.Add(-time.Hour), r.Info.Players+1
	})
	want := openMade(t, forms[0], lines)
	got := openMade(t, form{"twice", 2, true, "", 0}, append(earlier, lines...))
	if n := uint64(len(lines)); got.duplicates != n || n < 200 {
		t.Errorf("%d duplicates, want %d", got.duplicates, n)
	}
	got.duplicates = 0
	for name, of := range map[string]func(*Census) any{
		"stats": func(c *Census) any { return c.Stats() }, "night": func(c *Census) any { return c.night() },
	} {
		a, err := json.Marshal(of(got))
		check(t, err)
		b, err := json.Marshal(of(want))
		check(t, err)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: %s, want %s", name, a, b)
		}
	}
}

// TestStatsSchema: the stats match their schema.
func TestStatsSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(StatsSchema()))
	check(t, err)
	check(t, c.AddResource("stats.json", doc))
	schema, err := c.Compile("stats.json")
	check(t, err)
	s := openMade(t, forms[0], madeCensus(500, true, nil)).Stats()
	text, err := json.MarshalIndent(s, "", " ")
	check(t, err)
	good, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil || schema.Validate(good) != nil {
		t.Errorf("%v, %v", err, schema.Validate(good))
	}
	bad, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.Replace(text, []byte(`"records": `), []byte(`"records": -`), 1)))
	if err != nil || schema.Validate(bad) == nil {
		t.Errorf("%v: a negative number is accepted", err)
	}
}

// checkStats fails the test if the sums differ from those that encoding/json gives.
func checkStats(t *testing.T, s *Stats, lines [][]byte) {
	t.Helper()
	var all Sums
	for _, line := range lines {
		var v struct {
			Status string
			Info   struct {
				Players    uint64
				MaxPlayers uint64 `json:"max_players"`
			}
		}
		check(t, json.Unmarshal(line, &v))
		if v.Status == "no_reply" {
			continue
		}
		all.Servers, all.People, all.Places = all.Servers+1, all.People+v.Info.Players, all.Places+v.Info.MaxPlayers
		if v.Info.Players > 0 {
			all.Occupied++
		}
	}
	if s.All != all {
		t.Errorf("%+v, want %+v", s.All, all)
	}
	if len(s.Games.Top) != 1 || s.Games.Top[0].ID != "rust" || s.Games.Top[0].Sums != all {
		t.Errorf("%+v", s.Games)
	}
	clones := uint64(size() / 64)
	if s.Farms.Found != 1 || s.Farms.Sums.Servers != clones || s.WithoutFarms.Servers != all.Servers-clones {
		t.Errorf("%+v", s.Farms)
	}
}

// TestNoMoves: servers with the same name that exchange their maps did not move.
func TestNoMoves(t *testing.T) {
	line := func(port int, level string) []byte {
		return fmt.Appendf(nil, `{"schema":1,"ip":"203.0.113.7","port":%d,"addr":"203.0.113.7:%d","status":"ok",`+
			`"info":{"format":"source","name":"One of two","map":%q,"app_id":4000}}`+"\n", port, port, level)
	}
	before := [][]byte{line(1, "a"), line(2, "b")}
	_, all, _ := changesOf(t, openMade(t, forms[0], before), openMade(t, forms[0], [][]byte{line(1, "b"), line(2, "a")}), false)
	if len(all) != 0 {
		t.Errorf("%+v", all)
	}
	_, all, _ = changesOf(t, openMade(t, forms[0], before), openMade(t, forms[0], [][]byte{line(2, "b"), line(3, "a")}), false)
	if len(all) != 1 || all[0].Kind != "moved" || all[0].By != "identity" || all[0].Before.Addr != "203.0.113.7:1" {
		t.Errorf("%+v", all)
	}
}

// TestRulesOfChange: a change shows the rules that differ and those that only one of
// the nights has. The order of the rules in the records does not matter. If a name is
// repeated, its last value counts. Volatile and unchanged rules are not shown.
func TestRulesOfChange(t *testing.T) {
	line := func(rules string) []byte {
		return fmt.Appendf(nil, `{"schema":1,"ip":"203.0.113.7","port":1,"status":"ok","info":{"name":"One"},"rules":{%s}}`+"\n", rules)
	}
	tests := []struct{ before, after, want string }{
		{`"a":"1","b":"2"`, `"b":"3","a":"1"`, `map[b:2] map[b:3]`},
		{`"a":"1"`, `"a":"1","b":"\u00e9 \"q\""`, `map[] map[b:é "q"]`},
		{`"c":"1","b":"1","a":"1"`, `"a":"1"`, `map[b:1 c:1] map[]`},
		{`"a":"1","a":"2"`, `"a":"3"`, `map[a:2] map[a:3]`},
		{`"a":"1","a":"2","b":"1"`, `"a":"2","b":"2"`, `map[b:1] map[b:2]`},
		{`"uptime":"1","a":"1"`, `"uptime":"2","a":"2","UpTime":"3"`, `map[a:1] map[a:2]`},
		{``, `"a":"1"`, `map[] map[a:1]`},
	}
	for _, test := range tests {
		_, all, _ := changesOf(t, openMade(t, forms[0], [][]byte{line(test.before)}),
			openMade(t, forms[0], [][]byte{line(test.after)}), false)
		if len(all) != 1 || all[0].Kind != "rules" {
			t.Fatalf("%s, %s: %+v", test.before, test.after, all)
		}
		if got := fmt.Sprint(all[0].Before.Rules, " ", all[0].After.Rules); got != test.want {
			t.Errorf("%s, %s: %s, want %s", test.before, test.after, got, test.want)
		}
	}
}

// TestTwins: a server did not move if another server has the same name, game and map
// on either night.
func TestTwins(t *testing.T) {
	line := func(port int) []byte {
		return fmt.Appendf(nil, `{"schema":1,"ip":"203.0.113.7","port":%d,"status":"ok","info":{"format":"source","name":"One of many","map":"a","app_id":4000}}`+"\n", port)
	}
	night := func(ports ...int) *Census {
		var lines [][]byte
		for _, port := range ports {
			lines = append(lines, line(port))
		}
		return openMade(t, forms[0], lines)
	}
	tests := []struct {
		before, after []int
		want          string
	}{
		{[]int{1}, []int{3}, "moved 203.0.113.7:3\n"},
		{[]int{1, 2}, []int{2, 3}, "not_asked 203.0.113.7:1\nnew 203.0.113.7:3\n"},
		{[]int{1}, []int{3, 4}, "not_asked 203.0.113.7:1\nnew 203.0.113.7:3\nnew 203.0.113.7:4\n"},
		{[]int{1, 2}, []int{3}, "not_asked 203.0.113.7:1\nnot_asked 203.0.113.7:2\nnew 203.0.113.7:3\n"},
	}
	for _, test := range tests {
		_, all, _ := changesOf(t, night(test.before...), night(test.after...), false)
		got := ""
		for _, c := range all {
			got += fmt.Sprintln(c.Kind, c.Addr)
		}
		if got != test.want {
			t.Errorf("%v, %v: %q, want %q", test.before, test.after, got, test.want)
		}
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestProcessors checks that stats and changes are the same on 1, 2 and 8 processors, also
// for damaged censuses.
func TestProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	before, after := madeCensus(900, false, nil), madeCensus(900, true, nil)
	before[70], after[80] = []byte("{\"schema\":1}\n"), []byte("[]\n")
	for _, f := range forms {
		old, new := f.write(t, before), f.write(t, after)
		text, err := os.ReadFile(new[0])
		check(t, err)
		text[len(text)/2] ^= 0xFF
		check(t, os.WriteFile(new[0], text[:len(text)-5], 0o666))
		var want []byte
		for _, n := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(n)
			a, err := Open(old, Options{Summaries: []string{}})
			check(t, err)
			b, err := Open(new, Options{Summaries: []string{}})
			check(t, err)
			got, _, c := changesOf(t, a, b, true)
			all, err := json.Marshal([]any{a.Stats(), b.Stats(), c})
			check(t, err)
			if got = append(got, all...); want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %d processors give other results than one", f.name, n)
			}
		}
	}
}

// TestRulesOfDuplicates: if an address has several records with the same time, a change shows
// the rules of the record that counts, whatever the order of the records.
func TestRulesOfDuplicates(t *testing.T) {
	line := func(value string) []byte {
		return fmt.Appendf(nil, `{"schema":1,"ip":"203.0.113.7","port":1,"status":"ok","info":{"name":"One"},"rules":{"a":%q}}`+"\n", value)
	}
	for _, new := range []string{"1", "2"} {
		var got []string
		for _, old := range [][][]byte{{line("1"), line("2")}, {line("2"), line("1")}} {
			_, all, _ := changesOf(t, openMade(t, forms[0], old), openMade(t, forms[0], [][]byte{line(new)}), false)
			for _, c := range all {
				if got = append(got, fmt.Sprint(c.Before.Rules, c.After.Rules)); len(c.Before.Rules) == 0 || len(c.After.Rules) == 0 {
					t.Errorf("%s: the change is empty: %+v, %+v", new, c.Before, c.After)
				}
			}
		}
		if len(got) == 1 || len(got) == 2 && got[0] != got[1] {
			t.Errorf("%s: the changes depend on the order: %q", new, got)
		}
	}
}
