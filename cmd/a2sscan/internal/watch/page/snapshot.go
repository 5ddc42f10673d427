package page

import (
	"cmp"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/sink/census"
)

// texts has the fields of a server that rarely change, so that snapshots can share them.
// The exported texts are safe to show: see report.Shown.
type texts struct {
	Addr     string `json:"addr"`
	Name     string `json:"name,omitempty"`
	OwnName  string `json:"own_name,omitempty"` // name that the server sends, if Name comes from the list
	Game     string `json:"game,omitempty"`
	GameName string `json:"game_name,omitempty"`
	Map      string `json:"map,omitempty"`
	Version  string `json:"version,omitempty"`
	GamePort uint16 `json:"game_port,omitempty"` // port at which players join
	id       int64
	from     *census.Server // answer from which the texts come
	label    string         // text after the address in the list of targets
	search   string         // all texts in lower case
}

// count is a number, or -1 if it is unknown.
type count int32

// IsZero makes JSON omit an unknown number.
func (c count) IsZero() bool { return c < 0 }

// server is a server in a snapshot and in the API. Snapshots share its texts.
type server struct {
	*texts
	Status db.Status `json:"status"`
	Since  time.Time `json:"since,omitzero"` // start of the status
	// Late is when the current series of unanswered checks began. It is zero if the latest
	// check was answered, or if the server is not up.
	Late time.Time `json:"unanswered_since,omitzero"`
	// Uptime30 is the uptime of the last 30 days, from 0 to 1, or nil if the server was not
	// checked.
	Uptime30    *float64     `json:"uptime_30_days,omitempty"`
	Maintenance *maintenance `json:"maintenance,omitempty"`
	People      count        `json:"people,omitzero"`
	Places      count        `json:"places,omitzero"`
}

type maintenance struct {
	Until  time.Time `json:"until"`
	Reason string    `json:"reason,omitempty"`
	// Planned means that the server is down because of this maintenance.
	Planned bool `json:"planned"`
}

func (s *server) InMaintenance() bool { return s.Maintenance != nil && s.Maintenance.Planned }

// silent is the status of a server that was checked and has never answered. In this package,
// db.Unknown is the status of a server that was not checked yet.
const silent db.Status = "silent"

// unanswered is a status only in searches. It selects the servers that are up but did not
// answer their latest check.
const unanswered db.Status = "unanswered"

// statuses lists the statuses in the order in which the page sorts them.
var statuses = []db.Status{db.Down, silent, unanswered, db.Up, db.Unknown}

// statusWords has words for the statuses whose name is not clear enough.
var statusWords = map[db.Status]string{silent: "never answered", unanswered: "not answering", db.Unknown: "not checked yet"}

// orders are the orders in which servers can be listed. By default the page uses the first
// order, and the API uses "people".
var orders = []string{"status", "people", "name"}

// sums are totals of servers. Up, People and Places count only servers that are up.
type sums struct {
	Servers int `json:"servers"`
	Up      int `json:"up"`
	People  int `json:"people"`
	Places  int `json:"places"`
}

// group is a game in a snapshot and in the API. Games of the same name are one group.
type group struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	sums
	members []int32 // indexes of servers, sorted by people
}

// notice is a sentence about the watch or about all its servers.
type notice struct {
	Level  string    `json:"level"` // good, warn, bad, or info
	Text   string    `json:"text"`
	Status db.Status `json:"status,omitempty"` // status of the servers that the sentence is about
}

// numbers are the totals of a snapshot, and the answer to /api/stats.
type numbers struct {
	Time time.Time `json:"time"`
	sums
	Down     int      `json:"down"`
	Planned  int      `json:"planned"` // servers that are down for maintenance
	Silent   int      `json:"silent"`
	Late     int      `json:"unanswered"` // number of servers that are up but did not answer their latest check
	Unknown  int      `json:"unknown"`
	Blind    bool     `json:"blind"`
	Notices  []notice `json:"notices"`
	Interval float64  `json:"interval_s"`        // seconds between two checks of a server
	Cycle    float64  `json:"cycle_s,omitempty"` // length of the latest cycle in seconds
	Events   uint64   `json:"events"`            // number of events since the watch began
	Games    []*group `json:"games"`             // sorted by people
}

