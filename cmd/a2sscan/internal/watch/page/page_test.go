package page

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/net/html"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/sink/census"
)

// now is when a sample is looked at.
var now = time.Date(2026, 11, 24, 18, 30, 0, 0, time.UTC)

// sample is a watch that does not run.
type sample struct {
	mu     sync.Mutex // guards rows
	rows   []watch.Row
	status watch.Status
	still  bool // its checks do not run
}

func (s *sample) Rows() iter.Seq[watch.Row] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Values(slices.Clone(s.rows))
}

func (s *sample) Trouble() string { return s.status.Trouble }
func (s *sample) Alive() bool     { return !s.still }

func (s *sample) Status() *watch.Status { status := s.status; return &status }

func addrOf(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, byte(100 + i>>8), byte(i)}), uint16(27015+i>>16))
}

var sampleGames = [][3]string{{"rust", "Rust", "Procedural Map"}, {"cs2", "Counter-Strike 2", "de_dust2"}, {"valheim", "Valheim", "Midgard"}, {"app:4000001", "My Game", "start"}}

// newSample returns a watch of n servers. Every seventh is down, and each has a name.
func newSample(n int) *sample {
	s := &sample{status: watch.Status{Time: now, Every: 60, Took: 60.2, Events: 3, Sent: 1000, Received: 990}}
	for i := range n {
		g := sampleGames[i%len(sampleGames)]
		row := watch.Row{
			ID: int64(i + 1), Addr: addrOf(i), Status: db.Up,
			Since: now.Add(-time.Duration(i%97+1) * 47 * time.Minute), People: i * 7 % 60, Places: 60,
			Known: &census.Server{Name: fmt.Sprintf("%s community server %d", g[1], i), Game: g[0], GameName: g[1], Map: g[2], Version: "1.0." + fmt.Sprint(i%3)},
		}
		if i%7 == 6 {
			row.Status = db.Down
			s.status.Down++
		} else {
			s.status.Up++
			s.status.People += row.People
		}
		s.rows = append(s.rows, row)
	}
	s.status.Servers = n
	return s
}

// newPage returns a page about a watch, with events and 100 days of uptime in its database.
func newPage(t testing.TB, source Source, events ...db.Event) *Page {
	t.Helper()
	state, err := db.Open("")
	check(t, err)
	t.Cleanup(func() { state.Close() })
	p := &Page{Options: Options{Title: "Our servers", Names: []string{"status.example.org"}, Build: ledger.Build{Version: "1.2.3"}, DB: state, Timeout: 10 * time.Minute}}
	var addrs []netip.AddrPort
	for row := range source.Rows() {
		if addrs = append(addrs, row.Addr); len(addrs) == 50 {
			break
		}
	}
	check(t, state.Add(addrs))
	events = slices.Clone(events)
	for i := range events {
		events[i].ID = int64(i + 1)
	}
	check(t, state.Flush(events, nil))
	check(t, state.SetCursor("epoch", 0x5eed))
	for i := range 24 * 60 {
		check(t, state.Count(now.Add(time.Duration(i-24*60)*time.Minute), 30+i%3, 500+i/4))
	}
	p.readPast(t)
	p.latest.Store((&viewer{source: source}).make(now))
	return p
}

// forget removes all totals.
func (p *Page) forget(t testing.TB) {
	check(t, p.DB.Prune(now.AddDate(0, 2, 0), 400*24*time.Hour, 400*24*time.Hour))
}

