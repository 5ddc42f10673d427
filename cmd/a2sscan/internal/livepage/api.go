package livepage

import (
	_ "embed"
	"encoding/json"
	"errors"
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

// refusal is an error for the client.
type refusal struct {
	code int
	why  string
}

func (r refusal) Error() string { return r.why }

// answer answers a request of the API with a value or an error.
func (p *Page) answer(w http.ResponseWriter, _ *snapshot, value any, err error) {
	code := http.StatusOK
	if err != nil {
		code, err = status(err)
		value = map[string]string{"error": err.Error()}
	}
	text, err := json.Marshal(value)
	if err != nil {
		code = http.StatusInternalServerError
	}
	send(w, code, "application/json", text, []byte("\n"))
}

// status returns the status of an error, and the error that the client sees.
func status(err error) (code int, said error) {
	if r, ok := errors.AsType[refusal](err); ok {
		return r.code, r
	}
	return http.StatusInternalServerError, errors.New("the database can't be read")
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
		return f, q, refusal{http.StatusBadRequest, err.Error()}
	}
	if !values.Has("limit") {
		q.limit = limit
	}
	f.Time, f.Offset = s.Time, q.offset
	f.Servers, f.Total = s.find(&q)
	if end := q.offset + len(f.Servers); end < f.Total && len(f.Servers) > 0 {
		values.Set("offset", strconv.Itoa(end))
		f.Next = (&url.URL{Path: at.Path, RawQuery: values.Encode()}).String()
	}
	return f, q, nil
}

func (p *Page) apiServers(r *http.Request, s *snapshot) (any, error) {
	f, _, err := s.search(r.URL, usualLimit)
	return &f, err
}

// details is the answer to /api/servers/ADDR.
type details struct {
	*server
	Uptime  *float64         `json:"uptime"` // the share of the time asked in which it was up; null: it was never asked
	History []watchdb.Period `json:"history"`
	Events  []event          `json:"events"` // the latest first
	Answer  json.RawMessage  `json:"answer,omitempty"`
}

// eventsOfServer is how many events of a server are shown.
const eventsOfServer = 50

// details returns what is known of a server.
func (p *Page) details(r *http.Request, s *snapshot) (*details, error) {
	at, err := netip.ParseAddrPort(r.PathValue("addr"))
	i := slices.IndexFunc(s.servers, func(e server) bool { return e.addr == at })
	if err != nil || i < 0 {
		return nil, refusal{http.StatusNotFound, "no server with this address is watched"}
	}
	d := &details{server: &s.servers[i]}
	if d.History, err = p.DB.History(d.id, s.Time.Add(-uptimeFor), s.Time); err != nil {
		return nil, err
	}
	var sum watchdb.Uptime
	for _, one := range d.History {
		sum.Up, sum.Down = sum.Up+one.Up, sum.Down+one.Down
	}
	if share, asked := sum.Share(); asked {
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

func (p *Page) apiServer(r *http.Request, s *snapshot) (any, error) { return p.details(r, s) }

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
		if json.Unmarshal(lines[i].Line, &e.Event) != nil {
			continue
		}
		e.Shown, e.Text = report.Shown(e.Name, longName), strings.TrimSpace(e.Details())
		if e.Kind == watch.Down && e.Evidence != nil {
			if began, err := time.Parse(time.RFC3339, e.Evidence.First); err == nil {
				e.Text = began.UTC().Format("silent since 15:04:05, ") + e.Time.UTC().Format("reported 15:04:05; ") + e.Text
			}
		}
		events = append(events, e)
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

func (p *Page) apiEvents(r *http.Request, _ *snapshot) (any, error) {
	since := int64(-1)
	if text := r.URL.Query().Get("since"); text != "" {
		var err error
		if since, err = strconv.ParseInt(text, 10, 64); err != nil || since < 0 {
			return nil, refusal{http.StatusBadRequest, "since is no ID of an event"}
		}
	}
	return p.news(since)
}

func (p *Page) apiStats(_ *http.Request, s *snapshot) (any, error) { return &s.numbers, nil }

func (p *Page) apiHistory(_ *http.Request, s *snapshot) (any, error) {
	return map[string]*series{"day": p.history.day(s.Time), "month": p.history.month(s.Time)}, nil
}