// snapshot is the state of the watch that requests see until the next snapshot. Requests
// change nothing in it but snapshot.pages, which is a cache.
type snapshot struct {
	numbers
	datagrams        [2]uint64 // numbers of datagrams sent and received
	servers          []server
	games            map[string]*group // games by ID and by name
	byPeople         []int32           // indexes of servers, sorted by people
	byName, byStatus func() []int32    // sort when they are first called
	mu               sync.Mutex
	pages            map[string][]byte // cached pages that list servers, by the query of the URL
}

// Source is the part of a watch that a page reads. A *watch.Watch implements it.
type Source interface {
	Rows() iter.Seq[watch.Row]
	Status() *watch.Status
	// Trouble describes a blocked output and a locked database. It returns "" if there is
	// neither.
	Trouble() string
	// Alive reports whether checks run.
	Alive() bool
}

// viewer makes snapshots. Each snapshot reuses texts of the previous snapshot.
type viewer struct {
	source Source
	byList bool              // see Options
	noJoin bool              // see Options
	shares map[int64]float64 // uptime of the last 30 days, by the ID of the server
	texts  []*texts          // texts of the servers, in the order of their IDs
}

// mostGames is the maximum number of games in an answer, and mostPages the maximum
// number of cached pages of a snapshot.
const mostGames, mostPages = 200, 50

func (v *viewer) make(now time.Time) *snapshot {
	st := v.source.Status()
	s := &snapshot{
		games: map[string]*group{}, servers: make([]server, 0, len(v.texts)),
		datagrams: [2]uint64{st.Sent, st.Received}, pages: map[string][]byte{},
	}
	s.numbers = numbers{
		Time: now.UTC().Truncate(time.Second), Blind: st.Blind, Interval: st.Every, Cycle: st.Took,
		Events: st.Events, Games: []*group{},
	}
	for row := range v.source.Rows() {
		for int(row.ID) >= len(v.texts) {
			v.texts = append(v.texts, nil)
		}
		t := v.texts[row.ID]
		if t == nil || t.from != row.Known || t.label != row.Label {
			t = newTexts(&row, v.byList, v.noJoin)
			v.texts[row.ID] = t
		}
		e := server{texts: t, Status: row.Status, Since: row.Since, Late: row.Silent, People: count(row.People), Places: count(row.Places)}
		if share, known := v.shares[row.ID]; known {
			e.Uptime30 = &share
		}
		if !row.Until.IsZero() {
			e.Maintenance = &maintenance{row.Until, report.Shown(row.Reason, longName), row.Planned}
		}
		if e.Status != db.Up {
			e.People, e.Late = -1, time.Time{}
		}
		if e.Status == db.Unknown && !row.Silent.IsZero() {
			e.Status = silent
		}
		s.servers = append(s.servers, e)
	}
	s.byPeople = s.sorted(func(e *server) uint64 { return uint64(math.MaxInt32 - e.People) })
	s.byStatus = sync.OnceValue(func() []int32 {
		return s.sorted(func(e *server) uint64 {
			order := uint64(math.MaxUint32 - max(e.Since.Unix(), 0)) // the latest first
			if e.Status == db.Up && e.Late.IsZero() {
				order = uint64(math.MaxInt32 - max(e.People, 0))
			} else if e.Status == db.Up {
				order = 0
			}
			rank := uint64(2 * slices.Index(statuses, e.Status))
			if e.InMaintenance() {
				rank++ // after the servers that are down without maintenance
			}
			return rank<<32 | order
		})
	})
	s.byName = sync.OnceValue(func() []int32 {
		order := slices.Clone(s.byPeople)
		slices.SortFunc(order, func(a, b int32) int { return strings.Compare(s.servers[a].search, s.servers[b].search) })
		return order
	})
	for _, i := range s.byPeople {
		s.add(i)
	}
	slices.SortFunc(s.Games, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.People, a.People), cmp.Compare(b.Up, a.Up), strings.Compare(a.ID, b.ID))
	})
	s.Games = s.Games[:min(len(s.Games), mostGames)]
	s.Notices = s.notices()
	return s
}

