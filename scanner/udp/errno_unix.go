//go:build unix

package udp

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// isAgain reports whether something other than the datagram caused errno, such as full
// buffers.
func isAgain(errno syscall.Errno) bool {
	switch errno {
	case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM, unix.EINTR:
		return true
	}
	return false
}

var icmpErrnos = []syscall.Errno{
	unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN, unix.ENOPROTOOPT,
}

// isICMP reports whether errno may stand for an ICMP message.
func isICMP(errno syscall.Errno) bool { return slices.Contains(icmpErrnos, errno) }
