package udp

import (
	"os"

	"golang.org/x/sys/windows"
)

// setOptions sets the options before the socket is bound. Package net allows
// broadcast on every UDP socket. A scanner must not send broadcasts.
func (cfg Config) setOptions(fd uintptr) error {
	err := windows.SetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_BROADCAST, 0)
	return os.NewSyscallError("setsockopt", err)
}

// bufferSizes returns the sizes that the system granted.
func bufferSizes(fd uintptr) (recv, send int) {
	h := windows.Handle(fd)
	recv, _ = windows.GetsockoptInt(h, windows.SOL_SOCKET, windows.SO_RCVBUF)
	send, _ = windows.GetsockoptInt(h, windows.SOL_SOCKET, windows.SO_SNDBUF)
	return recv, send
}
