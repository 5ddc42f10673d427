package chart

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

//go:generate go run mkworld.go package world.txt

// worldText is the map. The comment in mkworld.go describes its lines.
//
//go:embed world.txt
var worldText string

// WorldLicence is the licence of the map. It must be shown wherever the map is.
//
//go:embed LICENSE-world-atlas
var WorldLicence string

// These are the dimensions of the map in its own units.
const (
	worldWidth  = 2000
	worldHeight = 870
)

// Country is a country on the map.
type Country struct {
	Code, Name string
	Path       string // empty: the country is so small that it is a point
	X, Y       string // position of the point
	Class      string // c0 (none) to c5 (most)
	Tip        string
}

// World is a map as it is drawn.
type World struct {
	Label         string
	Width, Height int
	Countries     []Country
	Points        []Country // drawn on top of the others; only those with a count
	Legend        []Class
}

// Class is a colour of the map with the range of counts that it stands for.
type Class struct{ Name, Range string }

// outlines returns the countries of the map. It parses the text only once.
var outlines = sync.OnceValue(func() (all []Country) {
	for line := range strings.Lines(worldText) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		c := Country{Code: f[0], Name: f[1], Path: f[2]}
		if at, isPoint := strings.CutPrefix(f[2], "@"); isPoint {
			c.Path = ""
			c.X, c.Y, _ = strings.Cut(at, ",")
		}
		all = append(all, c)
	}
	return all
})

// CountryName returns the name of a country, or its code if it is not on the map.
func CountryName(code string) string {
	for _, c := range outlines() {
		if c.Code == code {
			return c.Name
		}
	}
	return code
}

// NewWorld returns a map of counts by country. of is what is counted, such as
// "server".
func NewWorld(label, of string, counts map[string]uint64) *World {
	w := &World{Label: label, Width: worldWidth, Height: worldHeight}
	bounds := classBounds(counts)
	for _, c := range outlines() {
		n := counts[c.Code]
		c.Class = fmt.Sprintf("c%d", classOf(n, bounds))
		c.Tip = c.Name + ": " + console.Plural(n, of)
		switch {
		case c.Path != "":
			w.Countries = append(w.Countries, c)
		case n > 0:
			w.Points = append(w.Points, c)
		}
	}
	w.Legend = legend(bounds)
	return w
}

// classes is how many colours the map has for countries with a count above zero.
const classes = 5

// classBounds returns the lowest count of each class. They are round numbers at
// about equal ratios, because the counts of a census differ by powers of ten.
func classBounds(counts map[string]uint64) (bounds []uint64) {
	least, most := uint64(math.MaxUint64), uint64(1)
	for _, n := range counts {
		if n > 0 {
			least, most = min(least, n), max(most, n)
		}
	}
	least = min(least, most)
	for i := range classes {
		b := roundDown(float64(least) * math.Pow(float64(most)/float64(least), float64(i)/classes))
		if len(bounds) == 0 || b > bounds[len(bounds)-1] {
			bounds = append(bounds, b)
		}
	}
	return bounds
}

// roundDown rounds down to 1, 2, 3, 5 or 7 times a power of ten.
func roundDown(v float64) uint64 {
	if v < 1 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)+1e-9))
	for _, m := range []float64{7, 5, 3, 2} {
		if v >= m*power {
			return uint64(m * power)
		}
	}
	return uint64(power)
}

// classOf returns the class of a count; 0 means none. The last class always has the
// darkest colour, even if there are fewer than five.
func classOf(n uint64, bounds []uint64) int {
	for i := len(bounds) - 1; i >= 0; i-- {
		if n >= bounds[i] {
			return classes - (len(bounds) - 1 - i)
		}
	}
	return 0
}

func legend(bounds []uint64) []Class {
	all := []Class{{"c0", "none"}}
	for i, b := range bounds {
		text := console.Grouped(b) + " or more"
		if i+1 < len(bounds) {
			text = console.Grouped(b)
			if last := bounds[i+1] - 1; last > b {
				text += " to " + console.Grouped(last)
			}
		}
		all = append(all, Class{fmt.Sprintf("c%d", classOf(b, bounds)), text})
	}
	return all
}
