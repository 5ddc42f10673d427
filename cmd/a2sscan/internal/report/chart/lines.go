package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Series is one line. It has a value for each time; NaN means that the value is
// unknown.
type Series struct {
	Name   string
	Values []float64
	Rest   bool // the sum of everything that has no series of its own
}

// Timeline is a chart of values over time. Lines have gaps where times are missing.
type Timeline struct {
	ID    string
	Label string // describes the chart to screen readers
	Unit  string // follows the topmost number, such as " servers"

	// Table is the ID of the HTML table with the same values. Columns are the numbers
	// of the table columns that have the series. Tooltips read the values from there.
	Table   string
	Columns []int

	Times  []time.Time // in ascending order
	Series []Series
	Marked []bool // whether the values of each time are doubtful; may be nil
}

// Line is a series as it is drawn.
type Line struct {
	Class string // s0, s1 …
	Name  string
	Path  string
}

// Lines is a timeline as it is drawn.
type Lines struct {
	ID, Label, Table string
	Columns          []int
	Height, Axis     int
	Stretch          int
	From, To         int64 // Unix seconds, for tooltips
	Grid, Ticks      []Tick
	Lines            []Line
	Gaps             []Gap
	Marks            []Mark
	Stacked          bool
}

// Gap is a period without values.
type Gap struct{ X, Width, Tip string }

// Mark is a time with doubtful values.
type Mark struct{ X, Tip string }

// Draw computes the chart as lines.
func (t *Timeline) Draw() *Lines {
	c, runs := t.frame()
	top, step := scaleTop(t.largest())
	c.Grid = yTicks(top, step, t.Unit, false)
	for i, s := range t.Series {
		c.Lines = append(c.Lines, Line{s.class(i), s.Name, t.linePath(s.Values, runs, top)})
	}
	return c
}

// DrawStacked computes the chart as areas on top of each other. The values are
// shares whose sum is at most 1.
func (t *Timeline) DrawStacked() *Lines {
	c, runs := t.frame()
	c.Stacked = true
	c.Grid = yTicks(100, 25, "%", false)
	floor := make([]float64, len(t.Times))
	for i, s := range t.Series {
		ceiling := slices.Clone(floor)
		for k, v := range s.Values {
			ceiling[k] = min(floor[k]+v, 1) // NaN stays NaN
		}
		c.Lines = append(c.Lines, Line{s.class(i), s.Name, t.areaPath(floor, ceiling, known(runs, ceiling))})
		floor = ceiling
	}
	return c
}

// class returns the CSS class of series i, which gives its colour.
func (s *Series) class(i int) string {
	if s.Rest {
		return "rest"
	}
	return fmt.Sprintf("s%d", i%8)
}

// frame computes the parts that all timelines have. It also returns the runs of
// times without a gap.
func (t *Timeline) frame() (*Lines, [][2]int) {
	s := t.span()
	c := &Lines{
		ID: t.ID, Label: t.Label, Table: t.Table, Columns: t.Columns,
		Height: height, Axis: axis, Stretch: stretch,
		From: s.from.Unix(), To: s.to.Unix(), Ticks: s.dates(),
	}
	runs := Runs(t.Times)
	for i := 1; i < len(runs); i++ {
		from, to := t.Times[runs[i-1][1]-1], t.Times[runs[i][0]]
		x := s.share(from)
		c.Gaps = append(c.Gaps, Gap{percent(x), percent(s.share(to) - x),
			"no data between " + from.Format("2 Jan 2006") + " and " + to.Format("2 Jan 2006")})
	}
	for i, m := range t.Marked {
		if m {
			c.Marks = append(c.Marks, Mark{percent(s.share(t.Times[i])), t.Times[i].Format("2 Jan 2006")})
		}
	}
	return c, runs
}

func (t *Timeline) span() span {
	if len(t.Times) == 0 {
		return span{}
	}
	return span{t.Times[0], t.Times[len(t.Times)-1]}
}

func (t *Timeline) largest() (v float64) {
	for _, s := range t.Series {
		for _, w := range s.Values {
			if w > v { // false for NaN
				v = w
			}
		}
	}
	return v
}

