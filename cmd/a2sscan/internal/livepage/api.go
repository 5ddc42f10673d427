package livepage

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

// schema describes the answers of the API.
//
//go:embed api.schema.json
var schema string

// sendJSON answers with a value.
func sendJSON(w http.ResponseWriter, code int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, code, "application/json", append(text, '\n'))
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, code int, why string) {
	sendJSON(w, code, map[string]string{"error": why})
}

// found is the answer to /api/servers.
type found struct {
	Time    time.Time `json:"time"`
	Total   int       `json:"total"` // that match
	Offset  int       `json:"offset"`
	Servers []*server `json:"servers"`
	Next    string    `json:"next,omitempty"` // the URL of the next page
}

// search returns the servers that a request asks for, limit if it names none.
func (s *snapshot) search(at *url.URL, limit int) (f found, q query, err error) {
	values := at.Query()
	if q, err = parseQuery(values); err != nil {
		return f, q, err
	}
	if !values.Has("limit") {
		q.limit = limit
	}
	f.Time, f.Offset = s.Time.Truncate(time.Second), q.offset
	f.Servers, f.Total = s.find(&q)
	if end := q.offset + len(f.Servers); end < f.Total && len(f.Servers) > 0 {
		values.Set("offset", strconv.Itoa(end))
		f.Next = (&url.URL{Path: at.Path, RawQuery: values.Encode()}).String()
	}
	return f, q, nil
}

func (p *Page) apiServers(w http.ResponseWriter, r *http.Request, s *snapshot) {
	if f, _, err := s.search(r.URL, usualLimit); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
	} else {
		sendJSON(w, http.StatusOK, &f)
	}
}

// details is the answer to /api/servers/ADDR.
type details struct {
	*server
	Uptime  *float64        `json:"uptime"` // the share of the time asked in which it was up; null: it was never asked
	History []period        `json:"history"`
	Events  []event         `json:"events"` // the latest first
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// period is how a server fared in an hour or a day.
type period struct {
	Time   time.Time `json:"time"`
	Hours  int       `json:"hours"`
	Up     int64     `json:"up"` // minutes
	Down   int64     `json:"down"`
	Unseen int64     `json:"unseen"`
	People *people   `json:"people,omitempty"` // absent: it never said
}

// people is how many people were on a server.
type people struct {
	Fewest int64   `json:"fewest"`
	Mean   float64 `json:"mean"`
	Most   int64   `json:"most"`
}

// eventsOfServer is how many events of a server are shown.
const eventsOfServer = 50

// details returns what is known of a server, or nil if nobody watches it.
func (p *Page) details(s *snapshot, addr string) (*details, error) {
	at, err := netip.ParseAddrPort(addr)
	i := slices.IndexFunc(s.servers, func(e server) bool { return e.addr == at })
	if err != nil || i < 0 {
		return nil, nil
	}
	d := &details{server: &s.servers[i], History: []period{}}
	periods, err := p.DB.History(d.id, s.Time.Add(-uptimeFor), s.Time)
	if err != nil {
		return nil, err
	}
	var sum watchdb.Uptime
	for _, one := range periods {
		sum.Up, sum.Down = sum.Up+one.Up, sum.Down+one.Down
		j := period{Time: one.Start, Hours: int(one.Length.Hours()), Up: one.Up, Down: one.Down, Unseen: one.Unseen}
		if n := one.People; n != nil {
			j.People = &people{n.Min, *tenths(n.Mean), n.Max}
		}
		d.History = append(d.History, j)
	}
	if share, asked := sum.Share(); asked {
		share = float64(int(share*1e6+0.5)) / 1e6
		d.Uptime = &share
	}
	lines, err := p.DB.EventsOf(d.addr, eventsOfServer)
	if err != nil {
		return nil, err
	}
	d.Events = newEvents(lines)
	d.Answer, err = p.DB.Answer(d.id)
	return d, err
}

func (p *Page) apiServer(w http.ResponseWriter, r *http.Request, s *snapshot) {
	switch d, err := p.details(s, r.PathValue("addr")); {
	case err != nil:
		refuse(w, http.StatusInternalServerError, "the database can't be read")
	case d == nil:
		refuse(w, http.StatusNotFound, "no server with this address is watched")
	default:
		sendJSON(w, http.StatusOK, d)
	}
}

// event is an event as the watch printed it. Its new keys are safe to show.
type event struct {
	watch.Event
	Shown string `json:"shown"` // the name of the server
	Text  string `json:"text"`  // what happened, in words
}

func newEvents(lines []watchdb.Event) []event {
	events := []event{}
	for i := range lines {
		var e event
		if json.Unmarshal(lines[i].Line, &e.Event) == nil {
			e.Shown, e.Text = report.Shown(e.Name, longName), strings.TrimSpace(e.Details())
			events = append(events, e)
		}
	}
	return events
}

// news is the answer to /api/events.
type news struct {
	Events []event `json:"events"`
	Last   int64   `json:"last"` // the since of the next request
}

// latestEvents is how many events an answer has if the request names no since.
const latestEvents = 30

// news returns the events after an ID; after -1 the latest.
func (p *Page) news(since int64) (n news, err error) {
	limit := mostLimit
	if since < 0 {
		limit = latestEvents
		if since, err = p.DB.LastID(); err != nil {
			return n, err
		}
		since = max(0, since-latestEvents)
	}
	lines, err := p.DB.Since(since, limit)
	n = news{newEvents(lines), since}
	if len(lines) > 0 {
		n.Last = lines[len(lines)-1].ID
	}
	return n, err
}

func (p *Page) apiEvents(w http.ResponseWriter, r *http.Request, _ *snapshot) {
	since := int64(-1)
	if s := r.URL.Query().Get("since"); s != "" {
		var err error
		if since, err = strconv.ParseInt(s, 10, 64); err != nil || since < 0 {
			refuse(w, http.StatusBadRequest, "since is no ID of an event")
			return
		}
	}
	if n, err := p.news(since); err != nil {
		refuse(w, http.StatusInternalServerError, "the database can't be read")
	} else {
		sendJSON(w, http.StatusOK, &n)
	}
}

// mostGames is how many games are listed.
const mostGames = 200

// listed returns the numbers without the games that are too many.
func (s *snapshot) listed() *numbers {
	n := s.numbers
	n.Time, n.Games = n.Time.Truncate(time.Second), n.Games[:min(len(n.Games), mostGames)]
	return &n
}

func (p *Page) apiStats(w http.ResponseWriter, _ *http.Request, s *snapshot) {
	sendJSON(w, http.StatusOK, s.listed())
}

func (p *Page) apiHistory(w http.ResponseWriter, _ *http.Request, s *snapshot) {
	sendJSON(w, http.StatusOK, map[string]*series{"day": p.history.day(s.Time), "month": p.history.month(s.Time)})
}
