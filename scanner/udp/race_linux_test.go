//go:build race && !portable

package udp

const raceEnabled = true
