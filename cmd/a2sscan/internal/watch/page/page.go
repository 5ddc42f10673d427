package page

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

var (
	//go:embed page.html
	pageLayout string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string

	// layout has the templates. Commands that serve no page do not parse them.
	layout = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(template.FuncMap{
			"ago":     func(now, at time.Time) string { return console.RoughDuration(max(0, now.Sub(at))) },
			"clock":   clock,
			"host":    func(link string) string { u, _ := url.Parse(link); return u.Host },
			"percent": percent, "rough": rough,
			"orders":   func() []string { return orders },
			"statuses": func() []db.Status { return statuses },
			"number":   func(n int) string { return console.Grouped(uint64(n)) },
			"word":     func(s db.Status) string { return cmp.Or(statusWords[s], string(s)) },
		}).Parse(pageLayout))
	})

	// top and bottom are the parts that all pages share. They make up most of a page.
	top    = sync.OnceValue(func() []byte { return rendered("top", template.CSS(report.Style()+pageStyle)) })
	bottom = sync.OnceValue(func() []byte { return rendered("bottom", template.JS(report.Charts()+pageScript)) })
)

// rendered executes a template with data. A template fails only because of a bug.
func rendered(name string, data any) []byte {
	var b bytes.Buffer
	if err := layout().ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	return bytes.Clone(b.Bytes())
}

type view struct {
	page                       string // name of the template
	Title, Site, Link, Program string
	*numbers
	Charts []timeline

	// For the page of all servers:
	Query query
	Found found
	Back  string
	News  news

	// For the page of a server:
	Server *details
	Bars   []bar
	Answer string

	Why string // message of the error page
}

// show answers a request for a page: it sends the page in value, or a page about err.
func (p *Page) show(w http.ResponseWriter, s *snapshot, code int, value any, err error) {
	text, _ := value.([]byte)
	if err != nil {
		text = p.made(s, &view{page: "failure", Why: err.Error()})
	}
	send(w, code, "text/html; charset=utf-8", top(), text, bottom())
}

// made returns the part of a page that comes between top and bottom.
func (p *Page) made(s *snapshot, v *view) []byte {
	v.Title, v.Site, v.Link, v.Program, v.numbers = cmp.Or(v.Title, p.Title), p.Title, p.Link, "a2sscan "+p.Build.Version, &s.numbers
	return rendered(v.page, v)
}

// clock returns a moment in UTC as HTML. The script changes it to the time zone of the
// visitor.
func clock(t time.Time) template.HTML {
	return template.HTML(t.UTC().Format(`<time datetime="2006-01-02T15:04:05Z">2 Jan 15:04</time>`))
}

func percent(share float64) string { return console.PercentDown(share) + "%" }

// timeline is a chart in the form that charts.js reads. It covers the time between From and
// To.
type timeline struct {
	Heading string `json:"-"`
	// Of is "day" or "month": the series of /api/history from which the page updates the
	// chart. It is empty on the page of a server, which does not update its chart.
	Of     string        `json:"-"`
	From   int64         `json:"from"`
	To     int64         `json:"to"`
	Times  []int64       `json:"nights"`
	Series []report.Line `json:"series"`
}

