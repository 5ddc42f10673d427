package report

import (
	"cmp"
	"slices"

	"github.com/a2sscan/a2sscan/sink/census"
)

const (
	changesKept = 8 // maximum number of changes of a game
	gamesKept   = 4000
)

// Important has the most important changes of each game: see weight. It ignores changes of
// kind "challenge".
type Important struct {
	games map[string][]census.Change
}

// Add stores a change if it is among the most important changes of its game.
func (m *Important) Add(c *census.Change) {
	all := m.games[c.Game]
	full := len(all) == changesKept
	switch {
	case c.Kind == "challenge":
		return
	case full && weight(c) <= weight(&all[len(all)-1]):
		return
	case all == nil && len(m.games) == gamesKept: // limits the number of games, because strangers may invent games
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

// weight returns how important a change is: the number of people on the server plus one,
// times a factor. The factor is largest if a server is new, gone or back. It is smallest
// for changes that most servers make sooner or later, such as a new version.
func weight(c *census.Change) uint64 {
	people := uint64(c.People) + 1
	switch {
	case slices.Contains([]census.Kind{"version", "map", "rules", "flags", "not_asked", "players"}, c.Kind):
		return people
	case WholeServer(c.Kind):
		return 16 * people
	}
	return 4 * people
}
