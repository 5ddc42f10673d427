package udp

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// isOtherICMP reports whether errno may stand for an ICMP message on Linux only
// (icmp_err_convert in its source, and EPROTO for a bad parameter).
func isOtherICMP(errno syscall.Errno) bool {
	return errno == unix.ENONET || errno == unix.EOPNOTSUPP || errno == unix.EMSGSIZE || errno == unix.EPROTO
}
