//go:build !portable

package udp

import (
	"encoding/binary"
	"sync"
	"syscall"
	"unsafe"

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

// dropCounter tracks the kernel's count of datagrams that did not fit into the
// receive buffer. That count wraps at 2^32.
type dropCounter struct {
	mu   sync.Mutex
	last uint32
	sum  uint64
}

// note updates the sum with the kernel's count. A datagram carries the count of the
// moment at which the kernel queued it, so an older count may follow a newer one.
func (d *dropCounter) note(count uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if by := int32(count - d.last); by > 0 {
		d.last = count
		d.sum += uint64(by)
	}
}

// noteOOB notes the count in a datagram's control messages. Datagrams carry a count only after
// the first drop.
func (d *dropCounter) noteOOB(oob []byte) {
	for len(oob) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && len(data) >= 4 {
			d.note(binary.NativeEndian.Uint32(data))
		}
		oob = rest
	}
}

// total returns how many datagrams were dropped, and how many bytes wait to be
// received. It asks the kernel, since datagrams report only the drops before they
// were queued. Before Linux 4.12, and on a closed socket, it returns the count of
// the last datagram.
func (d *dropCounter) total(raw syscall.RawConn) (drops uint64, queued int) {
	raw.Control(func(fd uintptr) {
		var info [unix.SK_MEMINFO_DROPS + 1]uint32
		size := uint32(unsafe.Sizeof(info))
		// Package unix has no function for SO_MEMINFO.
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
		if errno == 0 && size >= uint32(unsafe.Sizeof(info)) {
			d.note(info[unix.SK_MEMINFO_DROPS])
			queued = int(info[unix.SK_MEMINFO_RMEM_ALLOC] / 2) // see bufferSizes
		}
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sum, queued
}
