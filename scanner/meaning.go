package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// countedFlags are the flags that follow from what a scan counted for one server. A
// capture does not contain these counts, so decoding the datagrams of a record again does
// not set the flags.
const countedFlags = game.FlagReplyFlood | game.FlagConflict

// meaning sets r.Game, the meaning of the answers in the server's game, and returns the
// flags of suspicious answers. Its second argument is the text of a redirection. Its last
// argument has the counts of a scan, without the round trips.
func (a *assembler) meaning(r *Result, redirect []byte, facts game.Facts) game.Flags {
	in := game.Reply{
		Players: r.Players, Rules: r.Rules, HasPlayers: r.HasPlayers,
		PlayersCut: r.Err[wire.QuestionPlayers] != 0, Redirect: redirect,
	}
	if r.HasInfo {
		in.Info = &r.Info
	}
	game.Decode(&a.game, in)
	if r.Game = nil; a.game.ID != "" || a.game.Has != 0 {
		r.Game = &a.game
	}
	// Round trips are truncated as in a record, so that decoding a record gives the same
	// flags again.
	facts.InfoRTT = r.RTTs[wire.QuestionInfo].Truncate(time.Microsecond)
	facts.PlayersRTT = r.RTTs[wire.QuestionPlayers].Truncate(time.Microsecond)
	facts.RulesRTT = r.RTTs[wire.QuestionRules].Truncate(time.Microsecond)
	return game.Suspect(in, &a.game, facts)
}

// Population is how many people and bots play on a server.
type Population struct {
	People    int  // human players
	Bots      int  // players that are programs
	Places    int  // player slots; a relay has none, because its spectators do not play
	HasPlaces bool // Places is known, and the server is not a relay
	Elsewhere bool // People or Bots come from package game, not from INFO
}

// Population returns how many people and bots play on a server that answered INFO. A
// relay's players are spectators, so nobody plays there (EC-33). For other servers,
// Population uses the numbers of package game, if there are any. Otherwise the number of
// people is INFO's number of players minus its number of bots.
func (r *Result) Population() Population {
	in := &r.Info
	if in.IsRelay() {
		return Population{}
	}
	g := r.Game
	p := Population{
		People: g.People(in), Bots: int(in.Bots), Places: int(in.MaxPlayers), HasPlaces: in.Has&wire.HasMaxPlayers != 0,
	}
	if g == nil {
		return p
	}
	p.Elsewhere = g.Corrects(game.KeyPlayers) || g.Has.Has(game.KeyBots)
	if g.Has.Has(game.KeyBots) {
		p.Bots = g.Bots
	}
	if g.Has.Has(game.KeyMaxPlayers) {
		p.Places, p.HasPlaces = g.MaxPlayers, true
	}
	return p
}

// Interpreter derives Game and Flags for Results that another version of this package
// made, such as those in records. The zero value is ready to use.
type Interpreter struct{ asm assembler }

// Interpret sets Game and Flags of r. It keeps the flags that only a scan can set,
// reply_flood and conflict. r.Game is valid until the Interpreter is used again.
func (i *Interpreter) Interpret(r *Result) {
	r.Flags = r.Flags&countedFlags | i.asm.meaning(r, r.Message, game.Facts{})
}
