//go:build race

package main

// raceEnabled says that the race detector is on, with which everything takes
// some ten times as long.
const raceEnabled = true
