// Package game decodes the game-specific values of a reply. In many games, the usual
// fields of INFO are wrong, and the right values are elsewhere: the count fields of a Rust
// server say 86 of 63 players, but its keywords say 547 of 575.
//
// [Decode] turns the values of one server, as package wire decoded them, into a
// [Game]: common keys that mean the same in every game, mods, and attributes for
// the rest. Each value has its source, so every number can be checked against the
// reply. [Suspect] looks for things that an honest server is unlikely to send;
// [FlagRules] is the table of the rules and thresholds that Suspect uses.
//
//	var g game.Game // reuse it for many replies
//	game.Decode(&g, game.Reply{Info: &info, Players: players, Rules: rules, HasPlayers: true})
//	if g.Has.Has(game.KeyPlayers) {
//		fmt.Println(g.Players, "from", g.Sources[game.KeyPlayers]) // 547 from keywords.cp
//	}
//	flags := game.Suspect(reply, &g, facts)
//
// # Buffers
//
// Decoded values alias the reply, memory of the Game that the next Decode reuses, or
// constants. To keep them, use Clone. A Game belongs to one goroutine at a time. Once
// a Game's memory is large enough, Decode and Suspect allocate nothing.
//
// # Hostile replies
//
// Rules and keywords are untrusted bytes. Decode never fails and never panics: it adds a
// note for a value that it can't understand, and every size is limited. The limits are in
// decode.go; those of the binary pages of Arma 3 and DayZ are in bohemia.go. Decode does
// not check strings: they can have any encoding and contain control characters.
//
// # Adding a game
//
// To add a game, add one file that registers one table:
//
//	var _ = register("ourgame", "Our Game", []uint32{123456}, &table{
//		evidence: "a recorded reply of version 1.2",
//		rules: []field{
//			{name: "Players_i", read: count(KeyPlayers)},
//		},
//		split:    ',',
//		prefixes: []field{{name: "w:", read: attribute("weather")}},
//	})
//
// Records (the lines of a scan's output) contain the ID "ourgame", so it must never
// change. table.words and table.prefixes are for tags in the keywords of INFO, table.rules is for rules with known
// names, and table.series is for values that are split over several rules. The functions
// table.info and table.finish are for everything else: Decode calls table.info first and
// table.finish last. If a key or attribute gets several values, the first one is used. The
// actions that store values are in set.go. Names of attributes are lower case with
// underscores, and never contain bytes of the reply. A game should have as few attributes
// as possible.
//
// A rule with a clear name and value needs no field: a record contains all rules anyway.
// An attribute is for a value that readers of the record would have to decode or join, or
// for a right value where INFO has a wrong one.
//
// Decode has no clock, so it can't convert a time relative to the present into a date.
//
// Games that need the same table are registered side by side, as in ark.go.
// docs/CONTRIBUTING.md lists what else a new game needs: replies for tests, evidence,
// and entries in the lists of games whose counts are known to be wrong.
package game
