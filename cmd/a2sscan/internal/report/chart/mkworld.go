//go:build ignore

// This program writes world.txt, the map that World draws. It reads the files
// countries-110m.json and countries-50m.json of the npm package world-atlas 2.0.2,
// which have Natural Earth's country borders as TopoJSON:
//
//	npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
//	go run mkworld.go package > world.txt
//
// Each line of world.txt is a country: its ISO 3166-1 code, its name, and its
// outline as SVG path data. The coarse file lacks small countries. They are taken
// from the fine file and become a point, "@X,Y". The projection is Equal Earth, so
// that areas can be compared.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
)

// width is the width of the map in its own units.
const width = 2000

type topology struct {
	Transform struct{ Scale, Translate [2]float64 }
	Arcs      [][][2]float64
	Objects   struct {
		Countries struct{ Geometries []geometry }
	}
}

type geometry struct {
	Type       string
	Arcs       json.RawMessage
	ID         string
	Properties struct{ Name string }
}

// codes are the codes of areas that have no ISO number. Kosovo's code is in use
// although it is not in the standard. The others are counted as part of another
// country.
var codes = map[string]string{
	"Kosovo": "XK", "N. Cyprus": "CY", "Somaliland": "SO", "Siachen Glacier": "IN", "Indian Ocean Ter.": "AU",
}

// long replaces Natural Earth's abbreviations by the full names.
var long = strings.NewReplacer(
	"Dem. Rep. Congo", "Democratic Republic of the Congo", "Macedonia", "North Macedonia", "eSwatini", "Eswatini",
	"Herz.", "Herzegovina", "Rep.", "Republic", "Eq.", "Equatorial", "Is.", "Islands",
	"Fr. S.", "French Southern", "Fr.", "French", "S. Geo. and the", "South Georgia and the South Sandwich",
	"S. Sudan", "South Sudan", "W. Sahara", "Western Sahara", "Barb.", "Barbuda", "Vin.", "Vincent",
	"Gren.", "the Grenadines", "Br.", "British", "Ter.", "Territory", "N. Mariana", "Northern Mariana",
	"I. and", "Island and", "St.", "Saint",
)

type country struct {
	code, name, path string
}

func main() {
	log.SetFlags(0)
	coarse, fine := read("countries-110m.json"), read("countries-50m.json")
	byCode := map[string]country{}
	for _, g := range coarse.Objects.Countries.Geometries {
		code := codeOf(g)
		if code == "AQ" {
			continue // it has no servers, and would take a fifth of the map
		}
		c := byCode[code]
		if c.name == "" || codes[g.Properties.Name] == "" {
			c.code, c.name = code, long.Replace(g.Properties.Name)
		}
		c.path += coarse.path(g)
		byCode[code] = c
	}
	for _, g := range fine.Objects.Countries.Geometries {
		code := codeOf(g)
		if _, drawn := byCode[code]; !drawn && code != "AQ" && codes[g.Properties.Name] == "" {
			byCode[code] = country{code, long.Replace(g.Properties.Name), fine.point(g)}
		}
	}
	var lines []string
	for _, c := range byCode {
		lines = append(lines, c.code+"\t"+c.name+"\t"+c.path+"\n")
	}
	slices.Sort(lines)
	out := bufio.NewWriter(os.Stdout)
	for _, line := range lines {
		out.WriteString(line)
	}
	out.Flush()
}

func read(name string) (t topology) {
	text, err := os.ReadFile(filepath.Join(os.Args[1], name))
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		log.Fatal(err)
	}
	for _, arc := range t.Arcs { // each point is stored as the difference from the last
		var x, y float64
		for i, p := range arc {
			x, y = x+p[0], y+p[1]
			arc[i] = [2]float64{x*t.Transform.Scale[0] + t.Transform.Translate[0], y*t.Transform.Scale[1] + t.Transform.Translate[1]}
		}
	}
	return t
}

func codeOf(g geometry) string {
	if code := codes[g.Properties.Name]; code != "" {
		return code
	}
	number, err := strconv.Atoi(g.ID)
	if err != nil {
		log.Fatalf("%s has no number", g.Properties.Name)
	}
	region, err := language.EncodeM49(number)
	if err != nil {
		log.Fatalf("%s: %v", g.Properties.Name, err)
	}
	return region.String()
}

