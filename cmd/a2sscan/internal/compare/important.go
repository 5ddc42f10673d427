package compare

import (
	"cmp"
	"slices"

	"github.com/a2sscan/a2sscan/sink/census"
)

// These limit the changes that Important keeps.
const (
	changesKept = 8 // per game
	gamesKept   = 4000
)

// Important keeps the most important changes of each game: those of the servers with
// the most people. It keeps no changes of KindChallenge, which are only counted.
type Important struct {
	games map[string][]census.Change
}

// Add keeps a change if it is among the most important ones of its game.
func (m *Important) Add(c *census.Change) {
	all := m.games[c.Game]
	full := len(all) == changesKept
	switch {
	case c.Kind == "challenge":
		return
	case full && weight(c) <= weight(&all[len(all)-1]):
		return
	case all == nil && len(m.games) == gamesKept: // so many games have names that strangers made up
		return
	case m.games == nil:
		m.games = map[string][]census.Change{}
	}
	if full {
		all = all[:len(all)-1]
	}
	all = append(all, *c)
	slices.SortStableFunc(all, func(a, b census.Change) int { return cmp.Compare(weight(&b), weight(&a)) })
	m.games[c.Game] = all
}

// Of returns the changes of a game, the most important first.
func (m *Important) Of(game string) []census.Change { return m.games[game] }

// weight returns how important a change is: the number of people on the server plus
// one, times four for the more telling kinds. The other kinds tell less: sooner or
// later most servers get a new version or other rules, and KindNotAsked says nothing
// about a server.
func weight(c *census.Change) uint64 {
	people := uint64(c.People) + 1
	switch c.Kind {
	case "version", "rules", "flags", "not_asked", "players":
		return people
	}
	return 4 * people
}
