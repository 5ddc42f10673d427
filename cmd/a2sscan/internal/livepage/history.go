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

// history is how many servers were up in the last month, and how many people were on them:
// a point a minute since the watch began, and before that hours and days of the database.
type history struct {
	mu     sync.Mutex
	points []point
}

// How far back a page looks.
const month, uptimeFor = 30 * 24 * time.Hour, 90 * 24 * time.Hour

// load reads the last month from the database.
func (h *history) load(ctx context.Context, db *watchdb.DB, now time.Time) error {
	var known []point
	before := 0 // servers that were asked in the period before
	for at := now.UTC().Add(-month).Truncate(24 * time.Hour); at.Before(now) && ctx.Err() == nil; {
		length := 24 * time.Hour
		up, people, asked, err := db.Total(at, length)
		if err == nil && asked == 0 {
			length = time.Hour
			up, people, asked, err = db.Total(at, length)
		}
		if err != nil {
			return err
		}
		starts := at.Add(length).After(now) && asked*10 < before*9 // the first cycle of this hour goes on
		if asked > 0 && !starts {
			known = append(known, point{at.Unix(), up, people})
		}
		before, at = asked, at.Add(length)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.points = append(known, h.points...)
	return nil
}

// add takes the state of a minute.
func (h *history) add(p point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.points) > 0 && h.points[0].at < p.at-int64(month/time.Second) {
		h.points = h.points[1:]
	}
	h.points = append(h.points, p)
}

// series are lines of a chart. A nil value is a gap.
type series struct {
	From   int64      `json:"from"` // Unix seconds, likewise To and Times
	To     int64      `json:"to"`
	Times  []int64    `json:"times"`
	Up     []*float64 `json:"up"`     // servers
	People []*float64 `json:"people"` // on them
}

// series returns the points of a time that ends now: one for each step, and a gap where the
// watch did not run for longer than gap.
func (h *history) series(now time.Time, span, step, gap time.Duration) *series {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &series{From: now.Add(-span).Unix(), To: now.Unix(), Times: []int64{}, Up: []*float64{}, People: []*float64{}}
	add := func(at int64, up, people *float64) {
		s.Times, s.Up, s.People = append(s.Times, at), append(s.Up, up), append(s.People, people)
	}
	seconds := int64(step / time.Second)
	for i := 0; i < len(h.points); {
		sum, n := point{}, 0.0
		first := h.points[i].at
		for ; i < len(h.points) && h.points[i].at/seconds == first/seconds; i++ {
			sum.up, sum.people, n = sum.up+h.points[i].up, sum.people+h.points[i].people, n+1
		}
		if first < s.From {
			continue
		}
		if last := len(s.Times) - 1; last >= 0 && first-s.Times[last] > int64(gap/time.Second) {
			add(s.Times[last]+seconds, nil, nil)
		}
		add(first, tenths(sum.up/n), tenths(sum.people/n))
	}
	return s
}

// pages returns the last day and month, in steps that suit a page.
func (h *history) pages(now time.Time) map[string]*series {
	return map[string]*series{
		"day":   h.series(now, 24*time.Hour, 5*time.Minute, 2*time.Hour),
		"month": h.series(now, month, 3*time.Hour, 48*time.Hour),
	}
}

func tenths(v float64) *float64 {
	v = float64(int64(v*10+0.5)) / 10
	return &v
}
