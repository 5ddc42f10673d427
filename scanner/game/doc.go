// Package game reads what a reply means for its game. Many games put the truth
// elsewhere than in INFO: a Rust server says 86 players of 63 there, and 547 of
// 575 in its keywords.
//
// [Decode] turns the values of one server, as package wire decoded them, into a
// [Game]: common keys that mean the same in every game, mods, and attributes for
// the rest. Each value has its source, so every number can be checked against the
// reply. [Suspect] looks for what an honest server would hardly
// send; [FlagRules] is the one table of its rules and thresholds.
//
//	var g game.Game // one for many replies
//	game.Decode(&g, game.Reply{Info: &info, Players: players, Rules: rules, HasPlayers: true})
//	if g.Has.Has(game.KeyPlayers) {
//		fmt.Println(g.Players, "from", g.Source(game.KeyPlayers)) // 547 from keywords.cp
//	}
//	s := game.Suspect(reply, &g, facts)
//
// # Buffers
//
// Decoded values alias the reply, or memory of the Game that the next Decode reuses.
// To keep them, use Clone. A Game belongs to one goroutine at a time. After the
// first replies, Decode and Suspect allocate nothing.
//
// # Hostile replies
//
// Rules and keywords are untrusted bytes. Decode never fails and never panics: what
// it can't understand becomes a note, and every size is limited. The limits are in
// decode.go; those of binary pages are in bohemia.go. Texts are not checked: they
// can have any encoding and contain control characters.
//
// # Where other readers differ
//
// The golden files in testdata were checked against the bytes of the recordings.
// gamedig 5.3.3, from npm, reads some of them in another way:
//
//   - Arma 3: gamedig does not decode the binary pages, so mods, signatures, DLCs
//     and difficulty are missing there. The golden files give the offset of each
//     mod's name in the pages.
//   - DayZ: gamedig misreads the pages of a server with two DLCs. There is one hash
//     for each DLC bit, and the list of mods follows the last of them. For other
//     servers it reads the same mods, but lists the names of the signatures as mods,
//     too.
//   - Battalion 1944: gamedig keeps the map of INFO. Here it is the map of the match
//     whose players the rules count (see battalion.go).
//
// # Adding a game
//
// To add a game, add one file that registers one table:
//
//	var _ = register(&table{
//		id:       "ourgame",          // in records, so it must never change
//		name:     "Our Game",
//		apps:     []uint32{123456},   // from the game ID: the short one is cut
//		evidence: "a recorded reply of 1.2",
//		rules: []field{
//			{name: "Players_i", read: count(KeyPlayers)},
//		},
//		tags: tags{split: ',', prefixes: []field{{name: "w:", read: attribute("weather")}}},
//		vectors: []vector{{
//			keywords: "w:rain",
//			rules:    []string{"Players_i", "7", "Fog_b", "true"},
//			want: `
//				players 7 < rules.Players_i
//				attribute weather rain < keywords.w:`,
//		}},
//	})
//
// tags reads the keywords of INFO, rules the rules by name, and series texts
// that come in several rules; info and finish are functions for what fits no
// table, called before and after those. What is read first stays. The actions
// that take a value are in set.go. Names of attributes are lower case with
// underscores, as few as the game needs, and never made from the reply's bytes.
//
// A rule that speaks for itself needs no field: the record has it, under its own name.
// An attribute is a value that its reader would have to decode or put together, or
// one that is right where INFO is wrong.
//
// The vectors are the game's test, with bytes of our own. A recording of a real
// server, put beside the others, gets a golden file from
//
//	go test -run Captures -update
//
// whose lines must then be checked by hand against the recording's bytes. If the
// game's counts or lists are known to lie, add it to the functions in flags.go.
package game