// rings returns the outlines of a country. Each is a list of arc numbers; ^n is arc n
// in reverse.
func rings(g geometry) (all [][]int) {
	var err error
	if g.Type == "Polygon" {
		err = json.Unmarshal(g.Arcs, &all)
	} else {
		var polygons [][][]int
		err = json.Unmarshal(g.Arcs, &polygons)
		for _, p := range polygons {
			all = append(all, p...)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	return all
}

// corners returns the corners of an outline in degrees. If the outline crosses the
// 180th meridian, its longitudes continue beyond 180.
func (t *topology) corners(ring []int) (corners [][2]float64) {
	for _, n := range ring {
		arc := slices.Clone(t.Arcs[max(n, ^n)])
		if n < 0 {
			slices.Reverse(arc)
		}
		for _, p := range arc {
			if len(corners) > 0 {
				p[0] -= 360 * math.Round((p[0]-corners[len(corners)-1][0])/360)
			}
			corners = append(corners, p)
		}
	}
	return corners
}

// outlines returns the projected corners of an outline. If it crosses the edge of
// the map, it is cut in two.
func (t *topology) outlines(ring []int) (all [][][2]float64) {
	for _, shift := range []float64{-360, 0, 360} {
		corners := t.corners(ring)
		for i := range corners {
			corners[i][0] += shift
		}
		corners = clip(clip(corners, 180, 1), -180, -1)
		for i, p := range corners {
			corners[i] = project(p[0], p[1])
		}
		all = append(all, corners)
	}
	return all
}

// clip removes the part of an outline beyond a meridian. side is 1 to remove the
// part in the east, -1 to remove that in the west.
func clip(corners [][2]float64, edge, side float64) (kept [][2]float64) {
	for i, b := range corners {
		a := corners[(i+len(corners)-1)%len(corners)]
		inA, inB := side*a[0] <= side*edge, side*b[0] <= side*edge
		if inA != inB {
			kept = append(kept, [2]float64{edge, a[1] + (b[1]-a[1])*(edge-a[0])/(b[0]-a[0])})
		}
		if inB {
			kept = append(kept, b)
		}
	}
	return kept
}

func (t *topology) path(g geometry) string {
	var b strings.Builder
	for _, ring := range rings(g) {
		for _, outline := range t.outlines(ring) {
			b.WriteString(pathData(outline))
		}
	}
	return strings.ReplaceAll(b.String(), " -", "-")
}

// pathData returns an outline as SVG path data, or "" if rounding leaves too few
// corners.
func pathData(outline [][2]float64) string {
	var path strings.Builder
	var lastX, lastY, corners int
	for i, p := range outline {
		x, y := int(math.Round(p[0])), int(math.Round(p[1]))
		switch {
		case i == 0:
			fmt.Fprintf(&path, "M%d,%dl", x, y)
		case x == lastX && y == lastY:
			continue
		default:
			corners++
			fmt.Fprintf(&path, "%d,%d ", x-lastX, y-lastY)
		}
		lastX, lastY = x, y
	}
	if corners < 3 {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSpace(path.String()), ",-", "-") + "z"
}

// point returns the centre of the outline with the most corners, as "@X,Y".
func (t *topology) point(g geometry) string {
	var largest [][2]float64
	for _, ring := range rings(g) {
		for _, outline := range t.outlines(ring) {
			if len(outline) > len(largest) {
				largest = outline
			}
		}
	}
	var x, y float64
	for _, p := range largest {
		x, y = x+p[0]/float64(len(largest)), y+p[1]/float64(len(largest))
	}
	return fmt.Sprintf("@%.0f,%.0f", x, y)
}

// project is the Equal Earth projection (Šavrič, Patterson, Jenny 2018). The map
// reaches from the northernmost land to Cape Horn.
func project(lon, lat float64) [2]float64 {
	const a1, a2, a3, a4 = 1.340264, -0.081106, 0.000893, 0.003796
	t := math.Asin(math.Sqrt(3) / 2 * math.Sin(lat*math.Pi/180))
	t2 := t * t
	t6 := t2 * t2 * t2
	x := 2 * math.Sqrt(3) * lon * math.Pi / 180 * math.Cos(t) / (3 * (9*a4*t6*t2 + 7*a3*t6 + 3*a2*t2 + a1))
	y := t * (a1 + a2*t2 + t6*(a3+a4*t2))
	const right, top = 2.70663, 1.3173636 // those of the whole globe
	return [2]float64{(x/right + 1) * width / 2, (top - y) / right * width / 2}
}
