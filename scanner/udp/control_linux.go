//go:build !portable

package udp

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// controlSpace is the size in bytes of the control messages of a datagram: the
// kernel's receive timestamp and its count of drops.
var controlSpace = unix.CmsgSpace(16) + unix.CmsgSpace(4)

// stampOf returns the kernel's receive timestamp of the datagram with these control
// messages, in nanoseconds since 1970, or 0 if they have none (SO_TIMESTAMPNS). The
// kernel puts the timestamp first: seconds and nanoseconds, of 64 bits each, or of 32
// bits on most 32-bit systems.
func stampOf(oob []byte) int64 {
	if len(oob) < unix.SizeofCmsghdr {
		return 0
	}
	h, data, _, err := unix.ParseOneSocketControlMessage(oob)
	if err != nil || h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	order := binary.NativeEndian
	switch len(data) {
	case 16:
		return int64(order.Uint64(data))*1e9 + int64(order.Uint64(data[8:]))
	case 8:
		return int64(order.Uint32(data))*1e9 + int64(order.Uint32(data[4:]))
	}
	return 0
}