// Runs divides times into runs. The times are in ascending order. A new run begins
// wherever the distance is more than one and a half times the usual distance. For
// each run, Runs returns the index of its first time and the index after its last.
func Runs(times []time.Time) (runs [][2]int) {
	usual := usualDistance(times)
	first := 0
	for i := range times {
		if i > 0 && times[i].Sub(times[i-1]) > usual+usual/2 {
			runs = append(runs, [2]int{first, i})
			first = i
		}
	}
	if len(times) > 0 {
		runs = append(runs, [2]int{first, len(times)})
	}
	return runs
}

// usualDistance returns the median distance between neighbours.
func usualDistance(times []time.Time) time.Duration {
	var all []time.Duration
	for i := 1; i < len(times); i++ {
		all = append(all, times[i].Sub(times[i-1]))
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// linePath returns the SVG path of a series. A value between two gaps becomes a
// dot, because lines have round ends.
func (t *Timeline) linePath(values []float64, runs [][2]int, top float64) string {
	var b strings.Builder
	s := t.span()
	for _, r := range runs {
		pen := "M"
		for i := r[0]; i < r[1]; i++ {
			if math.IsNaN(values[i]) {
				pen = "M"
				continue
			}
			x, y := trimmed(stretch*s.share(t.Times[i]), 1), pixels(axis-plot*values[i]/top)
			b.WriteString(pen + x + "," + y)
			if pen == "M" {
				b.WriteString("h0")
			}
			pen = "L"
		}
	}
	return b.String()
}

// known splits runs at values that are NaN, and omits these values.
func known(runs [][2]int, values []float64) (parts [][2]int) {
	for _, r := range runs {
		first := r[0]
		for i := r[0]; i <= r[1]; i++ {
			if i == r[1] || math.IsNaN(values[i]) {
				if first < i {
					parts = append(parts, [2]int{first, i})
				}
				first = i + 1
			}
		}
	}
	return parts
}

// areaPath returns the SVG path of the area between two lines. A run of a single
// time gets the width of a line.
func (t *Timeline) areaPath(floor, ceiling []float64, runs [][2]int) string {
	var b strings.Builder
	s := t.span()
	for _, r := range runs {
		wide := 0.0
		if r[1]-r[0] == 1 {
			wide = 4
		}
		pen := "M"
		for i := r[0]; i < r[1]; i++ {
			b.WriteString(pen + corner(stretch*s.share(t.Times[i])-wide/2, ceiling[i]))
			pen = "L"
		}
		b.WriteString("h" + trimmed(wide, 0))
		for i := r[1] - 1; i >= r[0]; i-- {
			b.WriteString("L" + corner(stretch*s.share(t.Times[i])+wide/2, floor[i]))
		}
		b.WriteString("z")
	}
	return b.String()
}

// corner formats a point of an area whose values are shares.
func corner(x, share float64) string { return trimmed(x, 1) + "," + pixels(axis-plot*share) }

// Spark returns the SVG path of a small line without axes, 100 wide and 24 high. It
// returns "" for fewer than two values.
func Spark(values []float64) string {
	if len(values) < 2 {
		return ""
	}
	least, most := slices.Min(values), slices.Max(values)
	room := max(most-least, most*0.05, 1e-9)
	var b strings.Builder
	for i, v := range values {
		pen := "L"
		if i == 0 {
			pen = "M"
		}
		b.WriteString(pen + trimmed(100*float64(i)/float64(len(values)-1), 1) + "," + trimmed(22-20*(v-least)/room, 1))
	}
	return b.String()
}

// Add adds a series.
func (t *Timeline) Add(name string, values []float64) {
	t.Series = append(t.Series, Series{Name: name, Values: values})
}

// AddRest adds a series with the rest: 1 minus the sum of the other series.
func (t *Timeline) AddRest(name string) {
	values := make([]float64, len(t.Times))
	for k := range values {
		values[k] = 1
		for _, s := range t.Series {
			values[k] -= s.Values[k]
		}
	}
	t.Series = append(t.Series, Series{Name: name, Values: values, Rest: true})
}
