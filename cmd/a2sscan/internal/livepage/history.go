package livepage

import (
	"context"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

// point is the state of all servers at a moment, or their mean in the time that follows it.
type point struct {
	at         int64 // Unix seconds
	up, people float64
}

// history is how many servers were up, and how many people were on them.
type history struct {
	mu      sync.Mutex
	minutes []point // of a day
	hours   []point // of a month; older ones may be days
	open    []point // the minutes of the hour that runs
}

// How far back a page looks.
const (
	month     = 30 * 24 * time.Hour
	uptimeFor = 90 * 24 * time.Hour
)

// load reads the last month from the database, the oldest first.
func (h *history) load(ctx context.Context, db *watchdb.DB, now time.Time) error {
	var known []point
	now = now.UTC().Truncate(time.Hour)
	for at := now.Add(-month).Truncate(24 * time.Hour); at.Before(now) && ctx.Err() == nil; {
		length := 24 * time.Hour
		up, people, found, err := db.Total(at, length)
		if err == nil && !found {
			length = time.Hour
			up, people, found, err = db.Total(at, length)
		}
		if err != nil {
			return err
		}
		if found {
			known = append(known, point{at.Unix(), up, people})
		}
		at = at.Add(length)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hours = append(known, h.hours...)
	return nil
}

// add takes the state of a minute.
func (h *history) add(p point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.minutes = since(append(h.minutes, p), p.at-24*3600)
	if len(h.open) > 0 && h.open[0].at/3600 != p.at/3600 {
		hour := mean(h.open)
		hour.at -= hour.at % 3600
		h.hours = since(append(h.hours, hour), p.at-int64(month/time.Second))
		h.open = h.open[:0]
	}
	h.open = append(h.open, p)
}

func since(points []point, at int64) []point {
	for len(points) > 0 && points[0].at < at {
		points = points[1:]
	}
	return points
}

func mean(points []point) (m point) {
	m.at = points[0].at
	n := float64(len(points))
	for _, p := range points {
		m.up, m.people = m.up+p.up/n, m.people+p.people/n
	}
	return m
}

// series are lines of a chart, in the form of the API.
type series struct {
	Times  []int64    `json:"times"`  // Unix seconds; with a null where the watch did not run
	Up     []*float64 `json:"up"`     // servers
	People []*float64 `json:"people"` // on them
}

func newSeries() *series { return &series{Times: []int64{}, Up: []*float64{}, People: []*float64{}} }

// add appends points, with a gap where more than twice the distance is missing.
func (s *series) add(points []point, distance int64) {
	for i := range points {
		p := &points[i]
		if n := len(s.Times); n > 0 && p.at-s.Times[n-1] > 2*distance {
			s.Times, s.Up, s.People = append(s.Times, s.Times[n-1]+distance), append(s.Up, nil), append(s.People, nil)
		}
		s.Times, s.Up, s.People = append(s.Times, p.at), append(s.Up, tenths(p.up)), append(s.People, tenths(p.people))
	}
}

func tenths(v float64) *float64 {
	v = float64(int64(v*10+0.5)) / 10
	return &v
}

// The distances of the points of charts, in seconds.
const (
	dayStep   = 300
	monthStep = 3 * 3600
)

// day returns the last 24 hours: minutes, and before these what the database has.
func (h *history) day(now time.Time) *series {
	h.mu.Lock()
	defer h.mu.Unlock()
	var before []point
	for _, p := range since(h.hours, now.Unix()-24*3600) {
		if len(h.minutes) == 0 || p.at+3600 <= h.minutes[0].at {
			before = append(before, p)
		}
	}
	s := newSeries()
	s.add(before, 3600)
	s.add(thinned(h.minutes, dayStep), dayStep)
	return s
}

// month returns the last 30 days.
func (h *history) month() *series {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.hours
	if len(h.open) > 0 {
		all = append(all[:len(all):len(all)], mean(h.open))
	}
	s := newSeries()
	s.add(thinned(all, monthStep), 24*3600)
	return s
}

// thinned replaces the points of each step by their mean.
func thinned(points []point, step int64) (few []point) {
	for first := 0; first < len(points); {
		end := first + 1
		for end < len(points) && points[end].at/step == points[first].at/step {
			end++
		}
		few = append(few, mean(points[first:end]))
		first = end
	}
	return few
}

// uptimeDay is a day of a server.
type uptimeDay struct {
	Date   string `json:"date"`
	Up     int64  `json:"up"` // minutes
	Down   int64  `json:"down"`
	Unseen int64  `json:"unseen"`
}

// share returns the share of the time asked in which the server was up; false: it was never
// asked.
func (d *uptimeDay) share() (float64, bool) {
	u := watchdb.Uptime{Up: d.Up, Down: d.Down}
	return u.Share()
}

// uptimeDays adds periods up to days, the last of which is today. Days without a period have
// no minutes.
func uptimeDays(periods []watchdb.Period, now time.Time) (days []uptimeDay, sum uptimeDay) {
	first := now.UTC().Add(-uptimeFor).Truncate(24 * time.Hour).Add(24 * time.Hour)
	for at := first; !at.After(now); at = at.Add(24 * time.Hour) {
		days = append(days, uptimeDay{Date: at.Format(time.DateOnly)})
	}
	for _, p := range periods {
		n := int(p.Start.Sub(first) / (24 * time.Hour))
		if p.Start.Before(first) || n >= len(days) {
			continue
		}
		for _, d := range []*uptimeDay{&days[n], &sum} {
			d.Up, d.Down, d.Unseen = d.Up+p.Up, d.Down+p.Down, d.Unseen+p.Unseen
		}
	}
	return days, sum
}
