package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// The numbers of rows that are always visible. The reader can unfold at most rowsUnfolded
// further rows.
const (
	gamesShown     = 20
	mapsShown      = 15
	modesShown     = 10
	versionsShown  = 15
	countriesShown = 15
	networksShown  = 15
	rowsUnfolded   = 180
)

type groupTable struct {
	Head   string // title of the first column
	Rows   []groupRow
	Folded []groupRow
	Rest   []string // sentences about what the table omits
}

type groupRow struct {
	census.Group
	Context string
	Most    *census.Sums
}

func mostPeople(groups []census.Group) []census.Group {
	sorted := slices.Clone(groups)
	slices.SortStableFunc(sorted, func(a, b census.Group) int {
		return cmp.Or(cmp.Compare(b.People, a.People), cmp.Compare(b.Servers, a.Servers))
	})
	return sorted
}

func withoutFarms(groups []census.Group) []census.Group {
	groups = slices.Clone(groups)
	for i := range groups {
		if g := &groups[i]; g.Farmed != nil {
			g.Servers -= min(g.Servers, g.Farmed.Servers)
			g.Occupied -= min(g.Occupied, g.Farmed.Occupied)
			g.People -= min(g.People, g.Farmed.People)
			g.Bots -= min(g.Bots, g.Farmed.Bots)
			g.Places -= min(g.Places, g.Farmed.Places)
		}
	}
	return groups
}

// newGroupTable returns a table of groups, those with the most people first, or nil if there
// are none. If names, the names of games by ID, is not nil, each row shows the group's
// game. At first, the rows after the first open ones are folded.
func newGroupTable(head string, groups *census.Groups, names map[string]string, open int) *groupTable {
	if len(groups.Top) == 0 {
		return nil
	}
	t := &groupTable{Head: head}
	sorted := mostPeople(groups.Top)
	var most census.Sums
	for _, g := range sorted {
		most.Servers, most.People = max(most.Servers, g.Servers), max(most.People, g.People)
	}
	listed := min(len(sorted), open+rowsUnfolded)
	for _, g := range sorted[:listed] {
		row := groupRow{Group: g, Most: &most}
		switch {
		case names != nil && g.Game != "":
			row.Context = nameOf(names, g.Game)
		case strings.HasPrefix(g.ID, "AS") && g.Name != "":
			row.Context = Shown(g.ID, 20)
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) > open {
		t.Rows, t.Folded = t.Rows[:open], t.Rows[open:]
	}
	t.Rest = rest(strings.ToLower(head), groups, sorted[listed:])
	return t
}

func countries(s *census.Stats) *groupTable {
	named := s.Countries
	named.Top = slices.Clone(named.Top)
	for i := range named.Top {
		g := &named.Top[i]
		g.Name = g.ID
		if region, err := language.ParseRegion(g.ID); err == nil {
			g.Name = display.English.Regions().Name(region)
		}
	}
	return newGroupTable("Country", &named, nil, countriesShown)
}

// rest describes what a table omits: small groups, with the command that lists them, and
// servers whose group is not known. word is one of GroupWords, and cut has the groups that
// are in the stats, but not in the table.
func rest(word string, groups *census.Groups, cut []census.Group) (all []string) {
	other := groups.Other
	for _, g := range cut {
		other.Servers, other.People = other.Servers+g.Servers, other.People+g.People
	}
	if other.Servers > 0 {
		n := groups.Distinct - uint64(len(groups.Top)) + uint64(len(cut))
		all = append(all, fmt.Sprintf("Not listed here: %s more, with %s and %s. To list all: a2sscan stats CENSUS --by %s --top %d",
			number(n), console.Plural(other.Servers, "server"), console.Plural(other.People, "person"), word, groups.Distinct))
	}
	if u := groups.Unknown; u.Servers > 0 {
		all = append(all, fmt.Sprintf("Not known: %s, %s.", console.Plural(u.Servers, "server"), console.Plural(u.People, "person")))
	}
	return all
}

// part is a segment of a divided bar. It shows N of All servers or people; Unit says
// which. Before is the sum of N over the segments before this one.
type part struct {
	Class, Name    string
	Before, N, All uint64
	Unit           string
}

// divide returns the segments for the counts of names. If they do not add up to all, a last
// segment called rest has the others.
func divide(all uint64, unit, rest string, names []string, counts []uint64) (parts []part) {
	var before uint64
	for i, name := range names {
		parts = append(parts, part{fmt.Sprintf("s%d", i), name, before, counts[i], all, unit})
		before += counts[i]
	}
	if before < all {
		parts = append(parts, part{"rest", rest, before, all - before, all, unit})
	}
	return parts
}

const gamesInPicture = 7

// peopleByGame divides the people by game, without farms. If nobody plays, it returns nil.
func peopleByGame(s *census.Stats) []part {
	var names []string
	var counts []uint64
	for _, g := range mostPeople(withoutFarms(s.Games.Top)) {
		if len(names) < gamesInPicture && g.People > 0 {
			names, counts = append(names, named(g.Name, g.ID)), append(counts, g.People)
		}
	}
	return divide(s.WithoutFarms.People, "people", "All other games", names, counts)
}

var systemNames = map[string]string{"linux": "Linux", "windows": "Windows", "mac": "macOS"}

const systemsInBar = 6

func systems(s *census.Stats) []part {
	var names []string
	var counts []uint64
	for _, g := range s.Systems.Top[:min(systemsInBar, len(s.Systems.Top))] {
		names = append(names, cmp.Or(systemNames[g.Name], named(g.Name, g.ID)))
		counts = append(counts, g.Servers)
	}
	return divide(total(s.Systems.Top).Servers, "servers", "Other systems", names, counts)
}
