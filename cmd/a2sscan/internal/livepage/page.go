package livepage

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

//go:embed page.html page.css page.js
var files embed.FS

var (
	style, script = withShared()
	layout        = template.Must(template.New("").Funcs(template.FuncMap{
		"ago": ago, "clock": clock, "mark": func(name string) template.HTML { return template.HTML("<!--" + name + "-->") },
		"number": func(n int) string { return console.Grouped(uint64(n)) }, "people": people,
	}).ParseFS(files, "page.html"))
	styleElement, scriptElement = []byte("<style>" + style + "</style>"), []byte("<script>" + script + "</script>")
)

// withShared returns the style and the script of the pages. They begin with those of a report.
func withShared() (style, script string) {
	style, script = report.Shared()
	for name, to := range map[string]*string{"page.css": &style, "page.js": &script} {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		*to += string(text)
	}
	return style, script
}

// frame is what all pages have.
type frame struct {
	Title, Program string
	Now            time.Time
	Every          string
	Trust          []trust
}

// trust says how far to trust a page.
type trust struct{ Class, Text string }

func (p *Page) frame(s *snapshot, title string) frame {
	f := frame{Title: title, Program: "a2sscan " + p.Build.Version, Now: s.at, Every: console.RoughDuration(time.Duration(s.status.Every * float64(time.Second)))}
	switch st := &s.status; {
	case st.Blind:
		f.Trust = append(f.Trust, trust{"bad", "Most servers are silent at once: this watch may have lost its network"})
	case st.Took > 1.1*st.Every:
		f.Trust = append(f.Trust, trust{"warn", "A cycle takes " + console.RoughDuration(time.Duration(st.Took*float64(time.Second)))})
	default:
		f.Trust = append(f.Trust, trust{"good", "Watching"})
	}
	return f
}

// ago says how long ago a moment was; "" if it never was.
func ago(now time.Time, at *time.Time) string {
	if at == nil {
		return ""
	}
	return console.RoughDuration(max(0, now.Sub(*at)))
}

// people says how many people are on a server, and how many it has places for.
func people(s jsonServer) string {
	switch {
	case s.People == nil:
		return "–"
	case s.Places == nil || *s.Places == 0:
		return console.Grouped(uint64(*s.People))
	}
	return console.Grouped(uint64(*s.People)) + " of " + console.Grouped(uint64(*s.Places))
}

func clock(t time.Time) string { return t.UTC().Format("2 Jan 15:04:05") }

// percent formats a share, with more digits near the whole.
func percent(share float64) string {
	switch v := 100 * share; {
	case v >= 99.995:
		return "100%"
	case v > 99:
		return fmt.Sprintf("%.2f%%", v)
	default:
		return fmt.Sprintf("%.1f%%", v)
	}
}

// timeline is a chart, in the form that the shared script reads.
type timeline struct {
	Label  string  `json:"-"` // for screen readers
	Unit   string  `json:"unit"`
	Clock  bool    `json:"clock"` // show times, not only dates
	Times  []int64 `json:"nights"`
	Series []line  `json:"series"`
}

// line is a line of a timeline.
type line struct {
	Name   string     `json:"name"`
	Color  string     `json:"color"`
	Values []*float64 `json:"values"`
}

// indexPage is the data of the page /.
type indexPage struct {
	frame
	Stats  *jsonStats
	Full   string // share of the places that are taken
	Charts []chartCard
	Events []eventRow // the latest first
	Last   int64      // ID of the last event

	Query         *query
	Orders        []string // that Query may have; likewise Statuses
	Statuses      []watchdb.Status
	Rows          []jsonServer
	Total         int
	From, To      int    // numbers of the first and the last row
	Back, Forward string // URLs of the pages before and after; "": none
}

// chartCard is a chart with its heading, and its numbers as a table.
type chartCard struct {
	Heading string
	Chart   timeline
	Empty   string // instead of a chart
	Table   []tableRow
}

type tableRow struct{ Time, Value string }

// eventRow is an event in words.
type eventRow struct {
	ID                               int64
	Time                             time.Time
	Kind, Class, Addr, Name, Details string
	line                             []byte
}

