package udp

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// isAgain reports whether something other than the datagram caused errno, such as full
// buffers.
func isAgain(errno syscall.Errno) bool {
	return errno == windows.WSAEWOULDBLOCK || errno == windows.WSAENOBUFS
}

// isICMP reports whether errno may stand for an ICMP message. Windows reports a refused
// port as a connection reset, and an exceeded TTL as a network reset.
func isICMP(errno syscall.Errno) bool {
	switch errno {
	case windows.WSAECONNRESET, windows.WSAENETRESET, windows.WSAECONNREFUSED,
		windows.WSAEHOSTUNREACH, windows.WSAENETUNREACH:
		return true
	}
	return false
}

// setOptions sets the options before the socket is bound. Package net allows
// broadcast on every UDP socket. A scanner must not send broadcasts.
func (cfg Config) setOptions(fd uintptr) error {
	err := windows.SetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_BROADCAST, 0)
	return os.NewSyscallError("setsockopt", err)
}

func bufferSizes(fd uintptr) (recv, send int) {
	h := windows.Handle(fd)
	recv, _ = windows.GetsockoptInt(h, windows.SOL_SOCKET, windows.SO_RCVBUF)
	send, _ = windows.GetsockoptInt(h, windows.SOL_SOCKET, windows.SO_SNDBUF)
	return recv, send
}
