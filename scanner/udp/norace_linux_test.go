//go:build !race && !portable

package udp

const raceEnabled = false
