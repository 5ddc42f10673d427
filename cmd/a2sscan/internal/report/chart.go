package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timeline is a chart with values for each night. charts.js draws it from its JSON. A table
// on the page has the same numbers, for browsers without scripts.
type timeline struct {
	Label  string  `json:"-"`    // description for screen readers
	Axis   string  `json:"axis"` // title of the vertical axis
	Unit   string  `json:"unit"`
	Nights []int64 `json:"nights"` // Unix seconds, in ascending order
	Series []Line  `json:"series"`
	Low    []int64 `json:"low,omitempty"` // the nights whose numbers are doubtful
}

// Line is a line of a chart. A nil value is unknown; the line has a gap there.
type Line struct {
	Name   string     `json:"name"`
	Color  string     `json:"color"` // CSS variable
	Values []*float64 `json:"values"`
}

// newTimeline returns a chart of the nights, without lines.
func newTimeline(label, axis, unit string, nights []pastNight) *timeline {
	t := &timeline{Label: label, Axis: axis, Unit: unit}
	var distances []time.Duration // between nights
	for i := 1; i < len(nights); i++ {
		distances = append(distances, nights[i].time.Sub(nights[i-1].time))
	}
	slices.Sort(distances)
	usual := time.Duration(0)
	if len(distances) > 0 {
		usual = distances[(len(distances)-1)/2]
	}
	for i, n := range nights {
		if i > 0 && n.time.Sub(nights[i-1].time) > usual+usual/2 {
			t.Nights = append(t.Nights, n.time.Add(-usual).Unix()) // a point without values makes a gap in the lines
		}
		t.Nights = append(t.Nights, n.time.Unix())
		if n.doubtful {
			t.Low = append(t.Low, n.time.Unix())
		}
	}
	return t
}

// add adds a line with the value of each night. NaN means that a value is not known.
func (t *timeline) add(name, color string, nights []pastNight, of func(*pastNight) float64) {
	s := Line{Name: name, Color: "--" + color, Values: make([]*float64, len(t.Nights))}
	for i := range nights {
		if v := of(&nights[i]); !math.IsNaN(v) {
			at, _ := slices.BinarySearch(t.Nights, nights[i].time.Unix())
			s.Values[at] = &v
		}
	}
	t.Series = append(t.Series, s)
}

// spark returns the SVG path of a small line without axes, 100 units wide and 24 units
// high. It returns "" for fewer than two values.
func spark(values []float64) string {
	if len(values) < 2 {
		return ""
	}
	least, most := slices.Min(values), slices.Max(values)
	room := max(most-least, most*0.05, 1e-9)
	var b strings.Builder
	pen := "M"
	for i, v := range values {
		x, y := 100*float64(i)/float64(len(values)-1), 22-20*(v-least)/room
		b.WriteString(pen + strconv.FormatFloat(x, 'f', 1, 64) + "," + strconv.FormatFloat(y, 'f', 1, 64))
		pen = "L"
	}
	return b.String()
}
