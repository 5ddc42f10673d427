package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/census"
)

// These limit how many farms, members of a farm, and stacks the page shows.
const (
	farmsShown   = 20
	membersShown = 5
	stacksShown  = 10
)

// suspicion is the section about farms and flags.
type suspicion struct {
	With   []comparison // sums with and without farms
	Found  string       // number of farms, with the noun
	Farms  []farmRow
	Hidden uint64 // number of farms that the table omits
	Flags  []flagRow
	Stacks []stackRow
}

// comparison compares a sum with the same sum without farms.
type comparison struct{ Name, With, Without, Share string }

// farmRow is a row about one farm.
type farmRow struct {
	Name, Game, Reasons          string
	Servers, People              string
	Addresses, Networks, Members string
	Evidence                     []string
}

// flagRow is a row about one flag.
type flagRow struct{ Word, Servers, Share, Rule, Innocent string }

// stackRow is a row about an address or network with many servers.
type stackRow struct{ Network, Servers, People string }

func newSuspicion(s *census.Stats, names map[string]string) *suspicion {
	v := &suspicion{Found: console.Plural(s.Farms.Found, "farm"), Flags: flagRows(s)}
	if s.Farms.Found > 0 {
		a, w := s.All, s.WithoutFarms
		v.With = []comparison{
			compared("Servers", a.Servers, w.Servers), compared("People", a.People, w.People),
			compared("Bots", a.Bots, w.Bots), compared("Places", a.Places, w.Places),
		}
	}
	for _, f := range s.Farms.Top[:min(farmsShown, len(s.Farms.Top))] {
		v.Farms = append(v.Farms, newFarmRow(&f, names))
	}
	v.Hidden = s.Farms.Found - min(s.Farms.Found, uint64(len(v.Farms)))
	for _, k := range s.Stacks[:min(stacksShown, len(s.Stacks))] {
		v.Stacks = append(v.Stacks, stackRow{Shown(k.Network, 40), number(k.Servers), number(k.People)})
	}
	return v
}

func compared(name string, with, without uint64) comparison {
	return comparison{name, number(with), number(without), percent(with-min(with, without), with)}
}

// reasons describes the reasons for which servers count as a farm.
var reasons = map[string]string{"clones": "clones", "shared_list": "shared player list"}

func newFarmRow(f *census.Farm, names map[string]string) farmRow {
	r := farmRow{
		Name: named(f.Name), Game: nameOf(names, f.Game), Servers: number(f.Servers), People: number(f.People),
		Addresses: number(f.Addresses), Networks: number(f.Networks),
	}
	var words []string
	for _, reason := range f.Reasons {
		words = append(words, cmp.Or(reasons[reason], Shown(reason, 40)))
	}
	r.Reasons = joined(words)
	for _, e := range f.Evidence {
		r.Evidence = append(r.Evidence, Shown(e, 300))
	}
	for i, m := range f.Members[:min(membersShown, len(f.Members))] {
		if i > 0 {
			r.Members += ", "
		}
		r.Members += Shown(m, 40)
	}
	return r
}

// flagRows returns the flags that servers have, the most frequent first.
func flagRows(s *census.Stats) (rows []flagRow) {
	words := slices.SortedFunc(maps.Keys(s.Flags), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Flags[b], s.Flags[a]), cmp.Compare(a, b))
	})
	for _, word := range words {
		n := s.Flags[word]
		if n == 0 {
			continue
		}
		row := flagRow{Word: Shown(word, 40), Servers: number(n), Share: percent(n, s.All.Servers)}
		for _, rule := range game.FlagRules {
			if rule.Word == word {
				row.Rule, row.Innocent = sentence(rule.Meaning()), sentence(rule.Innocent)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// sentence changes the first letter to a capital and appends a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	if s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	return s + "."
}
