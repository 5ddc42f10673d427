package chart

import (
	"fmt"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Bin is one bin of a histogram.
type Bin struct {
	Range string // the range that it counts: "20 to 50 ms"
	Edge  string // label of its left edge on the axis; may be empty
	Count uint64
}

// Histogram describes a histogram: how many things have a value in each bin.
type Histogram struct {
	ID    string
	Label string // describes the chart to screen readers
	Value string // the value, such as "Round trip"
	Of    string // what is counted, such as "server"
	Bins  []Bin
	Last  string // label of the right edge of the last bin
}

// Column is a bin as it is drawn.
type Column struct {
	X, Width, Y, Height string
	Range, Tip          string
	Count, Share        string
}

// Columns is a histogram as it is drawn.
type Columns struct {
	ID, Label, Value, Of string
	Height, Axis         int
	Grid, Ticks          []Tick
	Columns              []Column
}

// Draw computes the chart.
func (h *Histogram) Draw() *Columns {
	c := &Columns{ID: h.ID, Label: h.Label, Value: h.Value, Of: h.Of, Height: height, Axis: axis}
	var largest, all uint64
	for _, b := range h.Bins {
		largest, all = max(largest, b.Count), all+b.Count
	}
	top, step := scaleTop(float64(largest))
	c.Grid = yTicks(top, step, " "+h.Of+"s", true)
	for i, b := range h.Bins {
		c.Columns = append(c.Columns, h.column(i, b, top, all))
	}
	c.Ticks = h.ticks()
	return c
}

// column computes the position of a bin. A bin that is not empty is at least one
// pixel high.
func (h *Histogram) column(i int, b Bin, top float64, all uint64) Column {
	tall := plot * float64(b.Count) / top
	if b.Count > 0 {
		tall = max(tall, 1)
	}
	n := float64(len(h.Bins))
	c := Column{
		X: percent((float64(i) + 0.06) / n), Width: percent(0.88 / n),
		Y: pixels(axis - tall), Height: pixels(tall),
		Range: b.Range, Count: console.Grouped(b.Count), Share: share(b.Count, all),
	}
	c.Tip = fmt.Sprintf("%s: %s (%s)", b.Range, console.Plural(b.Count, h.Of), c.Share)
	return c
}

// ticks returns the labels for the edges of bins.
func (h *Histogram) ticks() (ticks []Tick) {
	for i := range len(h.Bins) + 1 {
		label := h.Last
		if i < len(h.Bins) {
			label = h.Bins[i].Edge
		}
		if label != "" {
			at := float64(i) / float64(len(h.Bins))
			ticks = append(ticks, Tick{X: percent(at), Label: label, Anchor: anchor(at)})
		}
	}
	return fitNarrow(thinned(ticks))
}

// thinned returns at most room labels, at equal distances. More would fit on no screen.
func thinned(ticks []Tick) (kept []Tick) {
	const room = 12
	every := (len(ticks) + room - 1) / room
	for i, t := range ticks {
		if i%every == 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

// share formats a part of all as a percentage with one decimal.
func share(part, all uint64) string {
	if all == 0 {
		return "–"
	}
	v := 100 * float64(part) / float64(all)
	if part > 0 && v < 0.05 {
		return "< 0.1%"
	}
	return fmt.Sprintf("%.1f%%", v)
}
