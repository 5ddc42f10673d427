//go:build race

package replay

// raceEnabled says that the race detector is on, with which everything takes
// some ten times as long.
const raceEnabled = true
