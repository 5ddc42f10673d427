package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// distribution is a histogram: a title, a sentence, columns, and a table of the same numbers.
type distribution struct {
	Title, Text string
	Value       string // title of the table's first column
	Axis        string // title of the horizontal axis: the value and its unit
	Bins        []row
	Ticks       []tick
	Columns     []column
}

// tick is a number at the vertical axis of a histogram. Y is its distance from the top, an SVG
// length.
type tick struct{ Y, Text string }

// column is a column of a histogram. X, Width, Y and Height are SVG lengths. Label is the
// lower bound of its bin; most columns have no label, because there is no room.
type column struct {
	row
	X, Width, Y, Height, Label string
}

const labels = 8

// The vertical axis of a histogram begins axisTop pixels below the top and is axisHeight pixels
// long. The first axisWidth percent of the width are for its numbers.
const (
	axisTop    = 22.0
	axisHeight = 140.0
	axisWidth  = 12.0
)

// axisEnd returns the number at the end of an axis. It is the smallest of 2, 4, 10, 20,
// 40, 100 and so on that is not below the largest count.
func axisEnd(most uint64) float64 {
	end := 2.0
	for i := 0; end < float64(most); i++ {
		end *= []float64{2, 2.5, 2}[i%3]
	}
	return end
}

func columns(bins []row, d *census.Distribution) (all []column, ticks []tick) {
	end := axisEnd(bins[0].Most)
	y := func(n float64) string { return fmt.Sprintf("%.1f", axisTop+axisHeight*(1-n/end)) }
	for _, n := range []float64{0, end / 2, end} {
		ticks = append(ticks, tick{y(n), console.Short(n)})
	}
	share := (100 - axisWidth) / float64(len(bins))
	for i, bin := range bins {
		c := column{
			row: bin, X: fmt.Sprintf("%.2f%%", axisWidth+share*float64(i)), Width: fmt.Sprintf("%.2f%%", 0.86*share),
			Y: y(float64(bin.N)), Height: fmt.Sprintf("%.1f", axisHeight*float64(bin.N)/end),
		}
		if i%((len(bins)+labels-1)/labels) == 0 {
			c.Label = strconv.FormatFloat(math.Round(d.Bins[i].From), 'f', -1, 64)
		}
		all = append(all, c)
	}
	return all, ticks
}

func distributions(s *census.Stats) (all []distribution) {
	for _, chart := range []struct {
		title, value, unit, note string
		*census.Distribution
	}{
		{"Round trips", "Round trip", " ms", "For each server, the chart shows the first question that it answered without a retry.", s.RoundTrips},
		{"How full servers are", "Places taken", "%", "Bots do not count.", s.Fill},
		{"How large servers are", "Places for people", "", "", s.Capacity},
	} {
		d := chart.Distribution
		if d == nil || d.Servers == 0 || len(d.Bins) == 0 {
			continue
		}
		one := distribution{Title: chart.title, Value: chart.value, Axis: chart.value, Bins: histogram(chart.unit, d)}
		one.Text = fmt.Sprintf("Half of the servers have at most %s%s, nine of ten at most %s%s. %s",
			rounded(d.P50), cmp.Or(chart.unit, " places"), rounded(d.P90), cmp.Or(chart.unit, " places"), chart.note)
		if chart.unit != "" {
			one.Axis += " in " + strings.TrimSpace(chart.unit)
		}
		one.Columns, one.Ticks = columns(one.Bins, d)
		all = append(all, one)
	}
	return all
}

// histogram returns a row for each bin of d, without the empty bins at the end.
func histogram(unit string, d *census.Distribution) (rows []row) {
	bins := d.Bins
	for len(bins) > 1 && bins[len(bins)-1].Servers == 0 {
		bins = bins[:len(bins)-1]
	}
	var largest uint64
	for _, b := range bins {
		largest = max(largest, b.Servers)
	}
	for _, b := range bins {
		rows = append(rows, row{Name: binRange(b, unit), N: b.Servers, Of: d.Servers, Most: largest})
	}
	return rows
}

// binRange describes the range of a bin, for example 20 to 30 ms. A bin does not include
// b.To. So for values without a unit, which are integers, the range ends with b.To-1: 20 to
// 29. A bin that begins just above an integer excludes this integer, which is the only value
// of the bin before, so its range begins with "over".
func binRange(b census.Bin, unit string) string {
	edge := func(v float64) string { return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64) }
	from, over := edge(b.From), b.From != math.Round(b.From)
	if over {
		from = "over " + from
	}
	switch {
	case b.To == nil && over:
		return from + unit
	case b.To == nil:
		return from + unit + " or more"
	}
	last := *b.To
	if unit == "" {
		last--
	}
	if edge(last) == from {
		return from + unit
	}
	return from + " to " + edge(last) + unit
}
