package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// The first rows of a table are always visible. The reader can unfold at most
// rowsUnfolded others.
const (
	gamesShown     = 20
	mapsShown      = 15
	modesShown     = 10
	countriesShown = 15
	networksShown  = 15
	rowsUnfolded   = 180 // rows of a table that the reader can unfold
)

// groupRow is a row about one group in a table.
type groupRow struct {
	Name, Context         string
	Servers, ServersWidth string
	People, PeopleWidth   string
	Bots, Fill            string
	WithoutFarms          string // people without farms; empty: no server of the group is in a farm
}

// groupTable is a table of groups, such as games, maps or networks.
type groupTable struct {
	Head   string // title of the first column
	Rows   []groupRow
	Folded []groupRow
	Rest   []string // sentences about what the table omits
}

// mostPeople returns the groups sorted by people, then by servers.
func mostPeople(groups []census.Group) []census.Group {
	sorted := slices.Clone(groups)
	slices.SortStableFunc(sorted, func(a, b census.Group) int {
		return cmp.Or(cmp.Compare(b.People, a.People), cmp.Compare(b.Servers, a.Servers))
	})
	return sorted
}

// newGroupTable returns a table of groups, with the most people first, or nil if there
// are no groups. The first open rows are visible; the reader can unfold the others. If
// names is not nil, it maps the IDs of games to their names, and each row shows the
// name of the group's game.
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
	for i, g := range sorted {
		if i >= open+rowsUnfolded {
			break
		}
		row := newGroupRow(&g, most)
		switch {
		case names != nil && g.Game != "":
			row.Context = nameOf(names, g.Game)
		case strings.HasPrefix(g.ID, "AS") && g.Name != "":
			row.Context = Shown(g.ID, 20)
		}
		if i < open {
			t.Rows = append(t.Rows, row)
		} else {
			t.Folded = append(t.Folded, row)
		}
	}
	t.Rest = rest(groups, sorted[min(len(sorted), open+rowsUnfolded):])
	return t
}

// newGroupRow returns a row. The lengths of its bars are relative to most.
func newGroupRow(g *census.Group, most census.Sums) groupRow {
	row := groupRow{
		Name:    named(cmp.Or(g.Name, g.ID)),
		Servers: number(g.Servers), ServersWidth: width(g.Servers, most.Servers),
		People: number(g.People), PeopleWidth: width(g.People, most.People),
		Bots: number(g.Bots), Fill: percent(g.People, g.Places),
	}
	if g.Farmed != nil && g.Farmed.Servers > 0 {
		row.WithoutFarms = number(g.People - min(g.People, g.Farmed.People))
	}
	return row
}

// rest describes what a table omits: small groups, and servers whose group is not
// known. cut are groups that the stats list but the table does not.
func rest(groups *census.Groups, cut []census.Group) (all []string) {
	other := groups.Other
	for _, g := range cut {
		other.Servers, other.People = other.Servers+g.Servers, other.People+g.People
	}
	if other.Servers > 0 {
		n := groups.Distinct - uint64(len(groups.Top)) + uint64(len(cut))
		all = append(all, fmt.Sprintf("%s more: %s, %s.", number(n), console.Plural(other.Servers, "server"), console.Plural(other.People, "person")))
	}
	if u := groups.Unknown; u.Servers > 0 {
		all = append(all, fmt.Sprintf("Not known: %s, %s.", console.Plural(u.Servers, "server"), console.Plural(u.People, "person")))
	}
	return all
}

// systems is the section about the operating systems of servers.
type systems struct {
	Parts []part
	Rest  []string
}

// part is a segment of a divided bar.
type part struct {
	Class, Name   string
	X, Width, Tip string
	Count, Share  string
}

// systemNames maps the operating systems of records to their names.
var systemNames = map[string]string{"linux": "Linux", "windows": "Windows", "mac": "macOS"}

func newSystems(s *census.Stats) *systems {
	var all uint64
	for _, g := range s.Systems.Top {
		all += g.Servers
	}
	if all == 0 {
		return nil
	}
	v := &systems{Rest: rest(&s.Systems, nil)}
	var before uint64
	for i, g := range s.Systems.Top[:min(6, len(s.Systems.Top))] {
		name := cmp.Or(systemNames[g.Name], systemNames[g.ID], named(cmp.Or(g.Name, g.ID)))
		v.Parts = append(v.Parts, newPart(fmt.Sprintf("s%d", i), name, before, g.Servers, all))
		before += g.Servers
	}
	return v
}

// newPart returns the segment for n servers of all, after those before it.
func newPart(class, name string, before, n, all uint64) part {
	return part{
		Class: class, Name: name, X: width(before, all), Width: width(n, all),
		Count: number(n), Share: percent(n, all),
		Tip: fmt.Sprintf("%s: %s servers (%s)", name, number(n), percent(n, all)),
	}
}
