// Package games simulates servers of real games: what a server sends in INFO,
// PLAYER and RULES, and what the replies mean for its game. The meaning comes from the
// same model as the replies, and never from decoding them, so tests can compare it with
// what a scan decodes.
//
// [Server.Fill] makes a server from a [Plan]. What identifies the server, such as its name,
// follows from the plan's seed and stays the same every night. Players, maps and clocks also
// depend on the night. fakes.go has the tricks of fakers.
//
// # Adding a game
//
// Add a title and its function to six.go. The function states both what the server sends
// and what the replies mean.
package games
