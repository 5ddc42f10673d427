package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/sink/census"
)

// MaxSize is the approximate maximum size of a page in bytes. Write shortens the list
// of servers to fit.
const MaxSize = 3_000_000

// Input is the content of a page.
type Input struct {
	Title   string   // empty means a title with the date
	Program string   // name and version of the program
	Files   []string // files of the census

	Stats   *census.Stats
	Before  *pastNight         // the numbers to compare with; nil if not known
	Changes *census.Comparison // nil if not known

	Important Important // single changes to list
	History   History   // of several nights, or the page has none
	Servers   *Servers
}

// uPlot 1.6.32 (MIT, see uplot/LICENSE) draws the charts. It has zoom, hover and a live
// legend in 50 kB, without dependencies.
//
//go:embed page.html page.css charts.js page.js uplot/uPlot.iife.min.js uplot/uPlot.min.css
var files embed.FS

// Style and Charts return the style and the script that all pages of the program share.
// Only their first call builds the text, so that commands without a page start faster. In
// a page, each element of class "plot" contains a timeline as JSON. The script draws it as
// a chart in the element, and adds the chart to its array "charts".
var (
	Style  = embedded("uplot/uPlot.min.css", "page.css")
	Charts = embedded("uplot/uPlot.iife.min.js", "charts.js")
	script = embedded("uplot/uPlot.iife.min.js", "charts.js", "page.js")
	layout = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(functions).ParseFS(files, "page.html"))
	})
)

func embedded(names ...string) func() string {
	return sync.OnceValue(func() (all string) {
		for _, name := range names {
			text, err := files.ReadFile(name)
			if err != nil {
				panic(err)
			}
			all += string(text)
		}
		return all
	})
}

// Hash returns the CSP source expression for an inline script or style.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write writes the page, and returns its size and the number of servers in its table. It first
// makes the page without this table, to see how much room is left.
func Write(w io.Writer, in *Input) (size, listed int, err error) {
	s, names := in.Stats, gameNames(in.Stats)
	p := &page{
		// The page has an empty data URL as its icon. Without an icon, browsers would
		// request one from a server.
		Policy: "default-src 'none'; script-src " + Hash(script()) + "; style-src " + Hash(Style()) +
			"; img-src data:; base-uri 'none'; form-action 'none'",
		Style: template.CSS(Style()), Script: template.JS(script()),
		Title: title(in), Program: in.Program, Lead: lead(in), Files: in.Files, Stats: s, Names: names, Tiles: tiles(in), People: peopleByGame(s),
		Changes:   newChanges(in),
		History:   in.History.view(s, names),
		Games:     newGroupTable("Game", &s.Games, nil, gamesShown),
		Maps:      newGroupTable("Map", &s.Maps, names, mapsShown),
		Modes:     newGroupTable("Mode", &s.Modes, names, modesShown),
		Countries: countries(s),
		Networks:  newGroupTable("Network", &s.Networks, nil, networksShown),
		Versions:  newGroupTable("Version", &s.Versions, names, versionsShown),
		Adoption:  in.History.versions(s, names),
		Systems:   systems(s),
		Suspects:  in.Servers.suspectLists(s),
	}
	var b bytes.Buffer
	if err := layout().ExecuteTemplate(&b, "page", p); err != nil {
		return 0, 0, err
	}
	p.Servers = in.Servers.table(int64(MaxSize-b.Len()), s)
	b.Reset()
	err = layout().ExecuteTemplate(&b, "page", p)
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	return b.Len(), p.Servers.Listed, err
}

// page is the data of the template. The template also reads values from Stats directly.
type page struct {
	Policy string
	Style  template.CSS
	Script template.JS

	Title, Program, Lead string
	Files                []string
	Stats                *census.Stats
	Names                map[string]string // names of games by ID
	Tiles                []tile
	People               []part // people by game

	Changes  *changes
	History  *historyView
	Adoption []versionChart

	Games, Maps, Modes, Versions *groupTable
	Countries, Networks          *groupTable
	Systems                      []part
	Suspects                     []suspectList
	Servers                      serverTable
}

// night returns the time of a census: the start of the scan or, if that is not known,
// the time of the first record. It returns the zero time if neither is known.
func night(s *census.Stats) time.Time {
	switch {
	case s.Run != nil && !s.Run.Start.IsZero():
		return s.Run.Start.UTC()
	case s.First != nil:
		return s.First.UTC()
	}
	return time.Time{}
}

func gameNames(s *census.Stats) map[string]string {
	names := map[string]string{"": "Unknown game"}
	for _, g := range s.Games.Top {
		names[g.ID] = named(g.Name)
	}
	return names
}

func nameOf(names map[string]string, id string) string {
	if name, ok := names[id]; ok {
		return name
	}
	return named(id)
}
