//go:build unix && (!linux || portable)

package udp

// handle is the system's type for a socket.
type handle = int
