package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	stdhtml "html"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/wire"
)

// rendered returns the page for an input.
func rendered(t *testing.T, in *Input) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, _, err := Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPolicy: the policy has the hashes of the page's style and script. The page
// has no style attributes and no event handlers, which the policy would block.
func TestPolicy(t *testing.T) {
	html := string(rendered(t, sampleInput(20)))
	for tag, source := range map[string]string{"style": "style-src ", "script": "script-src "} {
		_, rest, _ := strings.Cut(html, "<"+tag+">")
		text, _, _ := strings.Cut(rest, "</"+tag+">")
		if text == "" || !strings.Contains(stdhtml.UnescapeString(html), source+Hash(text)) {
			t.Errorf("the policy lacks the hash of <%s>", tag)
		}
	}
	if strings.Contains(html, "unsafe") {
		t.Error("the policy allows something unsafe")
	}
	if bad := regexp.MustCompile(`<[a-z][^>]*\s(style|on[a-z]+|src|srcset|action)=`).FindString(html); bad != "" {
		t.Error(bad)
	}
	if bad := regexp.MustCompile(`(href|content)="?(https?:|//)[^"]*`).FindString(html); bad != "" {
		t.Error(bad)
	}
}

// TestSize: if not all servers fit, the page lists those with the most people and
// gives their number.
func TestSize(t *testing.T) {
	in := &Input{Stats: sampleStats(0), Servers: &Servers{}}
	const all = 70_000
	for i := range all {
		s := sampleServerAt(i, netip.AddrPortFrom(netip.AddrFrom4([4]byte{100, byte(i >> 16), byte(i >> 8), byte(i)}), 27015))
		s.People, s.Map = uint32(i%100), fmt.Sprintf("a map with the number %d", i)
		in.Servers.Add(s)
	}
	in.Stats.All.Servers = all
	var b bytes.Buffer
	size, listed, err := Write(&b, in)
	if err != nil {
		t.Fatal(err)
	}
	if size != b.Len() || size > MaxSize || size < MaxSize*97/100 {
		t.Errorf("%d bytes (%d counted), want almost %d", b.Len(), size, MaxSize)
	}
	if listed < 15_000 || listed >= all {
		t.Errorf("%d servers are listed", listed)
	}
	sentence := fmt.Sprintf("The %s servers with the most people, of %s that answered", number(uint64(listed)), number(all))
	if !strings.Contains(b.String(), sentence) {
		t.Errorf("the page does not say %q", sentence)
	}
	data := pageData(t, b.Bytes())
	first, last := rowPeople(data.Rows[0]), rowPeople(data.Rows[len(data.Rows)-1])
	if len(data.Rows) != listed || first != 99 || last < 30 || last > 98 {
		t.Errorf("%d rows, the first with %v people, the last with %v", len(data.Rows), first, last)
	}
}

// rowPeople returns the number of people in a row of the table, or -1 if the row is
// malformed.
func rowPeople(row json.RawMessage) float64 {
	var columns []any
	if json.Unmarshal(row, &columns) != nil || len(columns) != 10 {
		return -1
	}
	return columns[7].(float64)
}

// dataRead is the table of servers as the script reads it.
type dataRead struct {
	Games, Maps, Versions, Countries, Flags []string
	Rows                                    []json.RawMessage
}

// pageData reads the table of servers from a page.
func pageData(t *testing.T, html []byte) (data dataRead) {
	t.Helper()
	_, rest, _ := bytes.Cut(html, []byte(`id="data">`))
	text, _, _ := bytes.Cut(rest, []byte("</script>"))
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return data
}

