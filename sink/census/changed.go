package census

import (
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Kind is the word for a kind of change, such as "new". Kinds lists all kinds. Changes of
// the kind "players" are volatile. In games that rotate their maps, a change of the kind
// "map" is volatile, too, and so is a change of the kind "mode" that comes with it. Diff
// counts volatile changes, but reports them only if its caller asks for volatile changes
// or for their kind.
type Kind string

// Kinds lists all kinds, in the order in which the changes of one server are reported. About
// describes the servers that have a change of the kind.
var Kinds = []struct {
	Kind
	About string
}{
	{"new", "servers that answer now and have no record in the old census"},
	{"gone", "servers that answered before, but were silent when queried again"},
	{"not_asked", "servers that answered before, and may not have been queried again"},
	{"back", "servers that were silent before and answer now"},
	{"moved", "servers that left one address and appeared at another"},
	{"renamed", "servers with another name than before"},
	{"map", "servers with another map than before (only games that do not rotate maps)"},
	{"version", "servers with another version than before"},
	{"capacity", "servers with another number of player slots than before"},
	{"mode", "servers with another game mode than before"},
	{"mods", "servers with other mods than before"},
	{"rules", "servers with other rules than before; times and counters are not compared"},
	{"flags", "servers that gained or lost a flag"},
	{"challenge", "servers that began or stopped demanding a challenge; a2sscan counts these servers, but never lists them"},
	{"farm", "servers that joined or left a farm"},
	{"players", "servers with another number of people than before"},
}

// kinds is a set of kinds: a bit for each element of Kinds.
type kinds uint32

const ( // in the order of Kinds
	kindNew kinds = 1 << iota
	kindGone
	kindNotAsked
	kindBack
	kindMoved
	kindRenamed
	kindMap
	kindVersion
	kindCapacity
	kindMode
	kindMods
	kindRules
	kindFlags
	kindChallenge
	kindFarm
	kindPlayers
)

// bit returns the set of one kind, or 0 if there is no such kind.
func (k Kind) bit() kinds {
	for i, known := range Kinds {
		if known.Kind == k {
			return 1 << i
		}
	}
	return 0
}

func (set kinds) list() (all []Kind) {
	for i, k := range Kinds {
		if set&(1<<i) != 0 {
			all = append(all, k.Kind)
		}
	}
	return all
}

// lastingFlags are the flags that do not come and go with the state of the network.
const lastingFlags = 1<<len(game.FlagRules) - 1 - (game.FlagEdgeAnswers | game.FlagConflict)

// persistentGames are the games that keep a map for weeks. In these games a new map is not
// a rotation.
var persistentGames = map[string]bool{
	"rust": true, "ark": true, "dayz": true, "conan": true, "valheim": true, "7dtd": true, "unturned": true,
	"zomboid": true, "vrising": true, "soulmask": true,
}

// Changed returns the kinds of changes between two records of a server that answered both
// times. A property counts as unchanged if it is unknown in one of the records, or if the
// records have it from different sources. Changed returns the kinds of changes that happen
// all the time as volatile, and all other kinds as lasting.
func Changed(before, after *Server) (lasting, volatile []Kind) {
	changed, v := changes(before, after)
	return (changed &^ v).list(), v.list()
}

func changes(a, b *Server) (changed, volatile kinds) {
	// sourced reports whether both records have a property, from the same source.
	sourced := func(field wire.Fields, key game.Key) bool {
		return a.knows(field, key) && b.knows(field, key) && a.own.Has(key) == b.own.Has(key)
	}
	complete := a.replies.complete & b.replies.complete
	for _, property := range [...]struct {
		kind   kinds
		differ bool
	}{
		{kindRenamed, a.Name != b.Name && a.fields&b.fields&wire.HasName != 0},
		{kindMap, a.Map != b.Map && sourced(wire.HasMap, game.KeyMap)},
		{kindVersion, a.Version != b.Version && sourced(wire.HasVersion, game.KeyVersion)},
		{kindCapacity, a.MaxPlayers != b.MaxPlayers && sourced(wire.HasMaxPlayers, game.KeyMaxPlayers)},
		{kindMode, a.Mode != b.Mode && sourced(0, game.KeyMode)},
		{kindMode, a.pvp != b.pvp && sourced(0, game.KeyPVP)},
		{kindMods, a.hashes.mods != b.hashes.mods && a.modsKnown(b) && b.modsKnown(a)},
		{kindRules, a.hashes.rules != b.hashes.rules && complete.Has(wire.QuestionRules)},
		{kindFlags, (a.Flags^b.Flags)&lastingFlags != 0 && a.replies.complete == b.replies.complete},
		{kindChallenge, complete&(a.replies.open^b.replies.open) != 0},
		{kindPlayers, a.People != b.People && sourced(wire.HasPlayers, game.KeyPlayers)},
	} {
		if property.differ {
			changed |= property.kind
		}
	}
	volatile = changed & kindPlayers
	if changed&kindMap != 0 && !persistentGames[b.Game] {
		volatile |= changed & (kindMap | kindMode)
	}
	return changed, volatile
}

// modsKnown reports whether the record in s shows which mods the server has, or that it
// has none. If s lists no mods, the record from the other census tells which reply would.
func (s *Server) modsKnown(other *Server) bool {
	if s.replies.mods != 0 {
		return s.replies.mods&s.replies.complete != 0
	}
	return s.hasGame && s.Game == other.Game && other.replies.mods&s.replies.complete != 0
}
