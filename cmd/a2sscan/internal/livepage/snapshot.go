package livepage

import (
	"cmp"
	"errors"
	"iter"
	"math"
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

	texts []*texts // by ID
}

// Source is what a page reads from a watch; watch.View is one.
type Source interface {
	Rows() iter.Seq[watch.Row]
	Status() *watch.Status
}

// A snapshot serves for a second, or longer if it takes long to make: it may cost a
// processor a twentieth of its time. While nobody looks, there is one a minute. Requests wait
// for one only if there is none, or if it is older than stale.
const (
	fresh = time.Second
	share = 20
	stale = 2 * time.Minute
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
	s := &snapshot{at: now, status: *v.source.Status(), byGame: map[string]*group{}, orders: map[string][]int32{}}
	changed := v.latest == nil
	if !changed {
		s.servers = make([]server, 0, len(v.latest.servers))
	}
	for row := range v.source.Rows() {
		for int(row.ID) >= len(v.texts) {
			v.texts = append(v.texts, nil)
		}
		t := v.texts[row.ID]
		if t == nil || t.from != row.Known {
			anew := newTexts(&row)
			changed = changed || t == nil || t.name != anew.name
			t = anew
			v.texts[row.ID] = t
		}
		one := server{
			texts: t, id: row.ID, addrPort: row.Addr, status: row.Status, first: row.First.Unix(), since: row.Since.Unix(),
			people: int32(row.People), places: int32(row.Places),
		}
		if row.Status != watchdb.Up {
			one.people = -1
		}
		s.servers = append(s.servers, one)
	}
	changed = changed || len(s.servers) != len(v.latest.servers)
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
	rank := map[watchdb.Status]uint64{watchdb.Down: 0, watchdb.Up: 1, watchdb.Unknown: 2}
	keys := make([]uint64, len(s.servers))
	for order, key := range map[string]func(*server) uint64{
		"people": func(e *server) uint64 { return uint64(math.MaxInt32 - e.people) },
		"status": func(e *server) uint64 { return rank[e.status]<<32 | uint64(math.MaxUint32-max(e.since, 0)) },
	} {
		const places = 28 // bits; the rest is the key
		for i := range s.servers {
			keys[i] = key(&s.servers[i])<<places | uint64(i)
		}
		slices.Sort(keys)
		s.orders[order] = make([]int32, len(keys))
		for i, k := range keys {
			s.orders[order][i] = int32(k & (1<<places - 1))
		}
	}
	if !changed {
		s.orders["name"] = last.orders["name"]
		return
	}
	names := make([]int32, len(s.servers))
	for i := range names {
		names[i] = int32(i)
	}
	slices.SortFunc(names, func(a, b int32) int { return strings.Compare(s.servers[a].search, s.servers[b].search) })
	s.orders["name"] = names
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
	matches := make([]bool, len(s.servers)) // found in the order of memory, which is faster
	for i := range s.servers {
		matches[i] = s.servers[i].matches(q)
	}
	for _, i := range candidates {
		if matches[i] {
			if total++; total > q.offset && len(part) < q.limit {
				part = append(part, &s.servers[i])
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