// readPast does once what a page does every minute.
func (p *Page) readPast(t testing.TB) {
	known, err := newPast(p.DB, now)
	check(t, err)
	p.past.Store(known)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var sampleEvents = []db.Event{
	{Time: now.Add(-3 * time.Hour), Kind: "down", Addr: addrOf(0).String(), Game: "rust", Name: "Rust community server 0", For: 86400,
		Evidence: &db.Evidence{Checks: 3, Requests: 9, First: now.Add(-3*time.Hour - 3*time.Minute), Last: now.Add(-3 * time.Hour)}},
	{Time: now.Add(-2 * time.Hour), Kind: "up", Addr: addrOf(0).String(), Game: "rust", Name: "Rust community server 0", For: 3600},
	{Time: now.Add(-1 * time.Hour), Kind: "blind", Evidence: &db.Evidence{Servers: 30, Silent: 28, Networks: 9}},
}

// get asks a page, as the web server does.
func (p *Page) get(t testing.TB, url string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	p.routes().ServeHTTP(w, httptest.NewRequest("GET", url, nil))
	return w
}

// TestDocumented: the API answers as its document shows, and as its schema says.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../../docs/api.md")
	check(t, err)
	p := newPage(t, newSample(6), sampleEvents...)
	p.forget(t)
	for i := range 12 {
		check(t, p.DB.Count(now.Add(time.Duration(i-12)*time.Minute), i%7, 100+i))
	}
	p.readPast(t)
	hour := db.Sample{db.UpFor: 3000, db.DownFor: 600, db.PeopleMin: 2, db.PeopleMax: 9, db.PeopleSum: 240, db.Counts: 60}
	check(t, p.DB.Flush(nil, []db.Server{{ID: 1, Status: db.Up, Answer: []byte(`{"schema":1,"addr":"198.51.100.0:27015"}`)}}))
	check(t, storeHour(p.DB, now.Truncate(time.Hour), hour))
	compiled := compileSchema(t)
	examples := regexp.MustCompile("(?s)`GET (/api/[^`]*)` answers with `(\\w+)`.*?```json\n(.*?)```").FindAllSubmatch(text, -1)
	if len(examples) < 6 {
		t.Fatalf("only %d examples", len(examples))
	}
	for _, example := range examples {
		url, want := string(example[1]), example[3]
		got := p.get(t, url).Body.Bytes()
		conforms(t, compiled[string(example[2])], url, got)
		var a, b any
		if err := json.Unmarshal(want, &a); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		check(t, json.Unmarshal(got, &b))
		if diff := cmp.Diff(a, b); diff != "" {
			shown, _ := json.Marshal(b)
			t.Errorf("%s: %s\n%s", url, diff, shown)
		}
	}
}

// TestEpoch: a client whose ID means nothing here gets all events from the beginning, and is told
// so.
func TestEpoch(t *testing.T) {
	p := newPage(t, newSample(6), sampleEvents...)
	for query, want := range map[string]string{
		"since=3":              "[] 3 false",
		"since=3&epoch=5eed":   "[] 3 false",
		"since=1&epoch=5eed":   "[2 3] 3 false",
		"since=0":              "[1 2 3] 3 false",
		"since=1&epoch=0ther":  "[1 2 3] 3 true",
		"since=57":             "[1 2 3] 3 true",
		"since=4&epoch=5eed":   "[1 2 3] 3 true",
		"":                     "[1 2 3] 3 false",
		"since=&epoch=another": "[1 2 3] 3 false",
	} {
		var n news
		check(t, json.Unmarshal(p.get(t, "/api/events?"+query).Body.Bytes(), &n))
		ids := []int64{}
		for _, e := range n.Events {
			ids = append(ids, e.ID)
		}
		if got := fmt.Sprint(ids, n.Last, n.Reset); got != want || n.Epoch != "5eed" {
			t.Errorf("%q: %s in epoch %s, want %s", query, got, n.Epoch, want)
		}
	}
	var n news
	check(t, p.DB.Prune(sampleEvents[2].Time.Add(48*time.Hour), time.Hour, 24*time.Hour)) // the latest stays
	check(t, json.Unmarshal(p.get(t, "/api/events?since=1&epoch=5eed").Body.Bytes(), &n))
	if len(n.Events) != 1 || n.Events[0].ID != 3 || !n.Reset {
		t.Errorf("event 2 is no longer kept: %+v", n)
	}
	check(t, p.DB.Flush([]db.Event{{ID: 4, Kind: "seeing"}}, nil))
	if text := p.get(t, "/api/events?since=3&epoch=5eed").Body.String(); strings.Contains(text, "reset") {
		t.Error(text)
	}
}

// TestHealth: /livez says whether checks run, and /healthz also whether anything is held up.
func TestHealth(t *testing.T) {
	s := newSample(3)
	p := newPage(t, s)
	p.source = s
	for _, c := range []struct {
		still             bool
		trouble           string
		live, health      int
		liveText, allText string
	}{
		{false, "", 200, 200, "watching\n", "watching\n"},
		{false, "the output is blocked", 200, 503, "watching\n", "the output is blocked\n"},
		{true, "the output is blocked", 503, 503, "checks have stopped\n", "checks have stopped\n"},
	} {
		s.still, s.status.Trouble = c.still, c.trouble
		live, health := p.get(t, "/livez"), p.get(t, "/healthz")
		if live.Code != c.live || health.Code != c.health || live.Body.String() != c.liveText || health.Body.String() != c.allText {
			t.Errorf("%+v: %d %q, %d %q", c, live.Code, live.Body, health.Code, health.Body)
		}
	}
	p.latest.Store(nil)
	if live, health := p.get(t, "/livez"), p.get(t, "/healthz"); live.Code != 200 || health.Code != 200 {
		t.Errorf("before the watch begins: %d, %d", live.Code, health.Code)
	}
}