// newEventRows returns events in words, in the same order.
func newEventRows(events []watchdb.Event) (rows []eventRow) {
	for i := range events {
		var e watch.Event
		if json.Unmarshal(events[i].Line, &e) != nil {
			continue
		}
		class := map[watch.Kind]string{watch.Up: "good", watch.Seeing: "good", watch.Down: "bad", watch.Blind: "bad"}[e.Kind]
		rows = append(rows, eventRow{
			ID: e.ID, Time: e.Time, Kind: string(e.Kind), Class: class, Addr: e.Addr, Name: report.Shown(e.Name, longName),
			Details: strings.TrimSpace(e.Details()), line: events[i].Line,
		})
	}
	return rows
}

// charts returns people and servers over the last day and the last month.
func (p *Page) charts(now time.Time) (cards []chartCard) {
	for _, span := range []struct {
		name   string
		series *series
		clock  bool
	}{{"last 24 hours", p.history.day(now), true}, {"last 30 days", p.history.month(), false}} {
		for _, of := range []struct {
			heading, name, color string
			values               []*float64
		}{{"People", "people", "--s0", span.series.People}, {"Servers up", "servers", "--s2", span.series.Up}} {
			card := chartCard{Heading: of.heading + ", " + span.name, Chart: timeline{
				Label: of.heading + " in the " + span.name + ", over time", Clock: true, Times: span.series.Times,
				Series: []line{{of.heading, of.color, of.values}},
			}}
			every := max(1, len(of.values)/30)
			for i := 0; i < len(of.values); i += every {
				if v := of.values[i]; v != nil {
					card.Table = append(card.Table, tableRow{time.Unix(span.series.Times[i], 0).UTC().Format("2 Jan 15:04"), console.Grouped(uint64(*v + 0.5))})
				}
			}
			cards = append(cards, card)
		}
	}
	return cards
}

func (p *Page) index(w http.ResponseWriter, r *http.Request, s *snapshot) {
	values := r.URL.Query()
	values.Del("limit")
	q, err := parseQuery(values)
	if err != nil {
		p.fail(w, s, http.StatusBadRequest, "This page does not exist: "+err.Error()+".")
		return
	}
	q.limit = mostLimit
	page := indexPage{frame: p.frame(s, p.Title), Stats: s.stats(), Charts: p.charts(s.at), Query: &q, Orders: orders, Statuses: statuses}
	if s.places > 0 {
		page.Full = percent(float64(s.status.People) / float64(s.places))
	}
	events, last, err := p.events(-1, latestEvents)
	if err != nil {
		p.fail(w, s, http.StatusInternalServerError, "The database can't be read.")
		return
	}
	page.Events, page.Last = newEventRows(events), last
	slices.Reverse(page.Events)
	found, total := s.find(&q)
	for _, e := range found {
		page.Rows = append(page.Rows, e.json())
	}
	page.Total = total
	page.From, page.To = min(q.offset+1, page.Total), min(q.offset+len(page.Rows), page.Total)
	at := func(offset int) string {
		values.Set("offset", strconv.Itoa(offset))
		return (&url.URL{Path: "/", RawQuery: values.Encode(), Fragment: "servers"}).String()
	}
	if q.offset > 0 {
		page.Back = at(max(0, q.offset-q.limit))
	}
	if q.offset+len(page.Rows) < page.Total && len(page.Rows) > 0 {
		page.Forward = at(q.offset + len(page.Rows))
	}
	p.render(w, http.StatusOK, "index", &page)
}

// serverView is the data of the page of a server.
type serverView struct {
	frame
	Server jsonServer
	First  *time.Time
	Uptime string // ""; it was never asked
	Bars   []bar
	Charts []chartCard
	Events []eventRow
	Answer string
}

// bar is a day in the picture of the uptime.
type bar struct{ X, Class, Tip, Date, Share string }

