package udp

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// isAgain reports whether errno is not caused by the datagram.
func isAgain(errno syscall.Errno) bool {
	return errno == windows.WSAEWOULDBLOCK || errno == windows.WSAENOBUFS
}

// isICMP reports whether errno may stand for an ICMP message: Windows reports a
// refused port as a connection reset, and an exceeded TTL as a network reset.
func isICMP(errno syscall.Errno) bool {
	switch errno {
	case windows.WSAECONNRESET, windows.WSAENETRESET, windows.WSAECONNREFUSED,
		windows.WSAEHOSTUNREACH, windows.WSAENETUNREACH:
		return true
	}
	return false
}
