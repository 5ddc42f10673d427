// Package unpolled takes UDP sockets away from Go's network poller.
//
// The poller wants to hear of every socket that can be written to again. On
// loopback that is after each datagram, since it is delivered while it is being
// sent: whenever a thread of the program waits in the poller, each datagram
// wakes it up for nothing, which costs more than half as much as sending. What
// measures a bare loop of system calls has no use for that.
package unpolled

import (
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a UDP socket for the batches of package ipv4, which block the thread
// that calls them. Of its other methods only LocalAddr and Close are of use.
// One goroutine may read, and one write.
type Conn struct {
	*net.UDPConn
	fd   int
	Wait time.Duration // a read that waited so long for nothing is os.ErrDeadlineExceeded
}

// New takes c over; c is closed.
func New(c *net.UDPConn) (*Conn, error) {
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	u := &Conn{UDPConn: c, Wait: time.Second}
	e := raw.Control(func(fd uintptr) {
		u.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	})
	if e != nil {
		err = e
	}
	return u, os.NewSyscallError("fcntl", err)
}

// Close closes the socket.
func (c *Conn) Close() error { return os.NewSyscallError("close", unix.Close(c.fd)) }

// SyscallConn is what package ipv4 sends and receives by.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return (*rawConn)(c), nil }

type rawConn Conn

// Control calls f with the socket.
func (c *rawConn) Control(f func(fd uintptr)) error {
	f(uintptr(c.fd))
	return nil
}

// Read calls f until it has read something.
func (c *rawConn) Read(f func(fd uintptr) bool) error { return c.try(f, unix.POLLIN) }

// Write calls f until it has written something.
func (c *rawConn) Write(f func(fd uintptr) bool) error { return c.try(f, unix.POLLOUT) }

func (c *rawConn) try(f func(fd uintptr) bool, events int16) error {
	for !f(uintptr(c.fd)) {
		fds := [1]unix.PollFd{{Fd: int32(c.fd), Events: events}}
		wait := unix.NsecToTimespec(int64(c.Wait))
		switch n, err := unix.Ppoll(fds[:], &wait, nil); {
		case err == unix.EINTR:
		case err != nil:
			return os.NewSyscallError("ppoll", err)
		case n == 0:
			return os.ErrDeadlineExceeded
		}
	}
	return nil
}
