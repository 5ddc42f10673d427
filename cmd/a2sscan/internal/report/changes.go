package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/compare"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// These limit how many changes the page shows.
const (
	changesByGame = 12 // games in the table of changes
	changesOfGame = 5  // single changes listed for each game
)

// kinds describes the kinds of changes, in the order of the page.
var kinds = []struct {
	kind       census.Kind
	name, text string
}{
	{"new", "New", "answered this time; the census before has no record of them"},
	{"gone", "Gone", "answered before; were asked again, and were silent"},
	{"not_asked", "Not asked", "answered before; are not known to have been asked again"},
	{"back", "Back", "were silent before, and answered this time"},
	{"moved", "Moved", "left one address and appeared at another"},
	{"renamed", "Renamed", "have another name"},
	{"map", "Map", "run another map, in games that keep theirs"},
	{"version", "Version", "run another version"},
	{"capacity", "Capacity", "have another number of places"},
	{"mode", "Mode", "run another mode"},
	{"mods", "Mods", "have other mods"},
	{"rules", "Rules", "have other rules; times and counters are not compared"},
	{"flags", "Flags", "gained or lost a flag"},
	{"challenge", "Challenge", "began or stopped demanding a challenge; counted, never listed"},
	{"farm", "Farm", "joined or left a farm"},
}

// changes is the section about changes since the previous census.
type changes struct {
	Since  string
	Kinds  []changeRow
	Games  []gameChange
	Hidden int // games not in the table
	Single []singleChange
	Notes  []string
}

// changeRow is a row about one kind of change.
type changeRow struct{ Name, Text, Count, Width string }

// gameChange is a row about the changes in one game.
type gameChange struct {
	Name                           string
	New, Gone, Back, Version, Rest string

	id    string
	total uint64
}

// singleChange is a change of one server.
type singleChange struct {
	Game, Kind   string
	Server, Addr string
	People, What string
}

func newChanges(in *Input, names map[string]string) *changes {
	c := in.Changes
	if c == nil {
		return nil
	}
	v := &changes{Since: fmt.Sprintf("%s before, %s now; %s without any change.",
		console.Plural(c.Old.All.Servers, "server"), number(c.New.All.Servers), number(c.Same))}
	var most uint64
	for _, k := range kinds {
		most = max(most, c.Stable(k.kind))
	}
	for _, k := range kinds {
		if n := c.Stable(k.kind); n > 0 {
			v.Kinds = append(v.Kinds, changeRow{k.name, k.text, number(n), width(n, most)})
		}
	}
	v.addGames(c, names)
	for _, g := range v.Games {
		v.addSingle(g.Name, in.Important.Of(g.id))
	}
	v.Notes = changeNotes(c)
	return v
}

// addGames fills the table of the games with the most changes.
func (v *changes) addGames(c *census.Comparison, names map[string]string) {
	for _, id := range slices.Sorted(maps.Keys(c.ByGame)) {
		by := c.ByGame[id]
		g := gameChange{
			id: id, Name: nameOf(names, id), New: number(by["new"]), Gone: number(by["gone"]),
			Back: number(by["back"]), Version: number(by["version"]),
		}
		for _, k := range kinds {
			g.total += by[k.kind]
		}
		g.Rest = number(g.total - by["new"] - by["gone"] - by["back"] - by["version"])
		v.Games = append(v.Games, g)
	}
	slices.SortStableFunc(v.Games, func(a, b gameChange) int { return cmp.Compare(b.total, a.total) })
	v.Hidden = max(0, len(v.Games)-changesByGame)
	v.Games = v.Games[:min(changesByGame, len(v.Games))]
}

// addSingle adds the most important changes of a game.
func (v *changes) addSingle(game string, all []census.Change) {
	for _, c := range all[:min(changesOfGame, len(all))] {
		one := singleChange{
			Game: game, Kind: Shown(string(c.Kind), 20), Server: named(c.Name), Addr: Shown(c.Addr, 40), People: number(uint64(c.People)),
		}
		for _, known := range kinds {
			if known.kind == c.Kind {
				one.Kind = known.name
			}
		}
		if !compare.WholeServer(c.Kind) {
			one.What = Shown(compare.Detail(&c), detailShown)
		}
		if c.LikelyLoss {
			one.Kind += " (likely loss)"
		}
		v.Single = append(v.Single, one)
	}
}

// detailShown is the maximum number of characters of a change's detail on the page.
const detailShown = 160

// changeNotes returns notes on what the comparison can't tell, on how many of the
// servers that are gone were probably missed, and on changes that happen all the time.
func changeNotes(c *census.Comparison) (notes []string) {
	for _, night := range []struct {
		name string
		lost []string
	}{{"before", c.Old.Lost}, {"of now", c.New.Lost}} {
		if len(night.lost) > 0 {
			notes = append(notes, fmt.Sprintf("The census %s is damaged or cut: %s.", night.name, Shown(night.lost[0], 300)))
		}
	}
	if c.Unknown > 0 {
		notes = append(notes, fmt.Sprintf("%s may be in what the census before lacks, so they are not called new.", console.Plural(c.Unknown, "server")))
	}
	if c.AskedKnown == "" {
		notes = append(notes, "It is not known which servers were asked, so none is called gone.")
	}
	if gone := c.Changes["gone"]; gone > 0 && c.LikelyLost != nil && *c.LikelyLost >= 0.5 {
		notes = append(notes, fmt.Sprintf("Of the %s gone, about %s are probably still there: the scan missed them because datagrams were lost.",
			number(gone), rounded(*c.LikelyLost)))
	}
	if c.Compared > 0 {
		notes = append(notes, fmt.Sprintf("%s answered both times: those that gained people gained %s, the others lost %s; %s changed their map as their game does.",
			console.Plural(c.Compared, "server"), number(c.PeopleMore), number(c.PeopleFewer), number(c.MoreMaps)))
	}
	return notes
}