// TestServersOrder: the order in which servers are added does not change which are
// kept. Servers without INFO are not kept.
func TestServersOrder(t *testing.T) {
	var up, down Servers
	for i := range 500 {
		up.Add(sampleServer(i))
		down.Add(sampleServer(499 - i))
	}
	silent := sampleServer(501)
	silent.HasInfo = false
	up.Add(silent)
	s := &census.Stats{All: census.Sums{Servers: 501}}
	a, b := up.table(MaxSize, s), down.table(MaxSize, s)
	if x, y := asJSON(a.Data), asJSON(b.Data); !bytes.Equal(x, y) || a.Listed != 500 {
		t.Errorf("%d servers, %d bytes; in the other order %d bytes", a.Listed, len(x), len(y))
	}
	if want := "The 500 servers that answered INFO, of 501 that answered at all."; a.Text != want {
		t.Errorf("%q, want %q", a.Text, want)
	}
}

// hostile are names that a stranger could choose.
var hostile = []string{
	`<script>window.hacked=1</script>`,
	`</script><script>window.hacked=2</script>`,
	`</title></style></script></textarea></svg><img src=x onerror="window.hacked=3">`,
	`"><svg onload=window.hacked=4>`,
	`' onmouseover='window.hacked=5' x='`,
	`<!--<script>`,
	`]]><script>window.hacked=6</script>`,
	`{{.Policy}}${window.hacked=7}` + "`" + `\u003cscript\u003e`,
	`javascript:window.hacked=8`,
	`</style><style>*{display:none}</style><base href="http://127.0.0.1:9/"><link rel="stylesheet" href="http://127.0.0.1:9/x">`,
	"\u202eevil\u202c \u2066x\u2069 \u200b\u200d\ufeff \u2028\u2029",
	"a\xff\xfe\xc0\xaf\xed\xa0\x80 \x00\x07\x1b[31m\r\n\t",
	strings.Repeat("W", 5000),
	strings.Repeat("漢", 3000),
	"Z" + strings.Repeat("\u0337\u0322\u0489", 500),
	"مرحبا بالعالم שלום",
	"",
}

// hostileInput returns an input with the hostile names wherever a name is possible.
func hostileInput() *Input {
	in := sampleInput(20)
	in.Title, in.Files, in.Program = hostile[2], hostile, hostile[1]
	in.Changes.AskedKnown = ""
	in.History = History{}
	for ago := range 3 {
		s := sampleStats(ago)
		hostileStats(s)
		in.History.Add(s)
		if ago == 0 {
			in.Stats = s
		}
	}
	for i, name := range hostile {
		in.Changes.ByGame[name] = map[census.Kind]uint64{"new": 1 << 40}
		in.Important.Add(&census.Change{
			Kind: census.Kind(name), Game: name, Name: name, Addr: name, People: 1 << 31, Before: &census.Facts{Name: &name, Mods: hostile, Flags: []string{name}},
			After: &census.Facts{Rules: map[string]string{name: name}, Version: &name, Addr: name, Farm: name},
		})
		one := serverAt(netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 1))
		one.HasInfo, one.People, one.RTT = true, 1000+uint32(i), time.Second
		for _, text := range []*string{&one.Name, &one.Game, &one.GameName, &one.Map, &one.Version, &one.Country} {
			*text = name
		}
		in.Servers.Add(one)
	}
	return in
}

func hostileStats(s *census.Stats) {
	s.WithoutFarms = added(s.WithoutFarms, sampleSums(1e6*float64(len(hostile)), 1e7*float64(len(hostile))))
	for _, groups := range []*census.Groups{&s.Games, &s.Maps, &s.Versions, &s.Modes, &s.Systems, &s.Countries, &s.Networks} {
		for _, name := range hostile {
			groups.Top = append(groups.Top, census.Group{ID: name, Name: name, Game: name, Sums: sampleSums(1e6, 1e7), Unchallenged: 9})
		}
	}
	s.Run.Ended, s.Lost = hostile[0], hostile
	s.Flags, s.Questions.Info.Errors = map[string]uint64{}, map[string]uint64{}
	for _, name := range hostile {
		s.Flags[name] = 7
		s.Questions.Info.Errors[name] = 1 << 30
		s.Run.Datagrams.ByClass[name] = 5
		s.Farms.Top = append([]census.Farm{{Name: name, Game: name, Map: name, Reasons: []string{name}, Evidence: []string{name}, Members: []string{name}}}, s.Farms.Top...)
		s.Stacks = append([]census.Stack{{Network: name}}, s.Stacks...)
	}
}

