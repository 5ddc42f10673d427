// Package games simulates servers of real games: what a server sends in INFO,
// PLAYER and RULES, and what that means for its game. The meaning comes from the
// same model as the replies, and never from reading them, so a scan's decoding can
// be compared with it.
//
// A [Server] is filled from a [Plan]. What identifies it, such as its name, follows
// from the plan's seed and stays the same every night; players, maps and clocks
// follow from the night too. fakes.go has the tricks of
// fakers.
//
// # Adding a game
//
// Add a title and its function to six.go. Each statement there gives both what is sent
// and what it means.
package games
