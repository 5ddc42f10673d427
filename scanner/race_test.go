//go:build race

package scanner

const raceEnabled = true
