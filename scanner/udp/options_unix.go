//go:build unix && (!linux || portable)

package udp

import (
	"os"

	"golang.org/x/sys/unix"
)

// setOptions sets the options before the socket is bound. Package net allows
// broadcast on every UDP socket. A scanner must not send broadcasts.
func (cfg Config) setOptions(fd uintptr) error {
	err := unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_BROADCAST, 0)
	return os.NewSyscallError("setsockopt", err)
}

func bufferSizes(fd uintptr) (recv, send int) {
	recv, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
	send, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF)
	return recv, send
}
