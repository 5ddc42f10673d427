//go:build !portable

package udp

import (
	"encoding/binary"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

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

// noteOOB notes the count that a datagram carries. Datagrams carry a count only after
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
		if info, err := memInfo(fd); err == nil {
			d.note(info[unix.SK_MEMINFO_DROPS])
			queued = int(info[unix.SK_MEMINFO_RMEM_ALLOC] / 2) // see bufferSizes
		}
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sum, queued
}

// memInfo asks the kernel about the socket's memory (SO_MEMINFO). Package unix has
// no function for that.
func memInfo(fd uintptr) (info [unix.SK_MEMINFO_DROPS + 1]uint32, err error) {
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	switch {
	case errno != 0:
		return info, errno
	case size < uint32(unsafe.Sizeof(info)):
		return info, unix.ENOPROTOOPT
	}
	return info, nil
}
