//go:build !portable

package udp

import (
	"os"

	"golang.org/x/sys/unix"
)

func (cfg Config) setOptions(fd uintptr) error {
	s := int(fd)
	for _, o := range []struct{ level, name, value int }{
		// Package net allows broadcast on every UDP socket. A scanner must not send
		// broadcasts.
		{unix.SOL_SOCKET, unix.SO_BROADCAST, 0},
		// The error queue reports ICMP errors, and datagrams that were dropped because the
		// device's queue was full. Without this option, Linux reports such datagrams as sent.
		{unix.SOL_IP, unix.IP_RECVERR, 1},
		// No fragmentation. Requests are too small to be fragmented. But without this option
		// Linux chooses an identification for each datagram (RFC 6864, 4.1), which takes 4
		// percent of the CPU time of sending.
		{unix.SOL_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO},
	} {
		if err := unix.SetsockoptInt(s, o.level, o.name, o.value); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	// The kernel reports when it received each datagram. If it cannot, Packet.Stamp is 0.
	_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	setBuffer(s, cfg.RecvBuffer, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF)
	setBuffer(s, cfg.SendBuffer, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF)
	return nil
}

// setBuffer requests a buffer of size bytes. It first tries its third argument, an option
// that ignores the system's limit (such as net.core.rmem_max) but needs CAP_NET_ADMIN.
func setBuffer(s, size, force, plain int) {
	if size > 0 && unix.SetsockoptInt(s, unix.SOL_SOCKET, force, size) != nil {
		unix.SetsockoptInt(s, unix.SOL_SOCKET, plain, size) // bufferSizes returns the result
	}
}

// bufferSizes returns the sizes that the kernel granted. The kernel reports twice as much,
// since it needs the second half for its own bookkeeping (socket(7)).
func bufferSizes(fd uintptr) (recv, send int) {
	recv, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
	send, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF)
	return recv / 2, send / 2
}
