package census

import (
	"slices"

	"github.com/a2sscan/a2sscan/scanner/game"
)

// kinds is a set of kinds, by their index in Kinds.
type kinds uint32

func bit(k Kind) kinds { return 1 << slices.Index(Kinds, k) }

var (
	bitNew, bitGone, bitNotAsked, bitBack = bit(KindNew), bit(KindGone), bit(KindNotAsked), bit(KindBack)
	bitMoved, bitRenamed, bitMap          = bit(KindMoved), bit(KindRenamed), bit(KindMap)
	bitVersion, bitCapacity, bitMode      = bit(KindVersion), bit(KindCapacity), bit(KindMode)
	bitMods, bitRules, bitFlags           = bit(KindMods), bit(KindRules), bit(KindFlags)
	bitChallenge, bitFarm, bitPlayers     = bit(KindChallenge), bit(KindFarm), bit(KindPlayers)
)

// allQuestions are the bits of the questions that were answered completely.
const allQuestions = answeredInfo | answeredPlayers | hasRules

// lastingFlags are the flags that do not come and go with the state of the network.
const lastingFlags = 1<<game.NumFlags - 1 - uint16(game.FlagEdgeAnswers|game.FlagConflict)

// differences returns what changed about a server that answered on both nights. A
// property that is unknown on one night counts as unchanged.
func (d *differ) differences(a, b *row) (k kinds) {
	both := a.has & b.has
	origin := a.has ^ b.has // own… bits: the value comes from another source
	set := func(bit kinds, known facts, own facts, differ bool) {
		if differ && both&known != 0 && origin&own == 0 {
			k |= bit
		}
	}
	set(bitRenamed, hasName, 0, string(d.old.nameOf(a)) != string(d.new.nameOf(b)))
	set(bitMap, hasMap, ownMap, a.level != b.level)
	set(bitVersion, hasVersion, ownVersion, a.version != b.version)
	set(bitCapacity, hasCapacity, ownCapacity, a.capacity != b.capacity)
	set(bitMode, hasMode, 0, a.mode != b.mode)
	set(bitMode, hasPVP, 0, a.pvp != b.pvp)
	set(bitRules, hasRules, 0, a.rules != b.rules)
	set(bitFlags, hasMeaning, allQuestions, (a.flags^b.flags)&lastingFlags != 0)
	set(bitPlayers, hasPeople, ownPeople, a.people != b.people)
	if modsKnown(a, b) && modsKnown(b, a) && a.mods != b.mods {
		k |= bitMods
	}
	if challengeKnown(a, b)&(a.open^b.open) != 0 {
		k |= bitChallenge
	}
	if both&(answeredInfo|answeredPlayers) == answeredInfo|answeredPlayers && (a.farm == 0) != (b.farm == 0) {
		k |= bitFarm
	}
	return k
}

// modsKnown reports whether it is known which mods r has, or that it has none. other,
// the row of the other night, shows which reply would list them.
func modsKnown(r, other *row) bool {
	switch {
	case r.has&hasMods != 0:
		return true
	case r.has&hasGame == 0 || r.game != other.game:
		return false
	case other.source == modsInRules:
		return r.has&hasRules != 0
	}
	return other.source == modsInKeywords && r.has&answeredInfo != 0
}

// challengeKnown returns the questions that were answered on both nights.
func challengeKnown(a, b *row) (q questions) {
	for i, f := range [numQuestions]facts{answeredInfo, answeredPlayers, hasRules} {
		if a.has&b.has&f != 0 {
			q |= 1 << i
		}
	}
	return q
}

// volatile returns the volatile kinds among k: people, and the map of a game that
// rotates its maps, with the mode that comes with the map.
func (d *differ) volatile(r *row, k kinds) kinds {
	v := k & bitPlayers
	if k&bitMap != 0 && !persistentGames[d.new.text(r.game)] {
		v |= k & (bitMap | bitMode)
	}
	return v
}