func compileSchema(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	check(t, err)
	c := jsonschema.NewCompiler()
	check(t, c.AddResource("api.json", doc))
	all := map[string]*jsonschema.Schema{}
	for _, kind := range []string{"servers", "server", "events", "stats", "history", "error"} {
		all[kind], err = c.Compile("api.json#/$defs/" + kind)
		check(t, err)
	}
	return all
}

func conforms(t *testing.T, s *jsonschema.Schema, url string, answer []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
	if err == nil {
		err = s.Validate(value)
	}
	if err != nil {
		t.Errorf("%s: %v\n%.300s", url, err, answer)
	}
}

// TestPaging: following next yields every server that matches once, in each order.
func TestPaging(t *testing.T) {
	p := newPage(t, newSample(1000))
	for _, test := range []struct {
		query string
		want  int
		first string
	}{
		{"", 1000, "Counter-Strike 2 community server 17"},
		{"game=rust", 250, "Rust community server 8"},
		{"game=nothing", 0, ""},
		{"status=down", 142, ""},
		{"status=down&game=rust", 35, ""},
		{"q=RUST+server+117", 0, ""},
		{"q=valheim+server+118", 4, ""},
		{"q=198.51.100.64:", 1, "Rust community server 64"},
		{"sort=name", 1000, "Counter-Strike 2 community server 1"},
		{"sort=status&limit=7", 1000, "Counter-Strike 2 community server 97"},
		{"game=rust&sort=name", 250, "Rust community server 0"},
	} {
		seen := map[string]bool{}
		for url := "/api/servers?" + test.query; url != ""; {
			var page struct {
				Total   int
				Next    string
				Servers []struct{ Addr, Name string }
			}
			check(t, json.Unmarshal(p.get(t, url).Body.Bytes(), &page))
			if len(seen) == 0 && len(page.Servers) > 0 && test.first != "" && page.Servers[0].Name != test.first {
				t.Errorf("%s: the first is %s", test.query, page.Servers[0].Name)
			}
			for _, s := range page.Servers {
				if seen[s.Addr] {
					t.Errorf("%s: %s twice", test.query, s.Addr)
				}
				seen[s.Addr] = true
			}
			if page.Total != test.want {
				t.Fatalf("%s: %d in all, want %d", test.query, page.Total, test.want)
			}
			url = page.Next
		}
		if len(seen) != test.want {
			t.Errorf("%s: %d servers, want %d", test.query, len(seen), test.want)
		}
	}
}

