// Package games simulates servers of real games: what a server sends in INFO,
// PLAYER and RULES, and what the replies mean for its game. The meaning comes from the
// same model as the replies, and never from decoding them, so tests can compare it with
// what a scan decodes.
//
// [Server.Fill] makes a server from a [Plan]. What identifies the server, such as its
// name, follows from the plan's seed and stays the same every night. Players, maps and
// clocks also depend on the night. fakes.go has the tricks of servers that send false
// answers.
//
// # Adding a game
//
// Add a [Title] to six.go. Its function send adds keywords and rules, and what they mean.
package games