func (p *Page) serverPage(w http.ResponseWriter, r *http.Request, s *snapshot) {
	d, err := p.details(s, r.PathValue("addr"))
	switch {
	case err != nil:
		p.fail(w, s, http.StatusInternalServerError, "The database can't be read.")
		return
	case d == nil:
		p.fail(w, s, http.StatusNotFound, "No server with this address is watched.")
		return
	}
	view := &serverView{frame: p.frame(s, cmp.Or(d.Name, d.Addr)), Server: d.jsonServer, First: d.First, Events: newEventRows(d.events), Charts: peopleCharts(d.periods, s.at)}
	if d.Uptime != nil {
		view.Uptime = percent(*d.Uptime)
	}
	for i := range d.Days {
		view.Bars = append(view.Bars, newBar(&d.Days[i], i, len(d.Days)))
	}
	var pretty bytes.Buffer
	if len(d.Answer) > 0 && json.Indent(&pretty, d.Answer, "", "  ") == nil {
		for text := range strings.Lines(pretty.String()) {
			text = strings.TrimSuffix(text, "\n")
			view.Answer += console.Plain(text, 1000) + "\n"
		}
	}
	p.render(w, http.StatusOK, "server", view)
}

func newBar(d *uptimeDay, i, n int) bar {
	b := bar{X: fmt.Sprintf("%.3f%%", 100*float64(i)/float64(n)), Date: d.Date, Class: "none", Share: "unseen"}
	if share, asked := d.share(); asked {
		b.Share = percent(share)
		switch {
		case share >= 0.999:
			b.Class = "full"
		case share >= 0.95:
			b.Class = "most"
		default:
			b.Class = "less"
		}
	}
	b.Tip = d.Date + ": " + b.Share
	if d.Down > 0 {
		b.Tip += ", down for " + console.RoughDuration(time.Duration(d.Down)*time.Minute)
	}
	return b
}

// peopleCharts shows the people on a server: by the hour as long as these are kept, and by
// the day.
func peopleCharts(periods []watchdb.Period, now time.Time) []chartCard {
	week := chartCard{Heading: "People, last 7 days", Chart: timeline{Label: "People on the server in the last 7 days, by the hour", Clock: true}}
	all := chartCard{Heading: "People, last 90 days", Chart: timeline{Label: "People on the server in the last 90 days, by the day"}}
	days := map[int64][]*watchdb.People{}
	var order []int64
	add := func(c *chartCard, at int64, mean float64, most int64) {
		if c.Chart.Series == nil {
			c.Chart.Series = []line{{Name: "Mean", Color: "--s0"}, {Name: "Most", Color: "--rest"}}
		}
		c.Chart.Times = append(c.Chart.Times, at)
		peak := float64(most)
		for i, v := range []*float64{tenths(mean), &peak} {
			c.Chart.Series[i].Values = append(c.Chart.Series[i].Values, v)
		}
		c.Table = append(c.Table, tableRow{time.Unix(at, 0).UTC().Format("2 Jan 15:04"), fmt.Sprintf("%.1f, at most %d", mean, most)})
	}
	for i := range periods {
		n := &periods[i]
		if n.People == nil {
			continue
		}
		if n.Length == time.Hour && now.Sub(n.Start) < 7*24*time.Hour {
			add(&week, n.Start.Unix(), n.People.Mean, n.People.Max)
		}
		day := n.Start.Truncate(24 * time.Hour).Unix()
		if days[day] == nil {
			order = append(order, day)
		}
		days[day] = append(days[day], n.People)
	}
	for _, day := range order {
		mean, most := 0.0, int64(0)
		for _, n := range days[day] {
			mean, most = mean+n.Mean/float64(len(days[day])), max(most, n.Max)
		}
		add(&all, day, mean, most)
	}
	return []chartCard{week, all}
}

// fail answers with a page that says why.
func (p *Page) fail(w http.ResponseWriter, s *snapshot, code int, why string) {
	p.render(w, code, "failure", &struct {
		frame
		Why string
	}{p.frame(s, p.Title), why})
}

// render answers with a page. All clients share the style and the script in it.
func (p *Page) render(w http.ResponseWriter, code int, name string, data any) {
	var b bytes.Buffer
	if err := layout.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "a2sscan: "+err.Error(), http.StatusInternalServerError)
		return
	}
	head, rest, _ := bytes.Cut(b.Bytes(), []byte("<!--style-->"))
	body, end, _ := bytes.Cut(rest, []byte("<!--script-->"))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	send(w, "text/html; charset=utf-8", head, styleElement, body, scriptElement, end)
}
