// Package games simulates servers of real games: what a server sends in INFO,
// PLAYER and RULES, and what that means for its game. The meaning comes from the
// same model as the replies, and never from reading them, so a scan's decoding can
// be compared with it.
//
// A [Server] is filled from a [Plan]. What identifies it, such as its name, follows
// from the plan's seed and stays the same every night; players, maps and clocks
// follow from the night too. [Fake] names the tricks of fakers that the package
// knows.
//
// # Adding a game
//
// Add a Title to the list in a file of its own, with a function that picks the true
// values and states them:
//
//	s.rule("Players_i", n).count(game.KeyPlayers)
//	s.tag("v", "1.2").text(game.KeyVersion)
//	s.tag("w:", "rain").attribute("weather")
//
// Each statement gives both what is sent and what it means.
package games
