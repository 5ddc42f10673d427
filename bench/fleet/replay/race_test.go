//go:build race

package replay

// raceEnabled means that the race detector is on, which makes everything about ten
// times slower.
const raceEnabled = true
