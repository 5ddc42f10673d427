package udp

import (
	"syscall"

	"golang.org/x/sys/windows"
)

var againErrnos = []syscall.Errno{windows.WSAEWOULDBLOCK, windows.WSAENOBUFS}

// Windows reports a refused port as a connection reset, and an exceeded TTL as a network
// reset.
var icmpErrnos = []syscall.Errno{
	windows.WSAECONNRESET, windows.WSAENETRESET, windows.WSAECONNREFUSED,
	windows.WSAEHOSTUNREACH, windows.WSAENETUNREACH,
}

// handle is the system's type for a socket.
type handle = syscall.Handle
