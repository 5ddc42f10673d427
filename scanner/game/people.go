package game

import (
	"strings"

	"github.com/a2sscan/a2sscan/wire"
)

// Most games count bots among INFO's players; some do not. The player list contains the
// bots. So if it has as many entries as INFO has players, INFO's players include the bots.
// KeyPlayers is then not set, and the number of people is INFO's players minus its bots.
// If the bots must not be subtracted, KeyPlayers is set, with one of these sources.
const (
	// The list has as many entries as INFO has players and bots together, so INFO's
	// players are people (CoD4X). This conclusion is wrong if the list has as many ghosts
	// or relays as there are bots (ARK, Squad, HLTV on Counter-Strike). In Rust, the
	// source means that the list confirms INFO's count, and the keywords contradict both.
	sourceListed = "info.players+list"
	// The game counts people only, or nothing shows what it counts: subtracting the
	// bots might remove people.
	sourceInfo = "info.players"
)

// countPeople sets KeyPlayers if INFO reports bots and does not count the bots among its
// players. It also sets KeyPlayers if neither the list nor the game's table t shows
// whether INFO counts the bots. t may be nil. Relays have neither people nor bots (EC-33).
func (g *Game) countPeople(t *table, in *Reply) {
	const needed = wire.HasPlayers | wire.HasBots
	i := in.Info
	if i.Has&needed != needed || i.Bots == 0 || i.IsRelay() || g.Has.Has(KeyPlayers) || g.Has.Has(KeyBots) {
		return
	}
	source := sourceInfo
	switch listed := len(in.Players); {
	case in.HasPlayers && !in.PlayersCut && listed == int(i.Players)+int(i.Bots):
		source = sourceListed
	case in.HasPlayers && !in.PlayersCut && listed == int(i.Players):
		return
	case t != nil && t.countsBots:
		return
	}
	g.Players = int(i.Players)
	g.Has |= 1 << KeyPlayers
	g.Sources[KeyPlayers] = source
}

// People returns the number of people on a server that is not a relay: the number in g or,
// if g has none, INFO's players minus its bots. g may be nil.
func (g *Game) People(in *wire.Info) int {
	if g != nil && g.Has.Has(KeyPlayers) {
		return g.Players
	}
	return max(int(in.Players)-int(in.Bots), 0)
}

// Corrects reports whether g has a number for k that is not INFO's own.
func (g *Game) Corrects(k Key) bool {
	return g.Has.Has(k) && !strings.HasPrefix(g.Sources[k], sourceInfo)
}
