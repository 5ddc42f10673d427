package game_test

import (
	"fmt"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// A Rust server whose counts do not fit INFO's one-byte fields.
func ExampleDecode() {
	reply := game.Reply{
		Info: &wire.Info{
			Format: wire.FormatSource, GameID: 252490, Players: 86, MaxPlayers: 63,
			Keywords: []byte("mp575,cp547,qp17,^o,$rEU"),
			Has:      wire.HasGameID | wire.HasPlayers | wire.HasMaxPlayers | wire.HasKeywords,
		},
	}
	var g game.Game
	game.Decode(&g, reply)
	fmt.Println(g.Name, g.Players, "of", g.MaxPlayers, "and", g.Queue, "in the queue")
	fmt.Println(game.KeyPlayers, "from", g.Sources[game.KeyPlayers])
	for _, a := range g.Attributes {
		fmt.Printf("%s is %s, from %s\n", a.Name, a.Value, a.Source)
	}
	// Output:
	// Rust 547 of 575 and 17 in the queue
	// players from keywords.cp
	// framework is oxide, from keywords.^
}
