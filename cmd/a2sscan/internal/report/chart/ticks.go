package chart

import (
	"fmt"
	"math"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Tick is a label on an axis. X is a percentage of the width, Y is in pixels.
type Tick struct {
	X, Y   string
	Label  string
	Anchor string // how the label is aligned: start, middle or end
	Wide   bool   // show the label only on a wide screen
}

// scaleTop returns the end of an axis that begins at 0 and reaches at least the
// largest value. It also returns the distance of its grid lines, which is 1, 2 or 5
// times a power of ten.
func scaleTop(largest float64) (top, step float64) {
	if largest <= 0 || math.IsNaN(largest) || math.IsInf(largest, 0) {
		return 1, 1
	}
	const lines = 4
	power := math.Pow(10, math.Floor(math.Log10(largest/lines)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step = m * power; largest <= lines*step {
			break
		}
	}
	return math.Ceil(largest/step-1e-9) * step, step
}

// yTicks returns the grid lines of an axis of numbers. If whole is set, all labels are
// whole numbers.
func yTicks(top, step float64, unit string, whole bool) (ticks []Tick) {
	if whole && step < 1 {
		step = 1
	}
	for v := 0.0; v <= top*(1+1e-9); v += step {
		t := Tick{X: "32", Y: pixels(axis - plot*v/top), Label: console.Short(v), Anchor: "end"}
		if v > top-step/2 { // the topmost label has the unit, and is above its line
			t.X, t.Label, t.Anchor = "0", t.Label+unit, "start"
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// pixels formats a vertical position.
func pixels(v float64) string { return trimmed(v, 1) }

// percent formats a share of the width, from 0 to 1.
func percent(share float64) string { return trimmed(100*share, 2) + "%" }

// trimmed formats a number with at most digits decimals.
func trimmed(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	power := math.Pow(10, float64(digits))
	return fmt.Sprint(math.Round(v*power)/power + 0) // adding 0 turns -0 into 0
}

// span is the time from the first to the last point of a chart.
type span struct{ from, to time.Time }

// share returns the position of a time in the span, from 0 to 1. In an empty span
// it is always the middle.
func (s span) share(t time.Time) float64 {
	all := s.to.Sub(s.from)
	if all <= 0 {
		return 0.5
	}
	return float64(t.Sub(s.from)) / float64(all)
}

// calendar are the possible intervals between dates on an axis, the shortest first.
var calendar = []struct {
	days, months int
	layout       string
}{
	{1, 0, "2 Jan"}, {2, 0, "2 Jan"}, {7, 0, "2 Jan"}, {14, 0, "2 Jan"},
	{0, 1, "Jan 2006"}, {0, 3, "Jan 2006"}, {0, 6, "Jan 2006"}, {0, 12, "2006"}, {0, 24, "2006"}, {0, 120, "2006"},
}

// dates returns the labels of a time axis. There are at most maxDates of them, at
// round dates.
func (s span) dates() []Tick {
	const maxDates = 8
	if !s.to.After(s.from) {
		return []Tick{{X: "50%", Label: s.from.Format("2 Jan 2006"), Anchor: "middle"}}
	}
	var ticks []Tick
	for _, c := range calendar {
		if ticks = s.datesEvery(c.days, c.months, c.layout, maxDates); len(ticks) <= maxDates {
			break
		}
	}
	return fitNarrow(ticks)
}

// datesEvery returns labels at intervals of the given days or months. If there are more
// than limit labels, it returns the first limit+1.
func (s span) datesEvery(days, months int, layout string, limit int) (ticks []Tick) {
	at := time.Date(s.from.Year(), s.from.Month(), s.from.Day(), 0, 0, 0, 0, time.UTC)
	if months > 0 {
		at = time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	for ; !at.After(s.to) && len(ticks) <= limit; at = at.AddDate(0, months, days) {
		if !at.Before(s.from) {
			share := s.share(at)
			ticks = append(ticks, Tick{X: percent(share), Label: at.Format(layout), Anchor: anchor(share)})
		}
	}
	return ticks
}

// anchor returns how to align a label so that it stays inside the chart.
func anchor(share float64) string {
	switch {
	case share < 0.06:
		return "start"
	case share > 0.94:
		return "end"
	}
	return "middle"
}

// fitNarrow marks all but about four labels as labels for wide screens only.
func fitNarrow(ticks []Tick) []Tick {
	every := (len(ticks) + 3) / 4
	for i := range ticks {
		ticks[i].Wide = i%max(every, 1) != 0
	}
	return ticks
}
