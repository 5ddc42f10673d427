package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// The page counts the changes of at most changesByGame games, and lists at most
// changesOfGame changes of each.
const (
	changesByGame = 12
	changesOfGame = 5
)

type changes struct {
	*census.Comparison
	Kinds  []row
	Games  []gameChange
	Hidden int // number of games that the page does not show
	Single []singleChange
	Notes  []string
}

type gameChange struct {
	ID                             string
	New, Gone, Back, Version, Rest uint64
	all                            uint64
}

type singleChange struct {
	*census.Change
	People     uint64
	Word, What string
}

func word(k census.Kind) string {
	text := Shown(KindText(k), 20)
	first := min(1, len(text))
	return strings.ToUpper(text[:first]) + text[first:]
}

func newChanges(in *Input) *changes {
	c := in.Changes
	if c == nil {
		return nil
	}
	v := &changes{Comparison: c, Notes: changeNotes(c)}
	var most uint64
	for _, k := range census.Kinds {
		most = max(most, c.Changes[k.Kind]-c.Volatile[k.Kind])
	}
	for _, k := range census.Kinds {
		if n := c.Changes[k.Kind] - c.Volatile[k.Kind]; n > 0 {
			v.Kinds = append(v.Kinds, row{Name: word(k.Kind), Text: k.About, N: n, Most: most})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.ByGame)) {
		by := c.ByGame[id]
		g := gameChange{ID: id, New: by["new"], Gone: by["gone"], Back: by["back"], Version: by["version"]}
		for kind, n := range by {
			if kind != "players" {
				g.all += n
			}
		}
		g.Rest = g.all - g.New - g.Gone - g.Back - g.Version
		v.Games = append(v.Games, g)
	}
	slices.SortStableFunc(v.Games, func(a, b gameChange) int { return cmp.Compare(b.all, a.all) })
	v.Hidden = max(0, len(v.Games)-changesByGame)
	v.Games = v.Games[:min(changesByGame, len(v.Games))]
	for _, g := range v.Games {
		important := in.Important.Of(g.ID)
		for _, c := range important[:min(changesOfGame, len(important))] {
			one := singleChange{Change: &c, People: uint64(c.People), Word: word(c.Kind)}
			if !WholeServer(c.Kind) {
				one.What = Shown(Detail(&c), detailShown)
			}
			v.Single = append(v.Single, one)
		}
	}
	return v
}

const detailShown = 160

// changeNotes returns notes on the limits of the comparison, on servers that count as gone
// although the scan probably only missed them, and on routine changes.
func changeNotes(c *census.Comparison) (notes []string) {
	for _, night := range []struct {
		name string
		lost []string
	}{{"previous", c.Old.Lost}, {"new", c.New.Lost}} {
		if len(night.lost) > 0 {
			notes = append(notes, fmt.Sprintf("The %s census is damaged or not complete: %s.", night.name, Shown(night.lost[0], 300)))
		}
	}
	if c.Unknown > 0 {
		notes = append(notes, fmt.Sprintf("Not counted as new: %s, which may be in the missing part of the previous census.", console.Plural(c.Unknown, "server")))
	}
	if c.AskedKnown == "" {
		notes = append(notes, "It is not known which servers the scan queried, so the report counts no server as gone.")
	}
	if gone := c.Changes["gone"]; gone > 0 && c.LikelyLost != nil && *c.LikelyLost >= 0.5 {
		notes = append(notes, fmt.Sprintf("Of the servers that count as gone (%s), about %s are probably still there: the scan missed them because datagrams were lost.",
			number(gone), rounded(*c.LikelyLost)))
	}
	if c.Compared > 0 {
		notes = append(notes, fmt.Sprintf("%s answered both times: %s came, %s left, and %s rotated to another map.",
			console.Plural(c.Compared, "server"), console.Plural(c.PeopleMore, "person"), number(c.PeopleFewer), console.Plural(c.MoreMaps, "server")))
	}
	return notes
}
