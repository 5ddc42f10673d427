//go:build race

package main

// raceEnabled means that the race detector is on, which makes everything about ten
// times as slow.
const raceEnabled = true
