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
	v := &changes{Comparison: c}
	for _, lost := range []struct {
		night     string
		sentences []string
	}{{"previous", c.Old.Lost}, {"new", c.New.Lost}} {
		if len(lost.sentences) > 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("The %s census is damaged or not complete: %s.", lost.night, Shown(lost.sentences[0], 300)))
		}
	}
	notes := doubts(c)
	if c.Compared > 0 {
		notes = append(notes, routine(c))
	}
	for _, note := range notes {
		v.Notes = append(v.Notes, sentence(note))
	}
	var most uint64
	for _, k := range census.Kinds {
		most = max(most, c.Changes[k.Kind]-c.Volatile[k.Kind])
	}
	for _, k := range census.Kinds {
		if n := c.Changes[k.Kind] - c.Volatile[k.Kind]; n > 0 {
			v.Kinds = append(v.Kinds, row{Name: word(k.Kind), Text: k.About, N: n, Most: most})
		}
	}
	games := mostChanged(c)
	v.Hidden = max(0, len(games)-changesByGame)
	for _, id := range games[:min(changesByGame, len(games))] {
		by := c.ByGame[id]
		v.Games = append(v.Games, gameChange{ID: id, New: by["new"], Gone: by["gone"], Back: by["back"], Version: by["version"],
			Rest: sum(by) - by["new"] - by["gone"] - by["back"] - by["version"]})
	}
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

// doubts describes what a comparison could not find out for certain.
func doubts(c *census.Comparison) (all []string) {
	if c.Unknown > 0 {
		all = append(all, console.Plural(c.Unknown, "server")+" may be new, or may be in the missing part of the old census")
	}
	if n := c.Changes["not_asked"]; n > 0 && c.AskedKnown == "" {
		all = append(all, fmt.Sprintf("missing from the new census: %s; it is not known whether the scan queried these servers, so none counts as gone",
			console.Plural(n, "server")))
	}
	if c.LikelyLost != nil && *c.LikelyLost >= 0.5 {
		all = append(all, fmt.Sprintf("the new scan lost datagrams: about %s of the %s that count as gone are probably still there",
			rounded(*c.LikelyLost), console.Plural(c.Changes["gone"], "server")))
	}
	return all
}

// routine sums up the changes that happen all the time: people come and go, and maps rotate.
func routine(c *census.Comparison) string {
	return fmt.Sprintf("%s answered both times: %s came, %s left; %s rotated to another map", console.Plural(c.Compared, "server"),
		console.Plural(c.PeopleMore, "person"), number(c.PeopleFewer), console.Plural(c.MoreMaps, "server"))
}

func sum[K comparable](counts map[K]uint64) (all uint64) {
	for _, n := range counts {
		all += n
	}
	return all
}

// mostChanged returns the games with changes, those with the most changes first.
func mostChanged(c *census.Comparison) []string {
	return slices.SortedFunc(maps.Keys(c.ByGame), func(a, b string) int {
		return cmp.Or(cmp.Compare(sum(c.ByGame[b]), sum(c.ByGame[a])), strings.Compare(a, b))
	})
}
