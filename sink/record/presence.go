package record

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// A presence is the condition for a key: the record has the key if the Result has all bits
// of the presence. The bits of forZero are needed only if the value is zero or empty.
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
