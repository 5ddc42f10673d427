//go:build !portable

package udp

import (
	"os"

	"golang.org/x/sys/unix"
)

// setOptions is called before the socket is bound.
func (cfg Config) setOptions(fd uintptr) error {
	s := int(fd)
	// Package net allows it on every UDP socket; nobody is to be reached by
	// broadcast from here.
	err := unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_BROADCAST, 0)
	if err == nil && cfg.Device != "" {
		if err := unix.BindToDevice(s, cfg.Device); err != nil {
			return os.NewSyscallError("bind to device "+cfg.Device, err)
		}
	}
	if err == nil {
		err = setReports(s)
	}
	if err == nil {
		err = setWhole(s)
	}
	if err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	setBuffer(s, cfg.RecvBuffer, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF)
	setBuffer(s, cfg.SendBuffer, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF)
	return nil
}

// setReports has the kernel say what it dropped, in both directions: how many
// datagrams found no room for receiving; and, by the error queue, ICMP errors
// and sends that found the device's queue full, which Linux otherwise passes
// off as sent.
func setReports(s int) error {
	if err := unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1); err != nil {
		return err
	}
	return unix.SetsockoptInt(s, unix.SOL_IP, unix.IP_RECVERR, 1)
}

// setWhole forbids to fragment what is sent. Requests are too small for that
// anyway; but only told so does Linux save itself to find each an
// identification (RFC 6864, 4.1), which is a 25th of what sending takes.
func setWhole(s int) error {
	return unix.SetsockoptInt(s, unix.SOL_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO)
}

// setBuffer asks for a buffer of size bytes, first by the option that may
// exceed the system's limit (net.core.rmem_max) and needs CAP_NET_ADMIN.
func setBuffer(s, size, force, plain int) {
	if size > 0 && unix.SetsockoptInt(s, unix.SOL_SOCKET, force, size) != nil {
		unix.SetsockoptInt(s, unix.SOL_SOCKET, plain, size) // bufferSizes tells what came of it
	}
}

// bufferSizes returns what the kernel granted. It counts twice that, the second
// half for its own bookkeeping (socket(7)).
func bufferSizes(fd uintptr) (recv, send int) {
	recv, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
	send, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF)
	return recv / 2, send / 2
}
