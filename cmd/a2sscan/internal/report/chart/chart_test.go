package chart

import (
	"bytes"
	"html/template"
	"math"
	"strings"
	"testing"
	"time"
)

func TestScaleTop(t *testing.T) {
	for _, test := range []struct{ largest, top, step float64 }{
		{0, 1, 1}, {math.NaN(), 1, 1}, {math.Inf(1), 1, 1}, {1, 1, 0.5}, {4, 4, 1}, {5, 6, 2}, {99, 100, 50},
		{100, 100, 50}, {101, 150, 50}, {612_345, 800_000, 200_000}, {0.03, 0.03, 0.01},
	} {
		top, step := scaleTop(test.largest)
		if math.Abs(top-test.top) > 1e-9 || math.Abs(step-test.step) > 1e-9 {
			t.Errorf("%v: %v in steps of %v, want %v and %v", test.largest, top, step, test.top, test.step)
		}
	}
}

// TestYTicks: the axis of a count has no fractions.
func TestYTicks(t *testing.T) {
	top, step := scaleTop(1)
	if got := labels(yTicks(top, step, " servers", true)); got != "0|1 servers" {
		t.Error(got)
	}
	top, step = scaleTop(120_000)
	if got := labels(yTicks(top, step, " people", false)); got != "0|50k|100k|150k people" {
		t.Error(got)
	}
}

func labels(ticks []Tick) string {
	var all []string
	for _, tick := range ticks {
		all = append(all, tick.Label)
	}
	return strings.Join(all, "|")
}

func day(n int) time.Time { return time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC).AddDate(0, 0, n) }

func days(numbers ...int) (times []time.Time) {
	for _, n := range numbers {
		times = append(times, day(n))
	}
	return times
}

func TestDates(t *testing.T) {
	for _, test := range []struct {
		length int // days
		want   string
	}{
		{0, "1 Nov 2026"},
		{1, "2 Nov"},
		{3, "2 Nov|3 Nov|4 Nov"},
		{29, "8 Nov|15 Nov|22 Nov|29 Nov"},
		{89, "15 Nov|29 Nov|13 Dec|27 Dec|10 Jan|24 Jan"},
		{364, "Jan 2027|Apr 2027|Jul 2027|Oct 2027"},
		{3000, "2028|2030|2032|2034"},
	} {
		if got := labels(span{day(0), day(test.length)}.dates()); got != test.want {
			t.Errorf("%d days: %s, want %s", test.length, got, test.want)
		}
	}
}

func TestRuns(t *testing.T) {
	for _, test := range []struct {
		days []int
		want [][2]int
	}{
		{nil, nil},
		{[]int{5}, [][2]int{{0, 1}}},
		{[]int{0, 1, 2}, [][2]int{{0, 3}}},
		{[]int{0, 1, 3, 4}, [][2]int{{0, 2}, {2, 4}}},
		{[]int{0, 7, 14, 28, 35}, [][2]int{{0, 3}, {3, 5}}}, // weekly, one missing
		{[]int{0, 1, 2, 9, 20, 21}, [][2]int{{0, 3}, {3, 4}, {4, 6}}},
	} {
		got := Runs(days(test.days...))
		if len(got) != len(test.want) {
			t.Errorf("%v: %v, want %v", test.days, got, test.want)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%v: %v, want %v", test.days, got, test.want)
			}
		}
	}
}

// TestLineGaps: a line has gaps where nights are missing or values are unknown, and
// a single value between gaps is a dot.
func TestLineGaps(t *testing.T) {
	line := Timeline{Times: days(0, 1, 2, 5, 6, 10), Marked: []bool{false, true, false, false, false, false}}
	line.Add("a", []float64{1, 2, 1, 1, 2, 1})
	line.Add("b", []float64{1, math.NaN(), 1, 1, 1, 1})
	c := line.Draw()
	want := "M0,102h0L100,18L200,102M500,102h0L600,18M1000,102h0"
	if got := c.Lines[0].Path; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := strings.Count(c.Lines[1].Path, "M"); got != 4 {
		t.Errorf("%d pieces with an unknown value, want 4: %s", got, c.Lines[1].Path)
	}
	if len(c.Gaps) != 2 || c.Gaps[0] != (Gap{"20%", "30%", "no data between 3 Nov 2026 and 6 Nov 2026"}) {
		t.Errorf("%+v", c.Gaps)
	}
	if len(c.Marks) != 1 || c.Marks[0].X != "10%" {
		t.Errorf("%+v", c.Marks)
	}
}

