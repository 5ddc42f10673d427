//go:build !portable

package udp

import (
	"encoding/binary"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlSpace is the size in bytes of the control message that comes with a datagram. It
// contains the time at which the kernel received the datagram.
var controlSpace = unix.CmsgSpace(16)

// stampOf returns the kernel's receive timestamp in oob, a control message, in nanoseconds
// since 1970, or 0 if there is none. The timestamp (SO_TIMESTAMPNS) consists of seconds and
// nanoseconds, each a number of 64 bits, or of 32 bits on most 32-bit systems.
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

// dropCounter tracks the kernel's count of datagrams that did not fit into the
// receive buffer. The kernel's count wraps at 2^32.
type dropCounter struct {
	mu   sync.Mutex
	last uint32
	sum  uint64
}

// total returns how many datagrams were dropped, and how many bytes wait to be
// received. Linux before 4.12 reports neither, and total returns zeros. After the socket
// was closed, drops is the last known number.
func (d *dropCounter) total(raw syscall.RawConn) (drops uint64, queued int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	raw.Control(func(fd uintptr) {
		var info [unix.SK_MEMINFO_DROPS + 1]uint32
		size := uint32(unsafe.Sizeof(info))
		// Package unix has no function for SO_MEMINFO.
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
		if errno == 0 && size >= uint32(unsafe.Sizeof(info)) {
			count := info[unix.SK_MEMINFO_DROPS]
			d.sum, d.last = d.sum+uint64(count-d.last), count
			queued = int(info[unix.SK_MEMINFO_RMEM_ALLOC] / 2) // see bufferSizes
		}
	})
	return d.sum, queued
}
