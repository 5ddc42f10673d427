package udp

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// isAgain reports whether errno says nothing of the datagram.
func isAgain(errno syscall.Errno) bool {
	return errno == windows.WSAEWOULDBLOCK || errno == windows.WSAENOBUFS
}

// isICMP reports whether errno is one that ICMP messages become: a refused
// port comes as a reset connection, an exceeded time to live as a reset network.
func isICMP(errno syscall.Errno) bool {
	switch errno {
	case windows.WSAECONNRESET, windows.WSAENETRESET, windows.WSAECONNREFUSED,
		windows.WSAEHOSTUNREACH, windows.WSAENETUNREACH:
		return true
	}
	return false
}
