package page

import (
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
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

// checkParameters returns a refusal if a query has a parameter that is not known, or has a
// parameter twice.
func checkParameters(query url.Values, known []string) error {
	wanted := "this path has no parameters"
	if len(known) > 0 {
		wanted = "use " + strings.Join(known, ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(known, name) {
			return refusal{http.StatusBadRequest, "the parameter " + console.Quoted(name, longWord) + " is unknown: " + wanted}
		}
		if len(query[name]) > 1 {
			return refusal{http.StatusBadRequest, "the parameter " + name + " occurs twice: name it once"}
		}
	}
	return nil
}

func (p *Page) answer(w http.ResponseWriter, _ *snapshot, code int, value any, err error) {
	if err != nil {
		value = map[string]string{"error": err.Error()}
	}
	text, err := json.Marshal(value)
	if err != nil {
		code = http.StatusInternalServerError
	}
	send(w, code, "application/json", text, []byte("\n"))
}

// found is the answer to /api/servers.
type found struct {
	Time    time.Time `json:"time"`
	Total   int       `json:"total"` // number of servers that match
	Offset  int       `json:"offset"`
	Servers []*server `json:"servers"`
	Next    string    `json:"next,omitempty"` // URL of the next page
	back    string    // URL of the previous page
}

// details is the answer to /api/servers/ADDR.
type details struct {
	*server
	Uptime  *float64        `json:"uptime"` // as in db.Period.Share, or nil if there is none
	History []db.Period     `json:"history"`
	Events  []event         `json:"events"` // latest first
	Answer  json.RawMessage `json:"answer,omitempty"`
}

const latestEvents = 50

func (p *Page) details(r *http.Request, s *snapshot) (d *details, err error) {
	d = &details{}
	if d.server, err = s.find(r.PathValue("addr")); err != nil {
		return nil, err
	}
	if d.History, err = p.DB.History(d.id, s.Time.Add(-uptimeFor), s.Time); err != nil {
		return nil, err
	}
	var sum db.Period
	for _, one := range d.History {
		sum.Add(&one)
	}
	if share, asked := sum.Share(); asked {
		d.Uptime = &share
	}
	stored, err := p.DB.EventsOf(netip.MustParseAddrPort(d.Addr), latestEvents)
	if err != nil {
		return nil, err
	}
	d.Events = newEvents(stored)
	d.Answer, err = p.DB.Answer(d.id)
	return d, err
}

// event is an event of the watch, with two texts that are safe to show.
type event struct {
	db.Event
	Shown string `json:"shown"` // name of the server
	Text  string `json:"text"`  // description of what happened
}

func newEvents(stored []db.Event) []event {
	events := []event{}
	for i := range stored {
		events = append(events, event{stored[i], report.Shown(watch.Visible(stored[i].Label, stored[i].Name), longName), watch.Details(&stored[i])})
	}
	return events
}

// news is the answer to /api/events.
type news struct {
	Events []event `json:"events"`
	// Last and Epoch are the values for the parameters "since" and "epoch" of the next
	// request.
	Last  int64  `json:"last"`
	Epoch string `json:"epoch"`
	// Reset means that the database does not have all events that follow the parameter
	// "since". Events then begins with the first stored event.
	Reset bool `json:"reset,omitempty"`
}

// news returns the events that follow an event. Its first argument is the ID of this
// event, or "" for the latest events. epoch is the epoch of the database that the ID comes
// from. If epoch is empty, news accepts any epoch.
func (p *Page) news(since, epoch string) (n news, err error) {
	limit := mostLimit
	last, now, err := p.DB.Last()
	if err != nil {
		return n, err
	}
	if n.Epoch = now; since == "" {
		limit, n.Last = latestEvents, max(0, last-latestEvents)
	} else if n.Last, err = strconv.ParseInt(since, 10, 64); err != nil || n.Last < 0 {
		return n, refusal{http.StatusBadRequest, `the parameter "since" must be the ID of an event`}
	} else if n.Last > last || epoch != "" && epoch != now {
		n.Last, n.Reset = 0, true
	}
	stored, err := p.DB.Since(n.Last, limit)
	n.Events = newEvents(stored)
	if len(stored) > 0 {
		n.Reset = n.Reset || since != "" && n.Last > 0 && stored[0].ID > n.Last+1 // events in between were deleted
		n.Last = stored[len(stored)-1].ID
	}
	return n, err
}

// The pages show the totals of the past month, and the uptime of the past 90 days.
const month, uptimeFor = 30 * 24 * time.Hour, 90 * 24 * time.Hour

// series holds the lines of a chart. A nil value is a gap in a line.
type series struct {
	From   int64      `json:"from"` // Unix seconds, like To and Times
	To     int64      `json:"to"`
	Times  []int64    `json:"times"`
	Up     []*float64 `json:"up"`     // number of servers that were up
	People []*float64 `json:"people"` // number of people on these servers
}

// newSeries returns two lines with a point for each step: the number of servers that were
// up, and the number of people on them. The lines end now. They begin a span earlier, or
// at the first point if that is later. Between two points that are further apart than gap,
// the watch did not run, and the lines are interrupted.
func newSeries(state *db.DB, now time.Time, span, step, gap time.Duration) (*series, error) {
	s := &series{From: now.Add(-span).Unix(), To: now.Unix(), Times: []int64{}, Up: []*float64{}, People: []*float64{}}
	add := func(at int64, up, people *float64) {
		s.Times, s.Up, s.People = append(s.Times, at), append(s.Up, up), append(s.People, people)
	}
	totals, err := state.Totals(now.Add(-span), step)
	for _, total := range totals {
		if last := len(s.Times) - 1; last >= 0 && total.At-s.Times[last] > int64(gap/time.Second) {
			add(s.Times[last]+int64(step/time.Second), nil, nil)
		}
		add(total.At, tenths(total.Up), tenths(total.People))
	}
	if len(s.Times) > 0 {
		s.From = max(s.From, min(s.Times[0], s.To-60))
	}
	return s, err
}

type past struct {
	Day   *series `json:"day"`
	Month *series `json:"month"`
}

func newPast(state *db.DB, now time.Time) (*past, error) {
	day, err := newSeries(state, now, 24*time.Hour, 5*time.Minute, 15*time.Minute)
	long, err2 := newSeries(state, now, month, 3*time.Hour, 6*time.Hour)
	return &past{day, long}, errors.Join(err, err2)
}

func tenths(v float64) *float64 {
	v = float64(int64(v*10+0.5)) / 10
	return &v
}
