package livepage

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

// schema describes the answers of the API.
//
//go:embed api.schema.json
var schema string

// jsonServer is a server in an answer.
type jsonServer struct {
	Addr     string         `json:"addr"`
	Status   watchdb.Status `json:"status"`
	Since    *time.Time     `json:"since,omitempty"` // since when it has its status
	Name     string         `json:"name,omitempty"`
	Game     string         `json:"game,omitempty"`
	GameName string         `json:"game_name,omitempty"`
	Map      string         `json:"map,omitempty"`
	Version  string         `json:"version,omitempty"`
	People   *int32         `json:"people,omitempty"`
	Places   *int32         `json:"places,omitempty"`
}

func (e *server) json() jsonServer {
	j := jsonServer{
		Addr: e.addr, Status: e.status, Name: e.name, Game: e.gameID, GameName: e.game, Map: e.gameMap, Version: e.version,
		Since: unixTime(e.since),
	}
	if e.people >= 0 {
		j.People = &e.people
	}
	if e.places >= 0 {
		j.Places = &e.places
	}
	return j
}

func unixTime(seconds int64) *time.Time {
	if seconds < 0 {
		return nil
	}
	t := time.Unix(seconds, 0).UTC()
	return &t
}

// jsonServers is the answer to /api/servers.
type jsonServers struct {
	Time    time.Time    `json:"time"`
	Total   int          `json:"total"` // that match
	Offset  int          `json:"offset"`
	Servers []jsonServer `json:"servers"`
	Next    string       `json:"next,omitempty"` // the URL of the next page
}

// sendJSON answers with a value.
func sendJSON(w http.ResponseWriter, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, "application/json", text, []byte("\n"))
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, code int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	sendJSON(w, map[string]string{"error": why})
}

func (p *Page) apiServers(w http.ResponseWriter, r *http.Request, s *snapshot) {
	values := r.URL.Query()
	q, err := parseQuery(values)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	found, total := s.find(&q)
	answer := jsonServers{Time: s.at.UTC().Truncate(time.Second), Total: total, Offset: q.offset, Servers: make([]jsonServer, len(found))}
	for i, e := range found {
		answer.Servers[i] = e.json()
	}
	if q.offset+len(found) < total && len(found) > 0 {
		values.Set("offset", strconv.Itoa(q.offset+len(found)))
		answer.Next = (&url.URL{Path: r.URL.Path, RawQuery: values.Encode()}).String()
	}
	sendJSON(w, &answer)
}

// jsonDetails is the answer to /api/servers/ADDR.
type jsonDetails struct {
	jsonServer
	First  *time.Time        `json:"first,omitempty"` // its first answer
	Uptime *float64          `json:"uptime"`          // the share of the time asked in which it was up; null: it was never asked
	Days   []uptimeDay       `json:"days"`            // the last one is today
	People []jsonPeople      `json:"people_history"`
	Events []json.RawMessage `json:"events"` // the latest first
	Answer json.RawMessage   `json:"answer,omitempty"`

	periods []watchdb.Period
	total   uptimeDay
	events  []watchdb.Event
}

// jsonPeople is how many people were on a server in an hour or a day.
type jsonPeople struct {
	Time   time.Time `json:"time"`
	Hours  int       `json:"hours"`
	Fewest int64     `json:"fewest"`
	Mean   float64   `json:"mean"`
	Most   int64     `json:"most"`
}

// eventsOfServer is how many events of a server are shown.
const eventsOfServer = 50

// details returns what is known of a server. found is false if nobody watches it.
func (p *Page) details(s *snapshot, addr string) (d *jsonDetails, err error) {
	at, err := netip.ParseAddrPort(addr)
	i := slices.IndexFunc(s.servers, func(e server) bool { return e.addrPort == at })
	if err != nil || i < 0 {
		return nil, nil
	}
	e := &s.servers[i]
	d = &jsonDetails{jsonServer: e.json(), First: unixTime(e.first), People: []jsonPeople{}}
	if d.periods, err = p.DB.History(e.id, s.at.Add(-uptimeFor), s.at); err != nil {
		return nil, err
	}
	d.Days, d.total = uptimeDays(d.periods, s.at)
	if share, asked := d.total.share(); asked {
		share = float64(int(share*1e6+0.5)) / 1e6
		d.Uptime = &share
	}
	for _, period := range d.periods {
		if n := period.People; n != nil {
			d.People = append(d.People, jsonPeople{period.Start, int(period.Length.Hours()), n.Min, *tenths(n.Mean), n.Max})
		}
	}
	if d.events, err = p.DB.EventsOf(at, eventsOfServer); err != nil {
		return nil, err
	}
	d.Events = withTexts(d.events)
	d.Answer, err = p.DB.Answer(e.id)
	return d, err
}