// Rows returns the points as rows of a table, the latest first. A row has the time and the
// values. Rows returns at most 59 rows. If there are more points, it leaves out some.
func (t *timeline) Rows() (rows [][]any) {
	for i := len(t.Times) - 1; i >= 0; i -= max(1, len(t.Times)/30) {
		row := []any{clock(time.Unix(t.Times[i], 0))}
		for _, l := range t.Series {
			if v := l.Values[i]; v != nil {
				row = append(row, *v)
			} else {
				row = append(row, "–")
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// index returns the page of all servers, and caches the page for its snapshot and query. It
// makes only one page at a time, because making a page takes much more memory than the page
// itself.
func (p *Page) index(r *http.Request, s *snapshot) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := s.pages[r.URL.RawQuery]; text != nil {
		return text, nil
	}
	f, q, err := s.search(r.URL, orders[0])
	if err != nil {
		return nil, err
	}
	v := &view{page: "index", Query: q, Found: f, Back: f.back}
	known := p.past.Load()
	for i, past := range []*series{known.Day, known.Month} {
		if len(past.Times) == 0 || past == known.Month && past.Times[0] >= known.Day.From {
			continue // the month would have no more data than the day
		}
		for _, l := range []report.Line{
			{Name: "Players", Color: "--s0", Values: past.People},
			{Name: "Servers up", Color: "--s2", Values: past.Up},
		} {
			heading := l.Name + ", last " + rough(float64(past.To-past.From))
			v.Charts = append(v.Charts, timeline{heading, []string{"day", "month"}[i], past.From, past.To, past.Times, []report.Line{l}})
		}
	}
	if v.News, err = p.news("", ""); err != nil {
		return nil, err
	}
	slices.Reverse(v.News.Events)
	text := p.made(s, v)
	if len(s.pages) < mostPages {
		s.pages[r.URL.RawQuery] = text
	}
	return text, nil
}

func (p *Page) serverPage(r *http.Request, s *snapshot) (any, error) {
	d, err := p.details(r, s)
	if err != nil {
		return nil, err
	}
	v := &view{
		page: "server", Title: cmp.Or(d.Name, d.Addr), Server: d,
		Bars: bars(d.History, s.Time), Charts: []timeline{peopleChart(d.History, s.Time)},
	}
	var pretty bytes.Buffer
	if len(d.Answer) > 0 && json.Indent(&pretty, d.Answer, "", "  ") == nil {
		for text := range strings.Lines(pretty.String()) {
			v.Answer += console.Plain(strings.TrimSuffix(text, "\n"), 1000) + "\n"
		}
	}
	return p.made(s, v), nil
}

// peopleChart returns a chart of the people on a server, with gaps where the server was down
// or not checked. If the known history is at most a day long, the chart covers this history.
// Otherwise it covers a week, a month or 90 days.
func peopleChart(history []db.Period, now time.Time) timeline {
	span := 24 * time.Hour
	if len(history) > 0 { // with less than a day of data, the axis begins with the data
		span = min(span, max(now.Sub(history[0].Time), time.Minute))
	}
	for _, longer := range []time.Duration{7 * 24 * time.Hour, month, uptimeFor} {
		if len(history) > 0 && now.Sub(history[0].Time) > max(span, 24*time.Hour) {
			span = longer
		}
	}
	chart := timeline{
		Heading: "Players, last " + rough(span.Seconds()), From: now.Add(-span).Unix(), To: now.Unix(),
		Series: []report.Line{{Name: "Mean", Color: "--s0"}, {Name: "Most", Color: "--rest"}},
	}
	mean, most := &chart.Series[0], &chart.Series[1]
	add := func(at time.Time, people *db.People) {
		chart.Times, mean.Values, most.Values = append(chart.Times, at.Unix()), append(mean.Values, nil), append(most.Values, nil)
		if last := len(chart.Times) - 1; people != nil {
			mean.Values[last], most.Values[last] = tenths(people.Mean), tenths(float64(people.Max))
		}
	}
	end := time.Time{} // end of the previous period
	for _, one := range history {
		if one.Time.After(end) && !end.IsZero() {
			add(end, nil)
		}
		add(one.Time, one.People)
		end = one.Time.Add(time.Duration(one.Hours) * time.Hour)
	}
	return chart
}

type bar struct{ Class, Date, Share string }

// bars returns a bar for each of the last 90 days or, if nothing older is known, of the
// last 24 hours. The last bar is the current day or hour.
func bars(history []db.Period, now time.Time) (bars []bar) {
	step, layout, sums := 24*time.Hour, time.DateOnly, make([]db.Period, uptimeFor/(24*time.Hour))
	if !slices.ContainsFunc(history, func(p db.Period) bool { return p.Hours > 1 || now.Sub(p.Time) >= 24*time.Hour }) {
		step, layout, sums = time.Hour, "2 Jan 15:04", sums[:24]
	}
	first := now.UTC().Truncate(step).Add(step * time.Duration(1-len(sums)))
	for _, one := range history {
		if n := int(one.Time.Sub(first) / step); !one.Time.Before(first) && n < len(sums) {
			sums[n].Add(&one)
		}
	}
	for i := range sums {
		b := bar{"none", first.Add(step * time.Duration(i)).Format(layout), "not checked"}
		if share, asked := sums[i].Share(); asked {
			b.Share, b.Class = percent(share), "less"
			if share >= 0.999 {
				b.Class = "full"
			} else if share >= 0.95 {
				b.Class = "most"
			}
		}
		if down := sums[i].Down; down > 0 {
			b.Share += ", down for " + rough(float64(down))
		}
		if planned := sums[i].Planned; planned > 0 {
			b.Share += ", maintenance for " + rough(float64(planned))
		}
		bars = append(bars, b)
	}
	return bars
}