func (s *snapshot) sorted(key func(*server) uint64) []int32 {
	const places = 28 // number of low bits that hold the index; the other bits hold the key
	keys, order := make([]uint64, len(s.servers)), make([]int32, len(s.servers))
	for i := range s.servers {
		keys[i] = key(&s.servers[i])<<places | uint64(i)
	}
	slices.Sort(keys)
	for i, k := range keys {
		order[i] = int32(k & (1<<places - 1))
	}
	return order
}

// add counts a server in the totals of all servers and in the totals of its game.
func (s *snapshot) add(i int32) {
	e := &s.servers[i]
	g := s.games[e.Game]
	if g == nil {
		if g = s.games[e.GameName]; g == nil {
			g = &group{ID: e.Game, Name: e.GameName}
			s.games[g.Name], s.Games = g, append(s.Games, g)
		} else if strings.Contains(g.ID, ":") {
			g.ID = e.Game // g.ID is of an unknown game; e.Game may be the ID of a known one
		}
		s.games[e.Game] = g
	}
	g.members = append(g.members, i)
	for _, to := range []*sums{&s.sums, &g.sums} {
		if to.Servers++; e.Status == db.Up {
			to.Up, to.People, to.Places = to.Up+1, to.People+int(max(e.People, 0)), to.Places+int(max(e.Places, 0))
		}
	}
	switch {
	case e.InMaintenance():
		s.Planned++
	case e.Status == db.Down:
		s.Down++
	case e.Status == silent:
		s.Silent++
	case e.Status == db.Unknown:
		s.Unknown++
	case !e.Late.IsZero():
		s.Late++
	}
}

// notices returns the sentences at the top of a page, the most important sentence first.
func (n *numbers) notices() (all []notice) {
	add := func(level string, part int, what string, status db.Status) {
		if part > 0 {
			all = append(all, notice{level, console.Grouped(uint64(part)) + " of " + console.Plural(n.Servers, "server") + what, status})
		}
	}
	switch {
	case n.Blind:
		all = append(all, notice{"bad", "The network of the machine that checks the servers may be down", ""})
	case n.Down > 0:
		add("bad", n.Down, " down", db.Down)
	case n.Up == n.Servers && n.Late == 0:
		all = append(all, notice{"good", console.Plural(n.Servers, "server") + " up, none down", db.Up})
	}
	add("info", n.Planned, " down for maintenance", db.Down)
	add("bad", n.Silent, " never answered", silent)
	add("warn", n.Late, " not answering right now", unanswered)
	add("info", n.Unknown, " not checked yet", db.Unknown)
	if n.Cycle > 1.1*n.Interval {
		all = append(all, notice{"warn", "Checking all servers takes " + rough(n.Cycle) + " instead of " + rough(n.Interval), ""})
	}
	return all
}

// find returns the server with an address.
func (s *snapshot) find(addr string) (*server, error) {
	for i := range s.servers {
		if s.servers[i].Addr == addr {
			return &s.servers[i], nil
		}
	}
	return nil, refusal{http.StatusNotFound, "no server with this address is watched"}
}

func rough(seconds float64) string {
	return console.RoughDuration(time.Duration(seconds * float64(time.Second)))
}

// The maximum lengths of texts, in characters.
const longName, longWord = 80, 40

