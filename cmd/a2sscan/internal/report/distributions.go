package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report/chart"
	"github.com/a2sscan/a2sscan/sink/census"
)

// distribution is a histogram with a title and a sentence.
type distribution struct {
	Title, Text string
	Chart       *chart.Columns
}

// distributions returns the histograms for which the census has data.
func distributions(s *census.Stats) (all []distribution) {
	if d := s.RoundTrips; some(d) {
		all = append(all, distribution{"Round trips", fmt.Sprintf(
			"Half of the servers answer within %s ms, nine of ten within %s ms, 99 of 100 within %s ms. The time is that of the first question answered at once.",
			rounded(d.P50), rounded(d.P90), rounded(d.P99)),
			histogram("round-trips", "Round trip", " ms", d)})
	}
	if d := s.Fill; some(d) {
		all = append(all, distribution{"How full servers are", fmt.Sprintf(
			"Half of the servers have at most %s%% of their places taken, nine of ten at most %s%%. Bots take no place.",
			rounded(d.P50), rounded(d.P90)),
			histogram("fill", "Places taken", "%", d)})
	}
	if d := s.Capacity; some(d) {
		all = append(all, distribution{"How large servers are", fmt.Sprintf(
			"Half of the servers have at most %s places, nine of ten at most %s. The largest number is %s.",
			rounded(d.P50), rounded(d.P90), rounded(d.Max)),
			histogram("capacity", "Places", "", d)})
	}
	return all
}

func some(d *census.Distribution) bool { return d != nil && d.Servers > 0 && len(d.Bins) > 0 }

// histogram returns the histogram of a distribution.
func histogram(id, value, unit string, d *census.Distribution) *chart.Columns {
	h := chart.Histogram{
		ID: id, Value: value, Of: "server",
		Label: fmt.Sprintf("Histogram of servers by %s: half of %s servers have %s%s or less, nine of ten %s%s or less.",
			lower(value), number(d.Servers), rounded(d.P50), unit, rounded(d.P90), unit),
	}
	bins := withoutTail(d.Bins)
	exact := false // whether the previous bin counts a single value
	for i, b := range bins {
		bin := chart.Bin{Range: binRange(b, unit, exact), Count: b.Servers}
		if !exact {
			bin.Edge = edge(b.From, unit, i == 0)
		}
		exact = isExact(b)
		h.Bins = append(h.Bins, bin)
	}
	if to := bins[len(bins)-1].To; to != nil && !exact {
		h.Last = edge(*to, unit, false)
	}
	return h.Draw()
}

// isExact reports whether a bin counts a single value, such as 0.
func isExact(b census.Bin) bool { return b.To != nil && *b.To-b.From < 0.001 }

// withoutTail removes the empty bins at the end.
func withoutTail(bins []census.Bin) []census.Bin {
	n := len(bins)
	for n > 1 && bins[n-1].Servers == 0 {
		n--
	}
	return bins[:n]
}

// binRange describes the range of a bin, for example 20 to 30 ms. Values without a unit
// are whole numbers, and their range ends with the last number that it includes. If the
// previous bin counts a single value, the range begins with "over", because it excludes
// that value.
func binRange(b census.Bin, unit string, afterExact bool) string {
	from := trimmed(b.From)
	if afterExact {
		from = "over " + from
	}
	switch {
	case b.To == nil && afterExact, isExact(b):
		return from + unit
	case b.To == nil:
		return from + unit + " or more"
	case unit == "" && *b.To == b.From+1:
		return from
	case unit == "":
		return from + " to " + trimmed(*b.To-1)
	}
	return from + " to " + trimmed(*b.To) + unit
}

// trimmed formats the edge of a bin.
func trimmed(v float64) string {
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

// edge returns the label of a bin's edge on the axis. The first label has the unit.
func edge(v float64, unit string, first bool) string {
	if first {
		return console.Short(math.Round(v*1000)/1000) + unit
	}
	return console.Short(math.Round(v*1000) / 1000)
}

// lower changes the first letter to lower case.
func lower(s string) string { return string(s[0]|0x20) + s[1:] }