// TestHostile: hostile names do not change the number of any HTML element on the
// page.
func TestHostile(t *testing.T) {
	html := rendered(t, hostileInput())
	for tag, want := range map[string]int{"<script": 11, "</script": 11, "<style": 1, "<base": 0, "<img": 0, "<link": 1, "<title>": -1, "<!--": 0} {
		if got := bytes.Count(bytes.ToLower(html), []byte(tag)); want >= 0 && got != want {
			t.Errorf("%d of %s, want %d", got, tag, want)
		}
	}
	for _, bad := range []string{"\u202e", "\u2066", "\u2028", "\x00", "\x1b", strings.Repeat("W", 400), "\u0337\u0322\u0489"} {
		if bytes.Contains(html, []byte(bad)) {
			t.Errorf("the page contains %.20q", bad)
		}
	}
	pageData(t, html)
}

func TestShown(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain", "plain"}, {"  spaces  ", "spaces"}, {"", ""}, {"a\u202eb", `a\u202eb`}, {"a\xffb", `a\xffb`}, {"a\ufffdb", "a\ufffdb"},
		{"l\nb", `l\nb`}, {"0123456789abc", "012345678…"}, {"e\u0301\u0302\u0303\u0304", "e\u0301\u0302"}, {"漢字", "漢字"},
		{"👩🏽\u200d👧\ufe0f\u200d👦!", "👩🏽👧\ufe0f👦!"}, {"a\u200db", `a\u200db`},
	} {
		if got := Shown(test.in, 10); got != test.want {
			t.Errorf("%q: %q, want %q", test.in, got, test.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{percentOf(0), "0%"}, {percentOf(1), "100%"}, {percentOf(0.5), "50.0%"}, {percentOf(1.25e-7), "< 0.01%"},
		{percentOf(0.0004), "0.04%"}, {percent(49_985, 50_000), "99.97%"}, {percentOf(0.999999), "> 99.99%"}, {percent(1, 0), "–"},
		{rounded(12.34), "12.3"}, {rounded(3), "3"}, {rounded(1234.5), "1,235"},
		{relative(110, 100), "+10.0%"}, {relative(90, 100), "−10.0%"}, {relative(100000, 100001), "±0%"}, {relative(5, 0), "+5"},
		{signed(3, 10), "−7"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}

// TestTrust: the page warns of scans that are not complete, that lost much, whose sums
// do not add up, or whose losses are not known.
func TestTrust(t *testing.T) {
	s := sampleStats(0)
	if got := fmt.Sprint(trust(s)); !strings.HasPrefix(got, "[{good Complete: ") || !strings.Contains(got, "{good Servers that the scan probably missed: ") {
		t.Error(got)
	}
	ofGame := sampleStats(0)
	ofGame.Run.Answered, ofGame.All = ofGame.All.Servers, census.Sums{Servers: 10}
	if got, want := fmt.Sprint(trust(ofGame)), fmt.Sprint(trust(s)); got != want || doubtful(ofGame) {
		t.Errorf("for one game: %s, want %s", got, want)
	}
	*s.Run.Missed = 5000
	s.Run.Consistent, s.Run.Ended = false, "interrupted"
	s.Run.Targets.Unfinished = 7
	want := "[{bad Not complete (interrupted): 7 targets left} {bad Servers that the scan probably missed: 5,000 (5.0%)} {bad The scan's sums do not add up}]"
	if got := fmt.Sprint(trust(s)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.Run.Missed = nil
	if got := fmt.Sprint(trust(s)[1]); got != "{warn The number of missed servers can’t be estimated}" {
		t.Error(got)
	}
	s.Run = nil
	s.Lost = []string{"a is cut", "b", "c", "d", "e", "f", "g"}
	want = "[{bad a is cut} {bad b} {bad c} {bad d} {bad e} {bad 2 more faults in the files. To list all: a2sscan stats CENSUS | jq .lost} {warn The scan has no summary, so its losses are not known}]"
	if got := fmt.Sprint(trust(s)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.Lost = nil
	if got := fmt.Sprint(trust(s)); got != "[{warn The scan has no summary, so its losses are not known}]" {
		t.Error(got)
	}
}

// TestLead: the first sentences leave out farms, also where they compare with last time, and say
// how many servers have flags. Only farms look made up.
func TestLead(t *testing.T) {
	s := &census.Stats{All: census.Sums{Servers: 100, Occupied: 60, People: 900}, WithoutFarms: census.Sums{Servers: 70, Occupied: 30, People: 220}}
	s.Games.Top = []census.Group{
		{Name: "Faked", Sums: census.Sums{Servers: 30, People: 680}, Farmed: &census.Sums{Servers: 30, People: 680}},
		{Name: "Small", Sums: census.Sums{Servers: 20, People: 55}},
		{Name: "Large", Sums: census.Sums{Servers: 50, People: 165}},
	}
	s.Farms.Found, s.Farms.Sums = 2, census.Sums{Servers: 30, People: 680}
	s.Flagged.Doubtful, s.Flagged.Unusual = census.Sums{Servers: 3, People: 120}, census.Sums{Servers: 1, People: 9}
	in := &Input{Stats: s, Before: &pastNight{all: census.Sums{People: 300}, without: census.Sums{People: 200}}}
	want := "220 people on 30 of the 70 servers that answered and are in no farm (+10.0% since last time). " +
		"100% of these people play Large, Small. Not counted, because farms look made up: 30 servers in 2 farms, with 680 people. " +
		"Counted, but doubtful: 120 people on 3 servers with a flag that contradicts the number or the list of players. " +
		"Counted, and only unusual: 1 server with other flags."
	if got := lead(in); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := tiles(in)[1]; got.Change != "+200.0%" || got.Aside != "220 without farms: +10.0%" {
		t.Errorf("%+v", got)
	}
	for want, changes := range map[string]map[census.Kind]uint64{
		" Since last time, no server has come or gone.":                {"map": 3},
		" Servers since last time: 1 gone, 1,200 back.":                {"gone": 1, "back": 1200},
		" Servers since last time: 2 new, 1 gone, 1 back. Not counted": {"new": 2, "gone": 1, "back": 1},
	} {
		in.Changes = &census.Comparison{Changes: changes}
		if got := lead(in); !strings.Contains(got, "play Large, Small."+want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	honest := &census.Stats{All: census.Sums{Servers: 8, Occupied: 1, People: 1}, WithoutFarms: census.Sums{Servers: 8, Occupied: 1, People: 1}}
	honest.Games.Top = []census.Group{{Name: "Rust", Sums: honest.All}}
	if got, want := lead(&Input{Stats: honest}), "1 person on 1 of the 8 servers that answered. 100% of these people play Rust."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestHistory: nights are added in any order, one of them twice, and each becomes
// one row. Nights with doubtful numbers are marked.
func TestHistory(t *testing.T) {
	var h History
	for _, ago := range []int{0, 3, 1, 40, 3, 2} {
		h.Add(sampleStats(ago))
	}
	h.Add(&census.Stats{}) // without a time
	v := h.view(sampleStats(0), nil)
	var dates []string
	for _, r := range v.Rows {
		dates = append(dates, r.Date+r.Note)
	}
	want := "11 Oct 2026 03:00too low, 17 Nov 2026 03:00, 18 Nov 2026 03:00, 19 Nov 2026 03:00, 20 Nov 2026 03:00"
	if got := strings.Join(dates, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	people := v.People.Series[0].Values
	if v.Doubtful != 1 || len(v.People.Low) != 1 || len(people) != 6 || people[0] == nil || people[1] != nil || people[2] == nil {
		t.Errorf("doubtful %d, %+v", v.Doubtful, v.People)
	}
	versions := h.versions(sampleStats(0), nil)
	if len(versions) != versionGames || len(versions[0].Chart.Series) != len(versions[0].Columns) || len(versions[0].Rows) != 5 {
		t.Errorf("%d charts of versions, the first %+v", len(versions), versions[0])
	}
	var one History
	one.Add(sampleStats(0))
	if one.view(sampleStats(0), nil) != nil || one.versions(sampleStats(0), nil) != nil {
		t.Error("a single night has a history")
	}
}

// TestOnlyGames: the sums of a night with only some of the games are those of these games. A game
// that is not listed had no servers only if all games are listed.
func TestOnlyGames(t *testing.T) {
	for _, test := range []struct {
		games  string
		others uint64 // servers of games that are not listed
		want   string
	}{
		{"", 7, "119 109 6"},
		{"B", 7, "30 20 1"},
		{"name of B,a", 7, "111 101 2"},
		{"a,c", 0, "81 81 1"},
		{"a,c", 7, "the stats do not list the game c, but its servers may be in another group"},
		{"one of many", 0, "the stats do not list the game one of many, but its servers may be in another group"},
	} {
		farmed := census.Sums{Servers: 10, Occupied: 9, People: 8, Bots: 7, Places: 6}
		s := &census.Stats{All: census.Sums{Servers: 119}, WithoutFarms: census.Sums{Servers: 109}}
		s.Games = census.Groups{Distinct: 6, Other: census.Sums{Servers: test.others}, Top: []census.Group{
			{ID: "a", Name: "Name of A", Sums: census.Sums{Servers: 81}},
			{ID: "b", Name: "Name of B", Sums: census.Sums{Servers: 30, Occupied: 29, People: 28, Bots: 27, Places: 26}, Farmed: &farmed},
		}}
		if test.games == "one of many" {
			s.Games.Top = append(s.Games.Top, census.Group{ID: "app:999", Name: "One of many", Sums: census.Sums{Servers: 8}})
		}
		var games []string
		if test.games != "" {
			games = strings.Split(test.games, ",")
		}
		err := onlyGames(s, games)
		got := fmt.Sprint(s.All.Servers, s.WithoutFarms.Servers, s.Games.Distinct)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%q: %s, want %s", test.games, got, test.want)
		}
		if want := (census.Sums{Servers: 20, Occupied: 20, People: 20, Bots: 20, Places: 20}); test.games == "B" && s.WithoutFarms != want {
			t.Errorf("without farms: %+v, want %+v", s.WithoutFarms, want)
		}
	}
}

// TestEmpty: the page of a census without servers says so.
func TestEmpty(t *testing.T) {
	html := string(rendered(t, &Input{Stats: &census.Stats{Schema: 1}, Servers: &Servers{}}))
	for _, want := range []string{"<h1>Game servers</h1>", "No group of servers looks made up", "No server said which game it runs"} {
		if !strings.Contains(html, want) {
			t.Errorf("lacks %q", want)
		}
	}
}

// TestSingleChanges: for each game with changes, the page lists those of the servers with
// the most people. It never lists changes in who demands a challenge.
func TestSingleChanges(t *testing.T) {
	in := sampleInput(20)
	_, html, _ := strings.Cut(string(rendered(t, in)), "The most important changes")
	html, _, _ = strings.Cut(html, "</section>")
	for _, want := range []string{
		"Counter-Strike 2 server 1</bdi>", "Gone (likely loss)</td>", "<td data-label=\"Change\">Moved</td>",
		"Hell Let Loose server 0</bdi>", `"de_dust2", 64 places → "de_mirage"`, "203.0.113.1:27016", `data-label="People">1,000</td>`,
	} {
		if !strings.Contains(stdhtml.UnescapeString(html), want) {
			t.Errorf("lacks %q", want)
		}
	}
	if got, want := strings.Count(html, "<tr><th scope=\"row\">"), changesOfGame*len(sampleGames); got != want {
		t.Errorf("%d changes, want %d", got, want)
	}
	if strings.Contains(html, ">Challenge<") {
		t.Error("the page lists who demands a challenge")
	}
	in.Important = Important{}
	if strings.Contains(string(rendered(t, in)), "The most important changes") {
		t.Error("a list without changes is shown")
	}
}

// TestNoChallengesListed: the page counts servers that answer without a challenge, but its
// table does not tell which servers they are.
func TestNoChallengesListed(t *testing.T) {
	html := string(rendered(t, sampleInput(20)))
	if !strings.Contains(html, "This page counts them, but names none of them.") || !strings.Contains(html, "2,911 (") {
		t.Error("servers that answer without a challenge are not counted")
	}
	var row []any
	data := pageData(t, []byte(html))
	if json.Unmarshal(data.Rows[0], &row); len(row) != 10 {
		t.Errorf("a row has %d columns, want 10", len(row))
	}
}

func TestBinRange(t *testing.T) {
	to := func(v float64) *float64 { return &v }
	for _, test := range []struct {
		bin  census.Bin
		unit string
		want string
	}{
		{census.Bin{From: 5, To: to(10)}, " ms", "5 to 10 ms"},
		{census.Bin{From: 5000}, " ms", "5000 ms or more"},
		{census.Bin{From: 0, To: to(1e-6)}, "%", "0%"},
		{census.Bin{From: 1e-6, To: to(10)}, "%", "over 0 to 10%"},
		{census.Bin{From: 100 + 1e-6}, "%", "over 100%"},
		{census.Bin{From: 64, To: to(65)}, "", "64"},
		{census.Bin{From: 65, To: to(80)}, "", "65 to 79"},
	} {
		if got := binRange(test.bin, test.unit); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestManyServers: of more servers than a page can list, those with the most people are
// kept, in whatever order they come.
func TestManyServers(t *testing.T) {
	l, info := &Servers{}, wire.Info{Has: wire.HasPlayers | wire.HasMaxPlayers}
	for i := range 2*maxServers + 10 {
		n := i * 7919 % (2*maxServers + 10) // each number once
		info.Players, info.MaxPlayers = uint32(n/1000), 255
		s := census.NewServer(&scanner.Result{
			Addr:   netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}), 27015),
			Status: scanner.StatusOK, HasInfo: true, Info: info,
		})
		l.Add(&s)
	}
	l.trim()
	last := l.kept[len(l.kept)-1]
	if !l.cut || len(l.kept) != maxServers || l.kept[0].People != 120 || last.People != 60 {
		t.Errorf("cut %v, %d servers, from %d to %d people", l.cut, len(l.kept), l.kept[0].People, last.People)
	}
}

// TestRelayRow: a relay has no number of places, even if its game sends one.
func TestRelayRow(t *testing.T) {
	s := census.NewServer(&scanner.Result{
		Addr: netip.MustParseAddrPort("192.0.2.1:27020"), Status: scanner.StatusOK, HasInfo: true,
		Info: wire.Info{Name: []byte("TV"), Players: 3, MaxPlayers: 128, ServerType: 'p', Has: wire.HasPlayers | wire.HasMaxPlayers},
		Game: &game.Game{MaxPlayers: 400, Has: 1 << game.KeyMaxPlayers},
	})
	r := newRow(&s)
	if row := string(new(tableData).row(&s, &r)); r.People != "0" || row != `["192.0.2.1:27020","TV",0,0,0,0,0,0,-1,-1]` {
		t.Errorf("%q, %s", r.People, row)
	}
}

// TestOneNight: several scans of one date are one night.
func TestOneNight(t *testing.T) {
	var h History
	at := time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)
	for _, hours := range []int{0, 20} {
		h.Add(&census.Stats{First: &census.Moment{Time: at.Add(time.Duration(hours) * time.Hour)}})
	}
	v := h.view(&census.Stats{}, nil)
	if want := "2 scans of one night, 27 November 2026"; v.Nights != want {
		t.Errorf("%q", v.Nights)
	}
	h.Add(&census.Stats{First: &census.Moment{Time: at.AddDate(0, 0, 1)}})
	if v = h.view(&census.Stats{}, nil); v.Nights != "3 nights from 27 November 2026 to 28 November 2026" {
		t.Errorf("%q", v.Nights)
	}
}

// TestPictures: the opening picture covers all people, and the columns of a histogram are as
// high as their share of the largest.
func TestPictures(t *testing.T) {
	s := &census.Stats{WithoutFarms: census.Sums{People: 1000}}
	s.Games.Top = []census.Group{{ID: "farm", Sums: census.Sums{People: 5000}, Farmed: &census.Sums{People: 5000}}}
	for i := range uint64(12) {
		s.Games.Top = append(s.Games.Top, census.Group{ID: fmt.Sprint(i), Sums: census.Sums{People: i * 10}})
	}
	parts := peopleByGame(s)
	var sum uint64
	for _, p := range parts {
		if p.Before != sum || p.All != 1000 {
			t.Errorf("%+v begins at %d", p, sum)
		}
		sum += p.N
	}
	if sum != 1000 || len(parts) != gamesInPicture+1 || parts[0].N != 110 || parts[gamesInPicture].Class != "rest" {
		t.Errorf("%d people in %+v", sum, parts)
	}
	if peopleByGame(&census.Stats{}) != nil {
		t.Error("a census without people has a picture")
	}
	d := &census.Distribution{Servers: 30, P50: 32, P90: 64}
	for i := range 20 {
		d.Bins = append(d.Bins, census.Bin{From: float64(i), Servers: uint64(i % 3 * 10)})
	}
	labelled := 0
	all, ticks := columns(histogram("", d), d)
	if want := []tick{{"162.0", "0"}, {"92.0", "10"}, {"22.0", "20"}}; !slices.Equal(ticks, want) {
		t.Errorf("numbers at the axis: %v, want %v", ticks, want)
	}
	for i, c := range all {
		if want := []string{"0.0", "70.0", "140.0"}[i%3]; c.Height != want {
			t.Errorf("column %d is %s high, want %s", i, c.Height, want)
		}
		if c.Label != "" {
			labelled++
		}
	}
	if labelled == 0 || labelled > labels {
		t.Errorf("%d labels", labelled)
	}
	if got := distributions(&census.Stats{Capacity: d})[0].Text; got != "Half of the servers have at most 32 places, nine of ten at most 64 places. " {
		t.Errorf("%q", got)
	}
	for most, want := range map[uint64]float64{0: 2, 1: 2, 2: 2, 3: 4, 5: 10, 11: 20, 21: 40, 41: 100, 99_999: 100_000, 100_001: 200_000} {
		if got := axisEnd(most); got != want {
			t.Errorf("the axis of counts up to %d ends at %v, want %v", most, got, want)
		}
	}
}

// TestCut: where the page, the overview and the comparison leave something out, they name the
// command that lists all.
func TestCut(t *testing.T) {
	in := sampleInput(2)
	s := in.Stats
	s.Lost = make([]string, lostShown+2)
	s.Farms.Found = 140
	for i := range 20 {
		s.Systems.Top = append(s.Systems.Top, census.Group{Name: fmt.Sprint("system ", i), Sums: sampleSums(100, 0)})
		in.Changes.ByGame[fmt.Sprint("game ", i)] = map[census.Kind]uint64{"new": 1}
	}
	s.Systems.Distinct = 23
	in.Servers.cut = true
	html := stdhtml.UnescapeString(string(rendered(t, in)))
	for _, want := range []string{
		"2 more faults in the files. To list all: a2sscan stats CENSUS | jq .lost",
		"Not listed here: 17 more, with 1,700 servers and 0 people. To list all: a2sscan stats CENSUS --by system --top 23",
		"--by map --top 18400", "--by network --top 2140", "--by version --top 260", "--by game --top 212",
		"More games that changed: 18. To count the changes of all: <code>a2sscan diff OLD NEW --stat --json",
		"To list all changes: <code>a2sscan diff OLD NEW --json", "<code>a2sscan cat CENSUS --fakes count_mismatch</code>",
		"126 more farms. To list the servers of all: <code>a2sscan cat CENSUS --fakes only -f farm,addr",
		"<code>a2sscan stats CENSUS | jq .stacks", "jq '.games.top[] | [.name, .unchallenged]'", "To list all: a2sscan cat CENSUS</p>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	overview := string(overviewOf(s, 80, rowsShown))
	for _, want := range []string{
		"and 18,390 more; to list all: a2sscan stats CENSUS --by map --top 18400\n",
		"and 130 more farms; to list the servers of all: a2sscan cat CENSUS --fakes only -f farm,addr\n",
	} {
		if !strings.Contains(overview, want) {
			t.Errorf("the overview lacks %q:\n%s", want, overview)
		}
	}
	for want, o := range map[string]DiffOptions{
		"and 10 more games; to count the changes of all: a2sscan diff OLD NEW --stat --json\n": {Stat: true},
		"These are not all changes; to list all: a2sscan diff OLD NEW --json\n":                {},
	} {
		var b strings.Builder
		if writePage(&b, in.Changes, &o, &in.Important); !strings.HasSuffix(b.String(), want) {
			t.Errorf("the comparison does not end with %q:\n%s", want, b.String())
		}
	}
}

// TestAxes: both axes of each histogram have a title with the unit.
func TestAxes(t *testing.T) {
	html := string(rendered(t, sampleInput(2)))
	charts := strings.Split(html, `<svg class="histogram"`)[1:]
	for i, want := range []string{"Round trip in ms", "Places taken in %", "Places for people"} {
		chart, _, _ := strings.Cut(charts[i], "</svg>")
		if !strings.Contains(chart, ">Servers</text>") || !strings.HasSuffix(chart, ">"+want+"</text>") {
			t.Errorf("the axes of histogram %d lack a title: %.3000s", i, chart)
		}
	}
}

// TestLinks: each link leads to an element of the page. Each flag and farm of which the page
// knows servers has a link to a list of those with the most people.
func TestLinks(t *testing.T) {
	in := sampleInput(2)
	html := string(rendered(t, in))
	for _, link := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if strings.Count(html, `id="`+link[1]+`"`) != 1 {
			t.Errorf("the link to %s leads nowhere", link[1])
		}
	}
	want := []string{`href="#flag-count_mismatch"`}
	for i := range 14 {
		want = append(want, fmt.Sprintf(`href="#farm-%d"`, i))
	}
	for _, link := range want {
		if !strings.Contains(html, link) {
			t.Errorf("lacks %s", link)
		}
	}
	_, list, _ := strings.Cut(html, `id="farm-2"`)
	list, _, _ = strings.Cut(list, `</div>`)
	var people []int
	for _, row := range regexp.MustCompile(`>(\d+) of 64<`).FindAllStringSubmatch(list, -1) {
		n, _ := strconv.Atoi(row[1])
		people = append(people, -n)
	}
	if len(people) != suspectsShown || !slices.IsSorted(people) || !strings.Contains(list, "5 more. To list all: <code>a2sscan cat CENSUS --farm 2</code>") {
		t.Fatalf("people %v in %.2000s", people, list)
	}
	for i := 30; i < 45; i++ { // the servers of the farm
		s := sampleServer(i)
		if listed := strings.Contains(list, s.Addr().String()+"<"); !listed && int(s.People) > -people[len(people)-1] {
			t.Errorf("the list lacks %v with %d people", s.Addr(), s.People)
		}
	}
}
