//go:build !portable

package udp

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// controlSpace is the size of the control messages of a datagram: when it came, and
// the count of drops.
var controlSpace = unix.CmsgSpace(16) + unix.CmsgSpace(4)

// stampOf returns when the kernel received the datagram with these control messages,
// in nanoseconds since 1970; 0: they do not say (SO_TIMESTAMPNS). The kernel puts
// that message first. Its numbers have 64 bits, or 32 on most 32-bit systems.
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