// TestRefused: mistakes get an answer that says what is wrong.
func TestRefused(t *testing.T) {
	p := newPage(t, newSample(3))
	compiled := compileSchema(t)
	for url, want := range map[string]int{
		"/api/servers?limit=201": 400, "/api/servers?limit=0": 400, "/api/servers?offset=-1": 400, "/api/servers?sort=x": 400,
		"/api/servers?status=gone": 400, "/api/servers?q=" + strings.Repeat("x", 201): 400, "/api/servers/x": 404,
		"/api/servers/192.0.2.1:1": 404, "/api/events?since=x": 400, "/api/events?since=-1": 400,
		"/api/servers?foo=1": 400, "/api/servers?Q=xx": 400, "/api/servers?page=zz": 400, "/api/servers?q=a&q=b": 400,
		"/api/servers/" + addrOf(0).String() + "?q=x": 400, "/api/events?limit=1": 400, "/api/events?since=1&since=2": 400,
		"/api/stats?q=x": 400, "/api/history?q=x": 400, "/api/schema?q=x": 400,
	} {
		w := p.get(t, url)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", url, w.Code, want)
		}
		conforms(t, compiled["error"], url, w.Body.Bytes())
	}
	for url, want := range map[string]int{
		"/api/servers?q=%zz": 400, "/api/servers?q=a;b": 400, "/api/events?%": 400, "/api/stats?a;b": 400, "/?q=%zz": 400,
		"/nothing": 404, "/server/x": 404, "/?sort=x": 400, "/?utm_source=x": 200, "/server/" + addrOf(0).String(): 200,
	} {
		if w := p.get(t, url); w.Code != want {
			t.Errorf("%s: %d, want %d", url, w.Code, want)
		}
	}
	want := `{"error":"the parameter \"Q\" is unknown: use q, game, status, sort, limit, offset"}`
	if got := p.get(t, "/api/servers?q=x&Q=xx").Body.String(); !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"} {
		w := httptest.NewRecorder()
		p.routes().ServeHTTP(w, httptest.NewRequest(method, "/api/stats", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	p.latest.Store(nil)
	if w := p.get(t, "/"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("before the watch begins: %d", w.Code)
	}
}

// TestNotices: the page says first how many servers are down, were asked in vain from the start,
// or were not asked yet, and such servers can be listed.
func TestNotices(t *testing.T) {
	s := newSample(40)
	show := func() []notice { return (&viewer{source: s}).make(now).Notices }
	for i := range s.rows {
		s.rows[i].Status, s.rows[i].Known, s.rows[i].Since = db.Unknown, nil, time.Time{}
	}
	if diff := cmp.Diff([]notice{{"info", "40 of 40 servers not checked yet", db.Unknown}}, show()); diff != "" {
		t.Error(diff)
	}
	for i := range s.rows {
		s.rows[i].Status = db.Up
	}
	if diff := cmp.Diff([]notice{{"good", "40 servers up, none down", db.Up}}, show()); diff != "" {
		t.Error(diff)
	}
	s.rows[5].Silent = now.Add(-time.Minute)
	if diff := cmp.Diff([]notice{{"warn", "1 of 40 servers not answering right now", unanswered}}, show()); diff != "" {
		t.Error(diff)
	}
	for i := range 2 {
		s.rows[i].Status, s.rows[i].Silent = db.Down, now.Add(-time.Hour)
	}
	s.rows[3].Status, s.rows[3].Silent, s.rows[3].Since = db.Unknown, now.Add(-time.Hour), now.Add(-time.Hour)
	s.status.Took = 90
	want := []notice{
		{"bad", "2 of 40 servers down", db.Down}, {"bad", "1 of 40 servers never answered", silent},
		{"warn", "1 of 40 servers not answering right now", unanswered}, {"warn", "Checking all servers takes 90 s instead of 60 s", ""},
	}
	if diff := cmp.Diff(want, show()); diff != "" {
		t.Error(diff)
	}
	p := newPage(t, s)
	if text := p.get(t, "/server/"+addrOf(3).String()).Body.String(); !strings.Contains(text, "has not answered any check yet.") || strings.Contains(text, `id="uptime"`) {
		t.Error("the page of a server that never answered has an uptime")
	}
	if text := p.get(t, "/?status=silent").Body.String(); !strings.Contains(text, `>never answered</b><span class="aside">, checked since <time datetime="2026-11-24T17:30:00Z">24 Nov 17:30</time>`) || !strings.Contains(text, ">1 server<") {
		t.Error("a server that was asked in vain is not listed as such")
	}
	text := p.get(t, "/").Body.String()
	states := regexp.MustCompile(`class="state (\w+)">([^<]*)</b>`).FindAllStringSubmatch(text, 5)
	for i, want := range []string{"down", "down", "never answered", "not answering", "up"} {
		if states[i][2] != want {
			t.Errorf("place %d: %s, want %s", i, states[i][2], want)
		}
	}
	if !strings.Contains(text, `<li class="bad"><a href="/?status=down#servers">2 of 40 servers down</a></li>`) {
		t.Error("no link to the servers that are down")
	}
	text = p.get(t, "/server/"+addrOf(5).String()).Body.String()
	if !strings.Contains(text, `>not answering</b> for 60 s, since <time`) || strings.Contains(text, "of 40 servers") || !strings.Contains(text, "Checking all servers takes") {
		t.Error("the page of a server has notices about others, or not those about the watch")
	}
	if s.status.Blind = true; show()[0].Level != "bad" || !strings.HasPrefix(show()[0].Text, "The network") {
		t.Error(show())
	}
}

// TestNames: a server without a name of its own has that of the list, if there is one, also
// when the list changes. If names come from the list, its own name stands beside that.
func TestNames(t *testing.T) {
	s := newSample(4)
	s.rows[0].Known, s.rows[1].Known = nil, &census.Server{Name: " \u2800\u3164", GameName: "Rust", Game: "rust"}
	s.rows[2].Known.Name = ""
	s.rows[0].Label, s.rows[1].Label, s.rows[3].Label = "Survival \x1b[31m", "x", "y"
	v := &viewer{source: s}
	names := func() (names []string) {
		for _, e := range v.make(now).servers {
			names = append(names, e.Name+"|"+e.OwnName)
		}
		return names
	}
	if diff := cmp.Diff([]string{`Survival \x1b[31m|`, "x|", "|", "My Game community server 3|"}, names()); diff != "" {
		t.Error(diff)
	}
	if s.rows[0].Label = "Creative"; names()[0] != "Creative|" {
		t.Errorf("%q after the list changed", names())
	}
	v = &viewer{source: s, byList: true}
	if diff := cmp.Diff([]string{"Creative|", "x|", "|", "y|My Game community server 3"}, names()); diff != "" {
		t.Error(diff)
	}
	if found, _, err := v.make(now).search(&url.URL{RawQuery: "q=community"}, "name"); err != nil || found.Total != 1 {
		t.Errorf("%d servers have this name of their own: %v", found.Total, err)
	}
}

// TestBadge: other sites may show the badge of a server, which holds no link and no script.
func TestBadge(t *testing.T) {
	sample := newSample(8)
	sample.rows[0].Known.Name, sample.rows[0].Known.Map, sample.rows[0].People = `<a href="x">&"`, "<script>", 12
	sample.rows[1].Until, sample.rows[1].Reason, sample.rows[1].Planned, sample.rows[1].Status = now.Add(time.Hour), "restart", true, db.Down
	sample.rows[2].Status, sample.rows[2].Known, sample.rows[2].Silent = db.Unknown, nil, now
	p := newPage(t, sample)
	for i, want := range map[int]string{
		0: `>&lt;a href=&#34;x&#34;&gt;&amp;&#34;</text>`, 1: ">maintenance</text>", 2: ">" + addrOf(2).String() + "</text>", 3: ">up · start · 21/60</text>", 6: ">down</text>",
	} {
		w := p.get(t, "/badge/"+addrOf(i).String()+".svg")
		text := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(text, want) || strings.Contains(text, "<a") || strings.Contains(text, "<script") {
			t.Errorf("%d: %s, want %s", w.Code, text, want)
		}
		if err := xml.Unmarshal([]byte(text), new(any)); err != nil && !strings.Contains(err.Error(), "unknown type") {
			t.Errorf("%s: %v", text, err)
		}
		for name, want := range map[string]string{
			"Content-Type": "image/svg+xml", "Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "max-age=60",
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	for _, path := range []string{"/badge/203.0.113.99:1.svg", "/badge/" + addrOf(0).String(), "/badge/" + addrOf(0).String() + ".png"} {
		if w := p.get(t, path); w.Code != http.StatusNotFound || w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
	}
}

// TestTable: the table has the uptime of 30 days, links to join, and maintenance; and the
// servers that do not answer are a filter.
func TestTable(t *testing.T) {
	sample := newSample(8)
	sample.rows[0].Port, sample.rows[3].Silent = 27016, now.Add(-time.Minute)
	sample.rows[1].Until, sample.rows[1].Reason, sample.rows[1].Planned, sample.rows[1].Status = now.Add(time.Hour), "<restart>", true, db.Down
	sample.rows[2].Until, sample.rows[2].Reason = now.Add(time.Hour), "wipe"
	p := newPage(t, sample)
	hour := db.Hour{Number: now.Unix()/3600 - 2, Samples: []db.Sample{{db.UpFor: 1800, db.DownFor: 600, db.PlannedFor: 1200}}}
	check(t, p.DB.Flush(nil, nil, hour, db.Hour{Number: hour.Number + 2}))
	shares, err := p.DB.Shares(now.Add(-month))
	if err != nil || shares[1] != 0.75 {
		t.Fatalf("%v, %v", shares, err)
	}
	for _, noJoin := range []bool{false, true} {
		p.latest.Store((&viewer{source: sample, shares: shares, noJoin: noJoin}).make(now))
		for _, path := range []string{"/", "/server/" + addrOf(0).String()} {
			const join = `<a href="steam://connect/198.51.100.0:27016">Join`
			if text := p.get(t, path).Body.String(); strings.Contains(text, join) == noJoin {
				t.Errorf("%s without links %v: %s", path, noJoin, text[strings.Index(text, "<body"):])
			}
		}
	}
	text := p.get(t, "/").Body.String()
	for _, want := range []string{
		`data-label="Uptime of 30 days">75.00%</td>`, `data-label="Uptime of 30 days">–</td>`,
		`<b class="state planned">maintenance</b><span class="aside"> until <time datetime="2026-11-24T19:30:00Z">24 Nov 19:30</time>: <bdi>&lt;restart&gt;</bdi></span>`,
		`, maintenance until <time datetime="2026-11-24T19:30:00Z">24 Nov 19:30</time>: <bdi>wipe</bdi></span>`,
		`<li class="info"><a href="/?status=down#servers">1 of 8 servers down for maintenance</a></li>`,
		`<li class="warn"><a href="/?status=unanswered#servers">1 of 8 servers not answering right now</a></li>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if text := p.get(t, "/?status=unanswered").Body.String(); !strings.Contains(text, ">1 server<") || !strings.Contains(text, addrOf(3).String()) {
		t.Error("the server that does not answer is no filter")
	}
	if text := p.get(t, "/server/"+addrOf(1).String()).Body.String(); !strings.Contains(text, `>maintenance</b> until <time`) {
		t.Error("the page of a server does not show its maintenance")
	}
}

// TestGames: games of one name are one, under the ID that the program knows, and each of their
// IDs selects all of their servers, in each order.
func TestGames(t *testing.T) {
	s := newSample(8)
	s.rows[0].People = 59 // so it comes first
	for i, id := range []string{"folder:rust", "rust", "app:1", "app:1"} {
		s.rows[i].Known = &census.Server{Game: id, GameName: "Rust"}
	}
	p := newPage(t, s)
	for _, g := range p.latest.Load().Games {
		if g.Name == "Rust" && (g.ID != "rust" || g.Servers != 5) {
			t.Errorf("%+v", g)
		}
	}
	for _, query := range []string{"game=rust", "game=folder:rust&sort=name", "game=app:1&sort=status"} {
		if text := p.get(t, "/api/servers?"+query).Body.String(); !strings.Contains(text, `"total":5,`) {
			t.Errorf("%s: %.100s", query, text)
		}
	}
	s = newSample(30)
	for i := range s.rows {
		s.rows[i].Known = &census.Server{Game: fmt.Sprint("app:", i), GameName: fmt.Sprint("Game ", i)}
	}
	text := newPage(t, s).get(t, "/").Body.String()
	if !strings.Contains(text, "<p>The ten games with the most players") || !strings.Contains(text, "<summary>All 30 games</summary>") {
		t.Error("the list of games does not say that it shows ten of 30")
	}
}

// TestPeopleChart: the chart of a server covers the time that its heading names, and has a gap
// where the server was down, or nobody asked.
func TestPeopleChart(t *testing.T) {
	at := now.Add(-30 * time.Hour).Truncate(time.Hour)
	hour := func(n int, people *db.People) db.Period {
		return db.Period{Time: at.Add(time.Duration(n) * time.Hour), Hours: 1, People: people}
	}
	five := &db.People{Max: 7, Mean: 5}
	c := peopleChart([]db.Period{hour(0, five), hour(1, nil), hour(2, five), hour(5, five)}, now)
	if c.Heading != "Players, last 7 days" || c.To != now.Unix() || c.To-c.From != 7*24*3600 {
		t.Errorf("%s: %d to %d", c.Heading, c.From, c.To)
	}
	got := ""
	for i, v := range c.Series[0].Values {
		got += fmt.Sprintf("%d %v; ", (c.Times[i]-at.Unix())/3600, v != nil)
	}
	if got != "0 true; 1 false; 2 true; 3 false; 5 true; " {
		t.Error(got)
	}
	few := []db.Period{{Time: now.Add(-150 * time.Minute), Hours: 1, Up: 3600, People: &db.People{}}}
	if c := peopleChart(few, now); c.Heading != "Players, last 3 h" || c.To-c.From != 150*60 {
		t.Errorf("the axis of the first day: %q, %d s", c.Heading, c.To-c.From)
	}
	if c := peopleChart(nil, now); c.Heading != "Players, last 24 h" || c.Rows() != nil {
		t.Errorf("%+v", c)
	}
}

// hostile are names from servers that want to harm visitors.
var hostile = []string{
	`</title></script><script>window.hacked = 1</script>`, `"><img src=x onerror="window.hacked = 2">`, `<!--style--><!--script-->`,
	`' onmouseover='window.hacked = 3`, "\u202etxt.exe\u2066", strings.Repeat("W", 10_000), "a\x00b\xff\xfe\x1b[31m", `{{.Title}} ${alert(4)}`,
	"javascript:window.hacked=5", strings.Repeat("a\u0301\u0302\u0303\u0304", 50), `</textarea><base href="//evil.example/"><meta http-equiv=refresh content=0>`,
	"]]><svg onload=window.hacked=6>", "",
}

// hostileSample returns a watch of hostile servers, and their events.
func hostileSample() (s *sample, events []db.Event) {
	s = newSample(len(hostile))
	for i, name := range hostile {
		s.rows[i].Known = &census.Server{Name: name, Game: "folder:" + name, GameName: name, Map: name, Version: name}
		before := name + "x"
		events = append(events, db.Event{
			Time: now, Kind: "renamed", Addr: addrOf(i).String(), Name: name, Before: &census.Facts{Name: &before}, After: &census.Facts{Name: &hostile[i]},
		})
	}
	return s, events
}

// TestPages: every page is well-formed, has each ID once, and shows hostile names as text.
func TestPages(t *testing.T) {
	p := newPage(t, newSample(300), sampleEvents...)
	strange, events := hostileSample()
	h := newPage(t, strange, events...)
	check(t, h.DB.Flush(nil, []db.Server{{ID: 1, Status: db.Up, Answer: []byte(`{"info":{"name":"</pre><script>window.hacked=7</script>` + "\u202e" + `"}}`)}}))
	for _, page := range []struct {
		of  *Page
		url string
	}{
		{p, "/"}, {p, "/?game=rust&status=up&q=server&sort=name"}, {p, "/?offset=200"}, {p, "/?q=nothing"}, {p, "/server/" + addrOf(0).String()},
		{p, "/server/" + addrOf(299).String()}, {p, "/server/x"}, {h, "/"}, {h, "/?q=" + "%3Cscript%3E"}, {h, "/server/" + addrOf(0).String()}, {h, "/server/" + addrOf(1).String()},
	} {
		w := page.of.get(t, page.url)
		if kind := w.Header().Get("Content-Type"); kind != "text/html; charset=utf-8" {
			t.Errorf("%s: %s", page.url, kind)
		}
		text := w.Body.String()
		wellFormed(t, page.url, text)
		if strings.Contains(text, "\u202e") || strings.Contains(text, "\x00") {
			t.Errorf("%s: invisible characters", page.url)
		}
		if len(text) > 400_000 {
			t.Errorf("%s: %d bytes", page.url, len(text))
		}
	}
	for _, url := range []string{"/api/servers", "/api/stats"} {
		if text := h.get(t, url).Body.String(); strings.ContainsAny(text, "\u202e\x00") || len(text) > 30_000 {
			t.Errorf("%s: %d bytes, or invisible characters", url, len(text))
		}
	}
}

// wellFormed fails the test if elements are not closed in order, if an ID occurs twice, or if
// there are scripts and styles other than ours.
func wellFormed(t *testing.T, url, text string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(text))
	var open []string
	ids, count := map[string]bool{}, map[string]int{}
	void := []string{"meta", "link", "input", "br", "img"}
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		switch kind {
		case html.StartTagToken:
			if count[token.Data]++; !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
			for _, a := range token.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: attribute %s", url, a.Key)
				}
				if a.Key == "id" && ids[a.Val] {
					t.Errorf("%s: ID %s twice", url, a.Val)
				} else if a.Key == "id" {
					ids[a.Val] = true
				}
			}
		case html.EndTagToken:
			if n := len(open); n == 0 || open[n-1] != token.Data {
				t.Fatalf("%s: </%s> closes %v", url, token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
	if z.Err() != io.EOF || len(open) > 0 {
		t.Errorf("%s: %v, not closed: %v", url, z.Err(), open)
	}
	if count["script"] > 5 || count["style"] != 1 || count["title"] < 1 || count["img"] != strings.Count(text, `<img src="/badge/`) || count["base"]+count["iframe"] > 0 {
		t.Errorf("%s: %v", url, count)
	}
}

// TestMetrics: labels are words of this program.
func TestMetrics(t *testing.T) {
	strange, _ := hostileSample()
	strange.rows[0].Known = &census.Server{Game: "rust", GameName: "Rust"}
	text := newPage(t, strange).get(t, "/metrics").Body.String()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "a2sscan_watch_") && !regexp.MustCompile(`^a2sscan_watch_[a-z_]+(\{(status|direction|game)="[a-z]+"\})? [0-9.e+]+\n$`).MatchString(line) {
			t.Errorf("%q", line)
		}
	}
	for _, want := range []string{`a2sscan_watch_game_servers{game="rust"} 1`, `a2sscan_watch_game_servers{game="other"}`, `a2sscan_watch_servers{status="down"} 1`, "a2sscan_build_info"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestDashboard: the dashboard shows every metric of a watch, and no others.
func TestDashboard(t *testing.T) {
	dashboard, err := os.ReadFile("../../../../../packaging/grafana/a2sscan.json")
	check(t, err)
	name := regexp.MustCompile(`\ba2sscan_watch_\w+`)
	all := func(text string) []string {
		names := name.FindAllString(text, -1)
		slices.Sort(names)
		return slices.Compact(names)
	}
	if diff := cmp.Diff(all(newPage(t, newSample(9)).get(t, "/metrics").Body.String()), all(string(dashboard))); diff != "" {
		t.Error(diff)
	}
}

// storeHour stores an hour that has ended.
func storeHour(state *db.DB, at time.Time, samples ...db.Sample) error {
	number := at.Unix() / 3600
	return state.Flush(nil, nil, db.Hour{Number: number, Samples: samples}, db.Hour{Number: number + 2})
}

// TestBars: each period counts for its day, and the last day is today.
func TestBars(t *testing.T) {
	at := func(days, hours int) time.Time {
		return now.Truncate(24*time.Hour).AddDate(0, 0, -days).Add(time.Duration(hours) * time.Hour)
	}
	got := bars([]db.Period{
		{Time: at(95, 0), Hours: 24, Up: 86400}, // too old
		{Time: at(3, 0), Hours: 24, Up: 84000, Down: 2400},
		{Time: at(0, 1), Hours: 1, Up: 3600},
		{Time: at(0, 2), Hours: 1, Down: 60, Unseen: 1800},
	}, now)
	want := []bar{
		{"most", "2026-11-21", "97.22%, down for 40 min"}, {"none", "2026-11-22", "not checked"},
		{"none", "2026-11-23", "not checked"}, {"most", "2026-11-24", "98.36%, down for 60 s"},
	}
	if diff := cmp.Diff(want, got[86:]); diff != "" || len(got) != 90 {
		t.Errorf("%d: %s", len(got), diff)
	}
	got = bars([]db.Period{{Time: at(0, 1), Hours: 1, Up: 3600}, {Time: at(0, 18), Hours: 1, Up: 1200, Down: 600}}, now)
	want = []bar{{"full", "24 Nov 01:00", "100.00%"}, {"none", "24 Nov 02:00", "not checked"}, {"less", "24 Nov 18:00", "66.66%, down for 10 min"}}
	if diff := cmp.Diff(want, []bar{got[6], got[7], got[23]}); diff != "" || len(got) != 24 {
		t.Errorf("the first day: %d: %s", len(got), diff)
	}
}

// TestPast: the last day and month come from the totals of minutes in the database, also from
// those of an earlier watch, with a gap where the watch did not run.
func TestPast(t *testing.T) {
	p := newPage(t, newSample(2))
	p.forget(t)
	for _, minutes := range []int{-40 * 24 * 60, -3*24*60 - 1, -3 * 24 * 60, -90, -60, -59, -58, -54} {
		check(t, p.DB.Count(now.Add(time.Duration(minutes)*time.Minute), 100+minutes%60, 10))
	}
	p.readPast(t)
	day, long := p.past.Load().Day, p.past.Load().Month
	at := func(minutes int) int64 { return now.Add(time.Duration(minutes) * time.Minute).Unix() }
	if want := []int64{at(-90), at(-85), at(-60), at(-54)}; !slices.Equal(day.Times, want) || day.Up[1] != nil || *day.Up[2] != 61 || *day.People[2] != 10 {
		t.Errorf("the last day: %v, want %v; %v", day.Times, want, day.Up)
	}
	if len(long.Times) != 3 || long.Up[1] != nil || *long.Up[0] != 99.5 || long.Times[2] != at(-90) {
		t.Errorf("the last month: %v", long.Times)
	}
}

// TestRefresh: a snapshot serves for a second, and the past is read once a minute.
func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state, err := db.Open("")
		check(t, err)
		defer state.Close()
		s, p := newSample(10), &Page{Options: Options{DB: state, Timeout: 10 * time.Minute}}
		ctx, cancel := context.WithCancel(t.Context())
		go p.refresh(ctx, s, console.New(io.Discard))
		synctest.Wait()
		first := p.latest.Load()
		s.mu.Lock()
		s.rows[3].Known = &census.Server{Name: "another name"}
		s.mu.Unlock()
		time.Sleep(fresh / 2)
		if p.latest.Load() != first {
			t.Error("a fresh snapshot was replaced")
		}
		time.Sleep(fresh)
		next := p.latest.Load()
		if next == first || next.servers[3].Name != "another name" || first.servers[3].Name == "another name" {
			t.Errorf("%+v", next.servers[3].texts)
		}
		if next.servers[2].texts != first.servers[2].texts {
			t.Error("texts that did not change were made anew")
		}
		check(t, state.Count(time.Now(), 7, 8))
		time.Sleep(2 * time.Minute)
		if day := p.past.Load().Day; len(day.Times) != 1 || *day.Up[0] != 7 {
			t.Errorf("the past after a minute: %+v", day)
		}
		cancel()
	})
}

// BenchmarkSnapshot makes a snapshot of 100,000 servers, the first one, and one after it.
func BenchmarkSnapshot(b *testing.B) {
	source := newSample(100_000)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			(&viewer{source: source}).make(now)
		}
	})
	b.Run("next", func(b *testing.B) {
		v := &viewer{source: source}
		v.make(now)
		b.ReportAllocs()
		for b.Loop() {
			v.make(now)
		}
	})
}

// BenchmarkFind searches among 100,000 servers.
func BenchmarkFind(b *testing.B) {
	s := (&viewer{source: newSample(100_000)}).make(now)
	for name, query := range map[string]string{"words": "q=valheim+4242", "status": "status=down", "game": "game=rust&offset=5000"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _, err := s.search(&url.URL{RawQuery: query}, "people")
				check(b, err)
			}
		})
	}
}
