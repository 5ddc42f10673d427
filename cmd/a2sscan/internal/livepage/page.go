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
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

//go:embed page.html page.css page.js
var files embed.FS

var (
	style, script = withShared()
	layout        = template.Must(template.New("").Funcs(template.FuncMap{
		"ago":    ago,
		"clock":  func(t time.Time) string { return t.UTC().Format("2 Jan 15:04:05") },
		"number": func(n int) string { return console.Grouped(uint64(n)) },
	}).ParseFS(files, "page.html"))
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

// view is the data of the pages.
type view struct {
	Title, Program string
	Style          template.CSS
	Script         template.JS
	*numbers
	Every  string // an interval
	Late   string // how long a cycle takes, if that is longer
	Charts []timeline
	News   news

	// Of the page of all servers:
	Full          string // share of the places that are taken
	Query         query
	Orders        []string // that Query may have; likewise Statuses
	Statuses      []watchdb.Status
	Found         found
	From, To      int
	Back, Forward string // URLs of the pages before and after; "": none

	// Of the page of a server:
	Server *details
	Uptime string // "": it was never asked
	Bars   []bar
	Answer string

	Why string // of the page of an error
}

// page answers with the page that name describes.
func (p *Page) page(w http.ResponseWriter, code int, name string, s *snapshot, v *view) {
	v.Title, v.Program = cmp.Or(v.Title, p.Title), "a2sscan "+p.Build.Version
	v.Style, v.Script, v.numbers = template.CSS(style), template.JS(script), s.listed()
	v.Every = console.RoughDuration(time.Duration(s.Interval * float64(time.Second)))
	if s.Cycle > 1.1*s.Interval {
		v.Late = console.RoughDuration(time.Duration(s.Cycle * float64(time.Second)))
	}
	var b bytes.Buffer
	if err := layout.ExecuteTemplate(&b, name, v); err != nil {
		http.Error(w, "a2sscan: "+err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, code, "text/html; charset=utf-8", b.Bytes())
}

// fail answers with a page that says why.
func (p *Page) fail(w http.ResponseWriter, s *snapshot, code int, why string) {
	p.page(w, code, "failure", s, &view{Why: why})
}

// ago says how long ago a moment was; "" if it never was.
func ago(now, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return console.RoughDuration(max(0, now.Sub(at)))
}

// On says how many people are on a server, and how many it has places for.
func (e *server) On() string {
	switch {
	case e.People < 0:
		return "–"
	case e.Places <= 0:
		return console.Grouped(uint64(e.People))
	}
	return console.Grouped(uint64(e.People)) + " of " + console.Grouped(uint64(e.Places))
}

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
	Heading string  `json:"-"`
	Unit    string  `json:"unit"`
	Clock   bool    `json:"clock"` // show times, not only dates
	Times   []int64 `json:"nights"`
	Series  []line  `json:"series"`
}

// line is a line of a timeline.
type line struct {
	Name   string     `json:"name"`
	Color  string     `json:"color"`
	Values []*float64 `json:"values"`
}

// Rows returns about thirty points as rows of a table: the time and the values.
func (t *timeline) Rows() (rows [][]string) {
	for i := len(t.Times) - 1; i >= 0; i -= max(1, len(t.Times)/30) {
		row := []string{time.Unix(t.Times[i], 0).UTC().Format("2 Jan 15:04")}
		for _, l := range t.Series {
			if v := l.Values[i]; v != nil {
				row = append(row, strconv.FormatFloat(*v, 'f', -1, 64))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (p *Page) index(w http.ResponseWriter, r *http.Request, s *snapshot) {
	f, q, err := s.search(r.URL, mostLimit)
	if err != nil {
		p.fail(w, s, http.StatusBadRequest, "This page does not exist: "+err.Error()+".")
		return
	}
	v := &view{Query: q, Orders: orders, Statuses: statuses, Found: f, From: min(q.offset+1, f.Total), To: q.offset + len(f.Servers), Forward: f.Next}
	if q.offset > 0 {
		values := r.URL.Query()
		values.Set("offset", strconv.Itoa(max(0, q.offset-q.limit)))
		v.Back = (&url.URL{Path: "/", RawQuery: values.Encode()}).String()
	}
	if s.Places > 0 {
		v.Full = percent(float64(s.People) / float64(s.Places))
	}
	day, month := p.history.day(s.Time), p.history.month(s.Time)
	v.Charts = []timeline{
		{"People, last 24 hours", "", true, day.Times, []line{{"People", "--s0", day.People}}},
		{"Servers up, last 24 hours", "", true, day.Times, []line{{"Servers up", "--s2", day.Up}}},
		{"People, last 30 days", "", true, month.Times, []line{{"People", "--s0", month.People}}},
		{"Servers up, last 30 days", "", true, month.Times, []line{{"Servers up", "--s2", month.Up}}},
	}
	if v.News, err = p.news(-1); err != nil {
		p.fail(w, s, http.StatusInternalServerError, "The database can't be read.")
		return
	}
	slices.Reverse(v.News.Events)
	p.page(w, http.StatusOK, "index", s, v)
}

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
	v := &view{Title: cmp.Or(d.Name, d.Addr), Server: d, News: news{Events: d.Events}, Charts: peopleCharts(d.History, s.Time), Bars: bars(d.History, s.Time)}
	if d.Uptime != nil {
		v.Uptime = percent(*d.Uptime)
	}
	var pretty bytes.Buffer
	if len(d.Answer) > 0 && json.Indent(&pretty, d.Answer, "", "  ") == nil {
		for text := range strings.Lines(pretty.String()) {
			v.Answer += console.Plain(strings.TrimSuffix(text, "\n"), 1000) + "\n"
		}
	}
	p.page(w, http.StatusOK, "server", s, v)
}

// bar is a day in the picture of the uptime.
type bar struct{ X, Class, Date, Share string }

// bars returns the last 90 days, the last of which is today.
func bars(history []period, now time.Time) (bars []bar) {
	const days = int(uptimeFor / (24 * time.Hour))
	first := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	sums := make([]watchdb.Uptime, days)
	for _, one := range history {
		if n := int(one.Time.Sub(first) / (24 * time.Hour)); !one.Time.Before(first) && n < days {
			sums[n].Up, sums[n].Down = sums[n].Up+one.Up, sums[n].Down+one.Down
		}
	}
	for i := range sums {
		b := bar{fmt.Sprintf("%.3f%%", 100*float64(i)/float64(days)), "none", first.AddDate(0, 0, i).Format(time.DateOnly), "unseen"}
		if share, asked := sums[i].Share(); asked {
			b.Share, b.Class = percent(share), "less"
			if share >= 0.999 {
				b.Class = "full"
			} else if share >= 0.95 {
				b.Class = "most"
			}
		}
		if down := sums[i].Down; down > 0 {
			b.Share += ", down for " + console.RoughDuration(time.Duration(down)*time.Minute)
		}
		bars = append(bars, b)
	}
	return bars
}

// peopleCharts shows the people on a server: by the hour as long as these are kept, and by
// the day.
func peopleCharts(history []period, now time.Time) []timeline {
	week, all := timeline{Heading: "People, last 7 days", Clock: true}, timeline{Heading: "People, last 90 days"}
	for _, t := range []*timeline{&week, &all} {
		t.Series = []line{{Name: "Mean", Color: "--s0"}, {Name: "Most", Color: "--rest"}}
	}
	add := func(t *timeline, at time.Time, mean, most float64) {
		t.Times = append(t.Times, at.Unix())
		t.Series[0].Values, t.Series[1].Values = append(t.Series[0].Values, tenths(mean)), append(t.Series[1].Values, &most)
	}
	for i := 0; i < len(history); {
		day, mean, most, n := history[i].Time.Truncate(24*time.Hour), 0.0, 0.0, 0.0
		for ; i < len(history) && history[i].Time.Truncate(24*time.Hour).Equal(day); i++ {
			one := &history[i]
			if one.People == nil {
				continue
			}
			if one.Hours == 1 && now.Sub(one.Time) < 7*24*time.Hour {
				add(&week, one.Time, one.People.Mean, float64(one.People.Most))
			}
			mean, most, n = mean+one.People.Mean, max(most, float64(one.People.Most)), n+1
		}
		if n > 0 {
			add(&all, day, mean/n, most)
		}
	}
	return []timeline{week, all}
}
