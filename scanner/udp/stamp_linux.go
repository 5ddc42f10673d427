package udp

import "encoding/binary"

// Stamp returns the time in a control message of type SCM_TIMESTAMPNS, in nanoseconds
// since 1970, or 0 if data is not such a message. The message has two numbers, seconds
// and nanoseconds, of 64 bits each, or of 32 bits on most 32-bit systems.
func Stamp(data []byte) int64 {
	order := binary.NativeEndian
	switch len(data) {
	case 16:
		return int64(order.Uint64(data))*1e9 + int64(order.Uint64(data[8:]))
	case 8:
		return int64(order.Uint32(data))*1e9 + int64(order.Uint32(data[4:]))
	}
	return 0
}