// newTexts returns the texts of a server. If byList is true, the server's name is its
// label, if it has one. If noJoin is true, the port at which players join is omitted.
func newTexts(row *watch.Row, byList, noJoin bool) *texts {
	label := report.Shown(watch.Visible(row.Label), longName)
	t := &texts{id: row.ID, Addr: row.Addr.String(), from: row.Known, label: row.Label, Name: label}
	if !noJoin {
		t.GamePort = row.Port
	}
	if k := row.Known; k != nil {
		own := report.Shown(watch.Visible(k.Name), longName)
		if t.Name = cmp.Or(own, label); byList && label != "" && label != own {
			t.Name, t.OwnName = label, own
		}
		t.Map, t.Version, t.Game = report.Shown(k.Map, longWord), report.Shown(k.Version, longWord), report.Shown(k.Game, longWord)
		t.GameName = cmp.Or(report.Shown(k.GameName, longWord), t.Game)
	}
	t.search = strings.ToLower(strings.Join([]string{t.Name, t.OwnName, t.GameName, t.Map, t.Version, t.Addr}, "\n"))
	return t
}

type query struct {
	Text, Game, Order string
	Status            db.Status
	words             []string // the words of Text, in lower case
	offset, limit     int
}

// The usual and the maximum number of servers in an answer, and the maximum length of a
// search text in bytes.
const usualLimit, mostLimit, longestText = 100, 200, 200

// search returns the servers that a request selects. Its second argument, order, is used if
// the request names no order.
func (s *snapshot) search(at *url.URL, order string) (f found, q query, err error) {
	values := at.Query()
	q = query{
		Text: values.Get("q"), Game: values.Get("game"), Status: db.Status(values.Get("status")),
		Order: cmp.Or(values.Get("sort"), order), limit: usualLimit,
	}
	q.words = strings.Fields(strings.ToLower(q.Text))
	why := ""
	for name, to := range map[string]*int{"offset": &q.offset, "limit": &q.limit} {
		if text := values.Get(name); text != "" {
			if *to, err = strconv.Atoi(text); err != nil || *to < 0 {
				why = name + " must be 0 or a positive number"
			}
		}
	}
	switch {
	case len(q.Text) > longestText:
		why = "the parameter q is too long"
	case q.Status != "" && !slices.Contains(statuses, q.Status):
		why = "the parameter status must be up, down, silent, unanswered or unknown"
	case !slices.Contains(orders, q.Order):
		why = "the parameter sort must be one of " + strings.Join(orders, ", ")
	case q.limit < 1 || q.limit > mostLimit:
		why = "the parameter limit must be from 1 to " + strconv.Itoa(mostLimit)
	}
	if why != "" {
		return f, q, refusal{http.StatusBadRequest, why}
	}
	candidates, game := s.byPeople, &group{}
	if q.Game != "" {
		game = cmp.Or(s.games[q.Game], game)
		candidates = game.members
	}
	switch q.Order {
	case "name":
		candidates = s.byName()
	case "status":
		candidates = s.byStatus()
	}
	if len(q.words) > 0 || q.Status != "" || q.Game != "" && q.Order != "people" {
		matches := make([]bool, len(s.servers)) // filled in the order of s.servers, for speed
		for i := range s.servers {
			e := &s.servers[i]
			matches[i] = (q.Status == "" || e.Status == q.Status || q.Status == unanswered && !e.Late.IsZero()) && (q.Game == "" || s.games[e.Game] == game) &&
				!slices.ContainsFunc(q.words, func(word string) bool { return !strings.Contains(e.search, word) })
		}
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(i int32) bool { return !matches[i] })
	}
	f = found{Time: s.Time, Total: len(candidates), Offset: q.offset, Servers: []*server{}}
	first := min(q.offset, f.Total)
	for _, i := range candidates[first:min(first+q.limit, f.Total)] {
		f.Servers = append(f.Servers, &s.servers[i])
	}
	elsewhere := func(offset int) string {
		values.Set("offset", strconv.Itoa(offset))
		return (&url.URL{Path: at.Path, RawQuery: values.Encode()}).String()
	}
	if end := q.offset + len(f.Servers); end < f.Total && len(f.Servers) > 0 {
		f.Next = elsewhere(end)
	}
	if q.offset > 0 {
		f.back = elsewhere(max(0, q.offset-q.limit))
	}
	return f, q, nil
}