func (p *Page) apiServer(w http.ResponseWriter, r *http.Request, s *snapshot) {
	switch d, err := p.details(s, r.PathValue("addr")); {
	case err != nil:
		refuse(w, http.StatusInternalServerError, "the database can't be read")
	case d == nil:
		refuse(w, http.StatusNotFound, "no server with this address is watched")
	default:
		sendJSON(w, d)
	}
}

// jsonEvents is the answer to /api/events.
type jsonEvents struct {
	Events []json.RawMessage `json:"events"`
	Last   int64             `json:"last"` // the since of the next request
}

// withTexts returns events as the watch printed them, with two more keys: shown is the name
// of the server, and text the rest in words, both safe to show.
func withTexts(events []watchdb.Event) []json.RawMessage {
	lines := []json.RawMessage{}
	for _, e := range newEventRows(events) {
		added, err := json.Marshal(map[string]string{"shown": e.Name, "text": e.Details})
		if err == nil && len(e.line) > 2 {
			lines = append(lines, slices.Concat(e.line[:len(e.line)-1], []byte(","), added[1:]))
		}
	}
	return lines
}

// latestEvents is how many events an answer has if the request names no since.
const latestEvents = 30

// events returns the events after an ID; without one the latest.
func (p *Page) events(since, limit int) (events []watchdb.Event, last int64, err error) {
	if since < 0 {
		newest, err := p.DB.LastID()
		if err != nil {
			return nil, 0, err
		}
		since = max(0, int(newest)-limit)
	}
	last = int64(since)
	if events, err = p.DB.Since(last, limit); len(events) > 0 {
		last = events[len(events)-1].ID
	}
	return events, last, err
}

func (p *Page) apiEvents(w http.ResponseWriter, r *http.Request, _ *snapshot) {
	since, limit := -1, latestEvents
	if s := r.URL.Query().Get("since"); s != "" {
		var err error
		if since, err = strconv.Atoi(s); err != nil || since < 0 {
			refuse(w, http.StatusBadRequest, "since is no ID of an event")
			return
		}
		limit = mostLimit
	}
	events, last, err := p.events(since, limit)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the database can't be read")
		return
	}
	sendJSON(w, &jsonEvents{withTexts(events), last})
}

// jsonStats is the answer to /api/stats.
type jsonStats struct {
	Time     time.Time  `json:"time"`
	Servers  int        `json:"servers"`
	Up       int        `json:"up"`
	Down     int        `json:"down"`
	Unknown  int        `json:"unknown"`
	People   int        `json:"people"`
	Places   int        `json:"places"`
	Blind    bool       `json:"blind"`
	Interval float64    `json:"interval_s"`        // how often each server is asked
	Cycle    float64    `json:"cycle_s,omitempty"` // how long the latest cycle took
	Events   uint64     `json:"events"`            // since the watch began
	Games    []jsonGame `json:"games"`             // by people
}

// jsonGame is a game in the answer to /api/stats.
type jsonGame struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Servers int    `json:"servers"`
	Up      int    `json:"up"`
	People  int    `json:"people"`
	Places  int    `json:"places"`
}

// mostGames is how many games are listed.
const mostGames = 200

func (s *snapshot) stats() *jsonStats {
	st := &s.status
	j := &jsonStats{
		Time: s.at.UTC().Truncate(time.Second), Servers: len(s.servers), Up: st.Up, Down: st.Down, People: st.People, Places: s.places,
		Unknown: len(s.servers) - st.Up - st.Down, Blind: st.Blind, Interval: st.Every, Cycle: st.Took, Events: st.Events, Games: []jsonGame{},
	}
	for _, g := range s.games[:min(len(s.games), mostGames)] {
		j.Games = append(j.Games, jsonGame{g.id, g.name, g.servers, g.up, g.people, g.places})
	}
	return j
}

func (p *Page) apiStats(w http.ResponseWriter, _ *http.Request, s *snapshot) { sendJSON(w, s.stats()) }

func (p *Page) apiHistory(w http.ResponseWriter, _ *http.Request, s *snapshot) {
	sendJSON(w, map[string]*series{"day": p.history.day(s.at), "month": p.history.month()})
}
