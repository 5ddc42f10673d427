package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// recvBuffer is the size in bytes of the receive buffer requested for each socket.
// A query takes about 800 bytes of it, so at 100,000 queries per second it lasts
// for a pause of 200 ms.
const recvBuffer = 16 << 20

// listen opens the socket of a Port.
func listen(number uint16) (*net.UDPConn, error) {
	if err := checkLoopback(); err != nil {
		return nil, err
	}
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if e := raw.Control(func(fd uintptr) { err = wallIn(int(fd)) }); e != nil {
			return e
		}
		return err
	}}
	at := netip.AddrPortFrom(netip.IPv4Unspecified(), number)
	conn, err := lc.ListenPacket(context.Background(), "udp4", at.String())
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return nil, no // without the address, which callers add or do not need
	}
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil
}

// checkLoopback returns an error if the device lo is missing or is not a loopback
// device.
func checkLoopback() error {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return fmt.Errorf("no device lo, to which the socket must be bound: %w", err)
	}
	if lo.Flags&net.FlagLoopback == 0 {
		return errors.New("the device lo is not a loopback device; the socket must not be bound to it")
	}
	return nil
}

// wallIn binds a socket to the device lo. It also makes the socket report the
// destination of each datagram and how many datagrams the kernel has dropped, and
// enlarges its receive buffer.
func wallIn(fd int) error {
	if err := unix.BindToDevice(fd, "lo"); err != nil {
		return fmt.Errorf("can't be bound to the device lo, and must be: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1); err != nil {
		return fmt.Errorf("can't get the destination of datagrams (IP_PKTINFO): %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1); err != nil {
		return fmt.Errorf("can't get the count of dropped datagrams (SO_RXQ_OVFL): %w", err)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, recvBuffer) != nil {
		// Without privileges the kernel grants only the usual maximum.
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, recvBuffer)
	}
	return nil
}
