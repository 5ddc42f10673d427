package livepage

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/sink/census"
)

// texts are what a server calls itself, in a form that is safe to show.
type texts struct {
	from               *census.Server // which they are made from
	addr               string
	name, game, gameID string
	gameMap, version   string
	search             string // all of it in lower case
}

// server is a server in a snapshot. Snapshots share its texts.
type server struct {
	*texts
	id             int64
	addrPort       netip.AddrPort
	status         watchdb.Status
	first, since   int64 // Unix seconds; negative: never
	people, places int32 // -1: unknown
}

// group is a game in a snapshot.
type group struct {
	id, name       string
	servers, up    int
	people, places int
	members        []int32 // the places of its servers in snapshot.servers, by people
}

// snapshot is what all requests of a second see. Nobody changes it.
type snapshot struct {
	at      time.Time
	status  watch.Status
	places  int
	servers []server
	byAddr  map[netip.AddrPort]int32
	games   []*group // by people
	byGame  map[string]*group
	orders  map[string][]int32 // places in servers, for each order
}

// The orders of servers; the first is the default.
var orders = []string{"people", "name", "status"}

var statuses = []watchdb.Status{watchdb.Up, watchdb.Down, watchdb.Unknown}

// viewer makes snapshots.
type viewer struct {
	source Source

	mu      sync.Mutex
	latest  *snapshot
	working bool
	rest    time.Duration // how long the latest snapshot serves

	rows  []watch.Row
	texts []*texts // by ID
	lower string   // for search
}

// Source is what a page reads from a watch; watch.View is one.
type Source interface {
	Rows([]watch.Row) []watch.Row
	Status() *watch.Status
}

// A snapshot serves for a second, or longer if it takes long to make: it may cost a
// processor a twentieth of its time. After stale, requests wait for a new one.
const (
	fresh = time.Second
	share = 20
	stale = 10 * time.Second
)

// look returns a snapshot. If the latest one is no longer fresh, it begins to make another.
func (v *viewer) look(now time.Time) *snapshot {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.latest == nil || now.Sub(v.latest.at) > max(stale, 2*v.rest) && !v.working {
		v.latest = v.make(now)
	} else if now.Sub(v.latest.at) > v.rest && !v.working {
		v.working = true
		go func() {
			s := v.make(now)
			v.mu.Lock()
			defer v.mu.Unlock()
			v.latest, v.working = s, false
		}()
	}
	return v.latest
}

// make reads the watch. One call runs at a time.
func (v *viewer) make(now time.Time) *snapshot {
	start := time.Now()
	v.rows = v.source.Rows(v.rows[:0])
	s := &snapshot{
		at: now, status: *v.source.Status(), servers: make([]server, len(v.rows)),
		byAddr: make(map[netip.AddrPort]int32, len(v.rows)), byGame: map[string]*group{}, orders: map[string][]int32{},
	}
	changed := v.latest == nil || len(v.latest.servers) != len(v.rows)
	for i := range v.rows {
		row := &v.rows[i]
		for int(row.ID) >= len(v.texts) {
			v.texts = append(v.texts, nil)
		}
		t := v.texts[row.ID]
		if t == nil || t.from != row.Known {
			changed, t = true, newTexts(row)
			v.texts[row.ID] = t
		}
		s.servers[i] = server{
			texts: t, id: row.ID, addrPort: row.Addr, status: row.Status, first: row.First.Unix(), since: row.Since.Unix(),
			people: int32(row.People), places: int32(row.Places),
		}
		if row.Status != watchdb.Up {
			s.servers[i].people = -1
		}
		s.byAddr[row.Addr] = int32(i)
	}
	s.order(changed, v.latest)
	for _, i := range s.orders[orders[0]] {
		s.count(i)
	}
	for _, g := range s.byGame {
		s.games = append(s.games, g)
	}
	slices.SortFunc(s.games, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.people, a.people), cmp.Compare(b.up, a.up), strings.Compare(a.id, b.id))
	})
	v.rest = max(fresh, share*time.Since(start))
	return s
}

