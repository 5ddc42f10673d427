//go:build unix

package udp

import (
	"syscall"

	"golang.org/x/sys/unix"
)

var againErrnos = []syscall.Errno{unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM, unix.EINTR}

var icmpErrnos = []syscall.Errno{
	unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN, unix.ENOPROTOOPT,
}