// TestStacked: areas are on top of each other, the rest fills the space up to the
// top, and a night without values has no area.
func TestStacked(t *testing.T) {
	c := Timeline{Times: days(0, 1, 2, 3)}
	c.Add("a", []float64{0.5, 0.25, math.NaN(), 1})
	c.Add("b", []float64{0.25, 0.25, math.NaN(), 0})
	c.AddRest("others")
	drawn := c.DrawStacked()
	for i, want := range []string{
		"M0,102L333.3,144h0L333.3,186L0,186zM998,18h4L1002,186z",
		"M0,60L333.3,102h0L333.3,144L0,102zM998,18h4L1002,18z",
		"M0,18L333.3,18h0L333.3,102L0,60zM998,18h4L1002,18z",
	} {
		if got := drawn.Lines[i].Path; got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	if drawn.Lines[2].Class != "rest" {
		t.Error(drawn.Lines[2].Class)
	}
}

// TestNoTimes: charts without data can be drawn.
func TestNoTimes(t *testing.T) {
	var c Timeline
	c.Add("a", nil)
	if got := c.Draw(); got.Lines[0].Path != "" {
		t.Errorf("%+v", got)
	}
	c.DrawStacked()
	(&Histogram{}).Draw()
	NewWorld("", "", nil)
	if Spark(nil)+Spark([]float64{1}) != "" {
		t.Error("a line was drawn with fewer than two values")
	}
}

func TestSpark(t *testing.T) {
	if got := Spark([]float64{1, 3, 2}); got != "M0,22L50,2L100,12" {
		t.Error(got)
	}
	if got := Spark([]float64{7, 7}); got != "M0,22L100,22" {
		t.Error(got)
	}
}

func TestHistogram(t *testing.T) {
	h := Histogram{Of: "server", Last: "10", Bins: []Bin{{"0 to 5", "0", 30}, {"5 to 10", "5", 10}, {"more", "", 0}}}
	c := h.Draw()
	if got := c.Columns[0]; got.Y != "18" || got.Height != "168" || got.X != "2%" || got.Width != "29.33%" || got.Tip != "0 to 5: 30 servers (75.0%)" {
		t.Errorf("%+v", got)
	}
	if got := c.Columns[2].Height; got != "0" {
		t.Errorf("an empty column is %s high", got)
	}
	if got := labels(c.Ticks); got != "0|5|10" {
		t.Error(got)
	}
}

// TestWorld: the map has each country once, with its code and its name.
func TestWorld(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range outlines() {
		if len(c.Code) != 2 || c.Name == "" || seen[c.Code] || (c.Path == "") == (c.X == "") {
			t.Errorf("%+v", c)
		}
		seen[c.Code] = true
	}
	if len(seen) < 230 || !seen["SG"] || !seen["HK"] || seen["AQ"] {
		t.Errorf("%d countries", len(seen))
	}
	w := NewWorld("", "server", map[string]uint64{"DE": 12_000, "FR": 400, "SG": 3, "XX": 5})
	classes := map[string]string{}
	for _, c := range append(w.Countries, w.Points...) {
		classes[c.Code] = c.Class + " " + c.Tip
	}
	if classes["DE"] != "c5 Germany: 12,000 servers" || classes["SG"] != "c1 Singapore: 3 servers" || classes["BR"] != "c0 Brazil: 0 servers" || len(w.Points) != 1 {
		t.Errorf("%q, %d points", classes["DE"]+classes["SG"]+classes["BR"], len(w.Points))
	}
	if CountryName("DE") != "Germany" || CountryName("RE") != "RE" {
		t.Error("names")
	}
}

func TestClasses(t *testing.T) {
	bounds := classBounds(map[string]uint64{"a": 3, "b": 100_000, "c": 0})
	if len(bounds) != 5 || bounds[0] != 3 || classOf(0, bounds) != 0 || classOf(3, bounds) != 1 || classOf(100_000, bounds) != 5 {
		t.Error(bounds)
	}
	one := classBounds(map[string]uint64{"a": 4})
	if len(one) != 1 || classOf(4, one) != 5 {
		t.Errorf("one count: %v", one)
	}
}

// TestEscapes: no string can break out of the HTML into which a template puts it.
func TestEscapes(t *testing.T) {
	const hostile = `"><script>alert(1)</script></title>`
	all := template.Must(template.New("").ParseFS(Templates, "*.html"))
	h := Histogram{Label: hostile, Value: hostile, Of: hostile, Bins: []Bin{{hostile, hostile, 3}}, Last: hostile}
	line := Timeline{Label: hostile, Unit: hostile, Table: hostile, Times: days(0, 1, 2, 9), Columns: []int{1}}
	line.Add(hostile, []float64{1, 2, 3, 4})
	world := NewWorld(hostile, hostile, map[string]uint64{"DE": 2})
	for name, data := range map[string]any{"columns": h.Draw(), "lines": line.Draw(), "world": world} {
		var b bytes.Buffer
		if err := all.ExecuteTemplate(&b, name, data); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "<script") || strings.Contains(b.String(), `"">`) {
			t.Errorf("%s: not escaped", name)
		}
	}
}
