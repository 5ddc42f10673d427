// Package games simulates servers of real games: what one says in INFO, PLAYER
// and RULES, and what that means for its game. The meaning is written from the
// same model as the replies, never by reading them, so a scan's decoding can be
// compared with it.
//
// A [Server] is filled from a [Plan]. The texts and numbers that identify it
// follow from the plan's seed and stay the same every night; players, maps and
// clocks follow from the night too. [Fake] names the fakers that the package
// knows.
//
// # Adding a game
//
// Add a Title to the list in a file of its own, with a function that draws the
// true values and says them:
//
//	s.rule("Players_i", n).count(game.KeyPlayers)
//	s.tag("v", "1.2").text(game.KeyVersion)
//	s.tag("w:", "rain").attribute("weather")
//
// Each statement says both what is sent and what it means.
package games
