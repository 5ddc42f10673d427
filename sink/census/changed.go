package census

import (
	"slices"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Kind says what changed about a server, in a word such as "new": those in Kinds. The kind
// "players" is volatile; so is "map" in games that rotate their maps, and a "mode" that
// comes with it. Diff counts volatile changes, but reports them only if
// its argument volatile is set or its kinds name them.
type Kind string

// The kinds of changes.
const (
	kindNew       Kind = "new"       // answers in the new census; the old one has no record of it
	kindGone      Kind = "gone"      // answered before; was queried again and did not answer
	kindNotAsked  Kind = "not_asked" // answered before; not known to have been queried again
	kindBack      Kind = "back"      // was silent in the old census, answers in the new one
	kindMoved     Kind = "moved"     // left one address and appeared at another
	kindRenamed   Kind = "renamed"
	kindMap       Kind = "map"
	kindVersion   Kind = "version"
	kindCapacity  Kind = "capacity"
	kindMode      Kind = "mode"
	kindMods      Kind = "mods"
	kindRules     Kind = "rules"
	kindFlags     Kind = "flags"
	kindChallenge Kind = "challenge" // began or stopped demanding a challenge
	kindFarm      Kind = "farm"      // joined or left a farm
	kindPlayers   Kind = "players"
)

// Kinds lists all kinds, in the order in which the changes of one server are reported.
var Kinds = []Kind{
	kindNew, kindGone, kindNotAsked, kindBack, kindMoved, kindRenamed, kindMap, kindVersion,
	kindCapacity, kindMode, kindMods, kindRules, kindFlags, kindChallenge, kindFarm, kindPlayers,
}

// kinds is a set of kinds, by their index in Kinds.
type kinds uint32

// setOf returns the set of the given kinds.
func setOf(all ...Kind) (set kinds) {
	for _, k := range all {
		set |= 1 << slices.Index(Kinds, k)
	}
	return set
}

// list returns the kinds of a set, in the order of Kinds.
func (set kinds) list() (all []Kind) {
	for i, k := range Kinds {
		if set&(1<<i) != 0 {
			all = append(all, k)
		}
	}
	return all
}

// lastingFlags are the flags that do not come and go with the state of the network.
const lastingFlags = 1<<len(game.FlagRules) - 1 - (game.FlagEdgeAnswers | game.FlagConflict)

// persistentGames keep their map for weeks, so a new map is not a rotation there.
var persistentGames = map[string]bool{
	"rust": true, "ark": true, "dayz": true, "conan": true, "valheim": true, "7dtd": true, "unturned": true,
	"zomboid": true, "vrising": true, "soulmask": true,
}

// Changed returns what changed about a server that answered before and after: the one
// definition of a change. A property that is unknown in one of the records, or that comes
// from another source, counts as unchanged. lasting are the changes that are reported;
// volatile ones happen all the time.
func Changed(before, after *Server) (lasting, volatile []Kind) {
	changed, v := changes(before, after)
	return (changed &^ v).list(), v.list()
}

// changes returns what changed, and which of it is volatile.
func changes(a, b *Server) (changed, volatile kinds) {
	// sourced reports whether both servers know a property from the same source.
	sourced := func(field wire.Fields, key game.Key) bool {
		return a.knows(field, key) && b.knows(field, key) && a.own.Has(key) == b.own.Has(key)
	}
	complete := a.replies.complete & b.replies.complete
	for _, property := range [...]struct {
		kind   Kind
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
		{kindFlags, (a.Flags^b.Flags)&lastingFlags != 0 && a.meaning && b.meaning && a.replies.complete == b.replies.complete},
		{kindChallenge, complete&(a.replies.open^b.replies.open) != 0},
		{kindPlayers, a.People != b.People && sourced(wire.HasPlayers, game.KeyPlayers)},
	} {
		if property.differ {
			changed |= setOf(property.kind)
		}
	}
	volatile = changed & setOf(kindPlayers)
	if rotates := setOf(kindMap); changed&rotates != 0 && !persistentGames[b.Game] {
		volatile |= changed & (rotates | setOf(kindMode))
	}
	return changed, volatile
}

// modsKnown reports whether it is known which mods s has, or that it has none. other, the
// record of the other night, shows which reply would list them.
func (s *Server) modsKnown(other *Server) bool {
	if s.replies.mods != 0 {
		return s.replies.mods&s.replies.complete != 0
	}
	return s.hasGame && s.Game == other.Game && other.replies.mods&s.replies.complete != 0
}
