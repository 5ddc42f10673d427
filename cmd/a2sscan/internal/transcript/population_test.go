package transcript

import (
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// TestPopulation: the verdict counts people as their game does, and bots
// separately.
func TestPopulation(t *testing.T) {
	rust := &game.Game{Players: 547, MaxPlayers: 575, Has: 1<<game.KeyPlayers | 1<<game.KeyMaxPlayers}
	for want, r := range map[string]scanner.Result{
		"12 of 24 players":                        {Info: wire.Info{Players: 12, MaxPlayers: 24}},
		"9 of 24 players and 3 bots":              {Info: wire.Info{Players: 12, MaxPlayers: 24, Bots: 3}},
		"547 of 575 players (info says 86 of 63)": {Info: wire.Info{Players: 86, MaxPlayers: 63}, Game: rust},
		"0 of 16 players and 1 bot":               {Info: wire.Info{Players: 1, MaxPlayers: 16, Bots: 1}},
		"0 of 16 players and 5 bots (info says 1 of 16)": {Info: wire.Info{Players: 1, MaxPlayers: 16, Bots: 1},
			Game: &game.Game{Bots: 5, Has: 1 << game.KeyBots}},
	} {
		if got := population(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
