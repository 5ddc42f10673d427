package livepage

import (
	"errors"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

// How far back a page looks.
const month, uptimeFor = 30 * 24 * time.Hour, 90 * 24 * time.Hour

// series are lines of a chart. A nil value is a gap.
type series struct {
	From   int64      `json:"from"` // Unix seconds, likewise To and Times
	To     int64      `json:"to"`
	Times  []int64    `json:"times"`
	Up     []*float64 `json:"up"`     // servers
	People []*float64 `json:"people"` // on them
}

// newSeries returns how many servers were up in a time that ends now, and how many people were
// on them: a point for each step, and a gap where the watch did not run for longer than gap.
func newSeries(db *watchdb.DB, now time.Time, span, step, gap time.Duration) (*series, error) {
	s := &series{From: now.Add(-span).Unix(), To: now.Unix(), Times: []int64{}, Up: []*float64{}, People: []*float64{}}
	add := func(at int64, up, people *float64) {
		s.Times, s.Up, s.People = append(s.Times, at), append(s.Up, up), append(s.People, people)
	}
	totals, err := db.Totals(now.Add(-span), step)
	for _, total := range totals {
		if last := len(s.Times) - 1; last >= 0 && total.At-s.Times[last] > int64(gap/time.Second) {
			add(s.Times[last]+int64(step/time.Second), nil, nil)
		}
		add(total.At, tenths(total.Up), tenths(total.People))
	}
	return s, err
}

// past are the last day and month, in steps that suit a page.
type past struct {
	Day   *series `json:"day"`
	Month *series `json:"month"`
}

func newPast(db *watchdb.DB, now time.Time) (*past, error) {
	day, err := newSeries(db, now, 24*time.Hour, 5*time.Minute, 15*time.Minute)
	long, err2 := newSeries(db, now, month, 3*time.Hour, 6*time.Hour)
	return &past{day, long}, errors.Join(err, err2)
}

func tenths(v float64) *float64 {
	v = float64(int64(v*10+0.5)) / 10
	return &v
}
