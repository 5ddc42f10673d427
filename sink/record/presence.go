package record

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// A presence is the condition for a key: the record has the key if the Result has all bits
// of the presence. The bits of forZero are needed only if the value is zero or empty. The
// presence 0 stands for nonzero.
type presence uint64

// The bits of a presence: first the bits of wire.Fields, then the bits of game.Keys,
// then the bits below.
const (
	always  presence = 1 << (moreBits + iota)
	known            // the Result is not from a capture
	nonzero          // the value itself is not zero or empty
	hasErrors
	hasRTTs
	hasHashes
	hasGeo
	hasPing
	hasInfo
	hasPlayers
	hasRules
	hasGame
	hasShip // the player has deaths and money

	// The condition includes these bits only for a value that is zero or empty.
	forZero = known | nonzero
)

const (
	keyBits  = 24 // position of the first bit of game.Keys
	moreBits = 48 // position of the first bit after game.Keys
)

func info(f wire.Fields) presence { return presence(f) & (1<<keyBits - 1) }

func key(k game.Key) presence { return 1 << (keyBits + k) }

func present(r *result) presence {
	p := always | info(r.Info.Has)
	if r.Sent > 0 || r.Received == 0 && !r.Time.IsZero() {
		p |= known
	}
	if r.Err != [wire.NumQuestions]wire.Error{} {
		p |= hasErrors
	}
	if r.RTTs != [wire.NumQuestions]time.Duration{} {
		p |= hasRTTs
	}
	if r.PlayersHash != 0 {
		p |= hasHashes
	}
	if r.Geo != (scanner.Geo{}) {
		p |= hasGeo
	}
	if r.HasPing {
		p |= hasPing
	}
	if r.HasInfo {
		p |= hasInfo
	}
	if r.HasPlayers {
		p |= hasPlayers
	}
	if r.HasRules {
		p |= hasRules
	}
	if r.Game != nil {
		p |= hasGame | presence(r.Game.Has&allKeys)<<keyBits
	}
	return p
}

// mark notes in r that the record has a key whose presence is p. A Reader calls
// mark when it finds such a key. For the presences that mark ignores, the value shows that
// the key is present.
func (p presence) mark(r *result) {
	switch {
	case p < 1<<keyBits:
		r.Info.Has |= wire.Fields(p)
	case p < 1<<moreBits:
		r.Game.Has |= game.Keys(p >> keyBits)
	case p == hasPing:
		r.HasPing = true
	case p == hasInfo:
		r.HasInfo = true
	case p == hasPlayers:
		r.HasPlayers = true
	case p == hasRules:
		r.HasRules = true
	case p == hasShip:
		lastPlayer(r).Ship = true
	}
}
