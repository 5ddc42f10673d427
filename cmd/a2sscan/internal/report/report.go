package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/compare"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report/chart"
	"github.com/a2sscan/a2sscan/sink/census"
)

// MaxSize is about how long a page may be, in bytes: the list of servers is cut so that
// it fits.
const MaxSize = 3_000_000

// Input is what a page shows.
type Input struct {
	Title   string   // empty: the date
	Program string   // name and version
	Files   []string // of the census

	Stats   *census.Stats
	Before  *Before            // the census before; nil: not known
	Changes *census.Comparison // nil: not known

	Important compare.Important // single changes
	History   *History          // nil: only this night
	Servers   *Servers          // nil: the page lists none
}

// Before is what the headline numbers are compared with.
type Before struct {
	census.Sums
	Games uint64 // 0: not known
}

//go:embed page.html page.css page.js
var files embed.FS

var (
	style  = mustRead("page.css")
	script = mustRead("page.js")
	layout = template.Must(template.Must(template.New("").ParseFS(chart.Templates, "*.html")).ParseFS(files, "page.html"))
)

// mustRead returns an embedded file.
func mustRead(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// policy is the page's Content-Security-Policy. The icon is an empty data URL, which
// keeps browsers from asking a server for one.
func policy() string {
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}

// hash is a source expression for a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Written describes a page.
type Written struct {
	Bytes   int64
	Listed  int    // servers in the table
	Servers uint64 // that answered
}

// Write writes the page.
func Write(w io.Writer, in *Input) (Written, error) {
	p := newPage(in)
	rest := &counter{w: io.Discard}
	if err := layout.ExecuteTemplate(rest, "page", p); err != nil {
		return Written{}, err
	}
	p.Servers = in.Servers.table(MaxSize-rest.n, in.Stats)
	out := &counter{w: w}
	err := layout.ExecuteTemplate(out, "page", p)
	return Written{Bytes: out.n, Listed: p.Servers.Listed, Servers: in.Stats.All.Servers}, err
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// page is what the template shows.
type page struct {
	Policy string
	Style  template.CSS
	Script template.JS

	Title, Program string
	When           string
	Files          []string
	Lead           string
	Licence        string // of the map
	Trust          []statement
	Tiles          []tile

	Changes   *changes
	History   *historyView
	Games     *groupTable
	Maps      *groupTable
	Modes     *groupTable
	Versions  []versionView
	Systems   *systems
	Places    *places
	Numbers   []distribution
	Suspicion *suspicion
	Health    *health
	Servers   serverTable
}

// newPage computes everything but the list of servers.
func newPage(in *Input) *page {
	s := in.Stats
	names := gameNames(s)
	return &page{
		Policy: policy(), Style: template.CSS(style), Script: template.JS(script),
		Title: title(in), Program: in.Program, When: when(s), Files: fileNames(in.Files),
		Lead: lead(s), Licence: chart.WorldLicence, Trust: trust(s), Tiles: tiles(in),
		Changes:   newChanges(in, names),
		History:   in.History.view(s, names),
		Games:     newGroupTable("Game", &s.Games, nil, gamesShown),
		Maps:      newGroupTable("Map", &s.Maps, names, mapsShown),
		Modes:     newGroupTable("Mode", &s.Modes, names, modesShown),
		Versions:  in.History.versions(s),
		Systems:   newSystems(s),
		Places:    newPlaces(s),
		Numbers:   distributions(s),
		Suspicion: newSuspicion(s, names),
		Health:    newHealth(s),
	}
}

// night returns the time of a census: when the scan began, or its first record.
func night(s *census.Stats) time.Time {
	switch {
	case s.Run != nil && !s.Run.Start.IsZero():
		return s.Run.Start.UTC()
	case s.First != nil:
		return s.First.UTC()
	}
	return time.Time{}
}

// gameNames maps the ID of each game to its name.
func gameNames(s *census.Stats) map[string]string {
	names := map[string]string{"": "Unknown game"}
	for _, g := range s.Games.Top {
		names[g.ID] = named(g.Name)
	}
	return names
}

// nameOf is the name of a game, or its ID.
func nameOf(names map[string]string, id string) string {
	if name, ok := names[id]; ok {
		return name
	}
	return named(id)
}
