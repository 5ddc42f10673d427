//go:build !portable

package udp

import "golang.org/x/sys/unix"

// controlSpace is the size of the control messages of a datagram: when it came, and
// the count of drops.
var controlSpace = unix.CmsgSpace(16) + unix.CmsgSpace(4)

// stampOf returns when the kernel received the datagram with these control messages,
// in nanoseconds since 1970; 0: they do not say (SO_TIMESTAMPNS). The kernel puts
// that message first.
func stampOf(oob []byte) int64 {
	if len(oob) < unix.SizeofCmsghdr {
		return 0
	}
	h, data, _, err := unix.ParseOneSocketControlMessage(oob)
	if err != nil || h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	return Stamp(data)
}