// order sorts the servers. The order by name is taken from the last snapshot unless a name
// changed.
func (s *snapshot) order(changed bool, last *snapshot) {
	sorted := func(compare func(a, b *server) int) (order []int32) {
		for i := range s.servers {
			order = append(order, int32(i))
		}
		slices.SortStableFunc(order, func(a, b int32) int { return compare(&s.servers[a], &s.servers[b]) })
		return order
	}
	byPeople := func(a, b *server) int { return cmp.Compare(b.people, a.people) }
	s.orders["people"] = sorted(byPeople)
	rank := map[watchdb.Status]int{watchdb.Down: 0, watchdb.Up: 1, watchdb.Unknown: 2}
	s.orders["status"] = sorted(func(a, b *server) int {
		return cmp.Or(cmp.Compare(rank[a.status], rank[b.status]), cmp.Compare(b.since, a.since))
	})
	if changed {
		s.orders["name"] = sorted(func(a, b *server) int { return strings.Compare(a.search, b.search) })
	} else {
		s.orders["name"] = last.orders["name"]
	}
}

// count adds a server to its game.
func (s *snapshot) count(i int32) {
	server := &s.servers[i]
	g := s.byGame[server.gameID]
	if g == nil {
		g = &group{id: server.gameID, name: server.game}
		s.byGame[server.gameID] = g
	}
	g.servers, g.members = g.servers+1, append(g.members, i)
	if server.status == watchdb.Up {
		g.up++
		g.people, g.places = g.people+int(max(server.people, 0)), g.places+int(max(server.places, 0))
		s.places += int(max(server.places, 0))
	}
}

// The longest texts that are shown, in characters.
const (
	longName = 80
	longWord = 40
)

func newTexts(row *watch.Row) *texts {
	t := &texts{from: row.Known, addr: row.Addr.String()}
	if k := row.Known; k != nil {
		t.name, t.gameMap, t.version = report.Shown(k.Name, longName), report.Shown(k.Map, longWord), report.Shown(k.Version, longWord)
		t.gameID, t.game = report.Shown(k.Game, longWord), report.Shown(k.GameName, longWord)
		if t.game == "" {
			t.game = t.gameID
		}
	}
	t.search = strings.ToLower(strings.Join([]string{t.name, t.game, t.gameMap, t.version, t.addr}, "\n"))
	return t
}

// query selects servers.
type query struct {
	Text, Game, Order string
	Status            watchdb.Status
	words             []string // of Text, in lower case; all must occur
	offset, limit     int
}

// The limits of a query.
const (
	usualLimit  = 100
	mostLimit   = 200
	longestText = 200
)

// parseQuery reads the parameters of a request.
func parseQuery(values url.Values) (q query, err error) {
	q = query{
		Text: values.Get("q"), Game: values.Get("game"), Status: watchdb.Status(values.Get("status")),
		Order: cmp.Or(values.Get("sort"), orders[0]), limit: usualLimit,
	}
	q.words = strings.Fields(strings.ToLower(q.Text))
	for name, to := range map[string]*int{"offset": &q.offset, "limit": &q.limit} {
		if s := values.Get(name); s != "" {
			if *to, err = strconv.Atoi(s); err != nil || *to < 0 {
				return q, errors.New(name + " is no number")
			}
		}
	}
	switch {
	case len(q.Text) > longestText:
		return q, errors.New("q is too long")
	case q.Status != "" && !slices.Contains(statuses, q.Status):
		return q, errors.New("status is up, down or unknown")
	case !slices.Contains(orders, q.Order):
		return q, errors.New("sort is " + strings.Join(orders, ", "))
	case q.limit < 1 || q.limit > mostLimit:
		return q, errors.New("limit is 1 to " + strconv.Itoa(mostLimit))
	}
	return q, nil
}

// find returns the part of the servers that q asks for, and how many there are in all.
func (s *snapshot) find(q *query) (part []*server, total int) {
	candidates := s.orders[q.Order]
	if g := s.byGame[q.Game]; q.Game != "" && q.Order == orders[0] {
		if candidates = nil; g != nil {
			candidates = g.members
		}
	}
	everything := len(q.words) == 0 && q.Status == "" && (q.Game == "" || q.Order == orders[0])
	if everything {
		total = len(candidates)
		first := min(q.offset, total)
		for _, i := range candidates[first:min(first+q.limit, total)] {
			part = append(part, &s.servers[i])
		}
		return part, total
	}
	for _, i := range candidates {
		if e := &s.servers[i]; e.matches(q) {
			if total++; total > q.offset && len(part) < q.limit {
				part = append(part, e)
			}
		}
	}
	return part, total
}

func (e *server) matches(q *query) bool {
	if q.Status != "" && e.status != q.Status || q.Game != "" && e.gameID != q.Game {
		return false
	}
	for _, w := range q.words {
		if !strings.Contains(e.search, w) {
			return false
		}
	}
	return true
}
