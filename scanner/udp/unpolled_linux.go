package udp

import (
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Unpolled is a UDP socket outside of Go's network poller, for the batches of package
// ipv4 (Linux only).
//
// The kernel wakes the poller whenever a socket becomes writable again. On loopback the
// kernel delivers a datagram during the send, so it wakes the poller after every datagram.
// Each of these useless wake-ups costs more than half as much as the send. An Unpolled
// makes its own system call instead when it has to wait.
//
// Any goroutine may call any method. Of the embedded methods only LocalAddr works.
type Unpolled struct {
	*net.UDPConn // already closed; embedded because package ipv4 requires the methods of a UDPConn

	// Timeout is the longest wait of a read or write by package ipv4, unless the call has
	// the flag MSG_DONTWAIT. After this time the call returns os.ErrDeadlineExceeded.
	Timeout time.Duration

	calls  atomic.Uint32 // number of reads and writes by package ipv4
	mu     sync.RWMutex  // read-locked while fd or event is used
	closed atomic.Bool
	fd     int
	event  int // an eventfd that makes wait return
}

// Unpoll takes over the socket of c and closes c.
func Unpoll(c *net.UDPConn) (*Unpolled, error) {
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	u := &Unpolled{UDPConn: c, Timeout: time.Second}
	dup := func(fd uintptr) { u.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }
	if e := raw.Control(dup); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if u.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(u.fd)
		return nil, os.NewSyscallError("eventfd", err)
	}
	return u, nil
}

// interrupt ends the wait of another goroutine. If no goroutine is waiting, it ends the
// next wait. It does not affect reads and writes of package ipv4.
func (u *Unpolled) interrupt() {
	u.mu.RLock()
	defer u.mu.RUnlock()
	if !u.closed.Load() {
		u.ring()
	}
}

func (u *Unpolled) ring() { unix.Write(u.event, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// ready says why a wait ended. If both fields are false, the socket may be readable, or the
// wait timed out.
type ready struct {
	errors      bool // the socket's error queue has an entry
	interrupted bool
}

// wait waits at most d until the socket is readable, its error queue has an entry,
// or another goroutine calls interrupt. A signal ends the wait, too. It returns
// net.ErrClosed if Close is called before or during the wait; any other error is
// the system's.
func (u *Unpolled) wait(d time.Duration) (r ready, err error) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	fds := [...]unix.PollFd{{Fd: int32(u.fd), Events: unix.POLLIN}, {Fd: int32(u.event), Events: unix.POLLIN}}
	if !u.closed.Load() {
		err = poll(fds[:], d)
	}
	switch {
	case u.closed.Load():
		return r, net.ErrClosed
	case err == unix.EINTR:
		return r, nil
	case err != nil:
		return r, os.NewSyscallError("ppoll", err)
	}
	r.errors = fds[0].Revents&unix.POLLERR != 0
	if fds[1].Revents != 0 {
		r.interrupted = true
		var count [8]byte
		unix.Read(u.event, count[:])
	}
	return r, nil
}

func poll(fds []unix.PollFd, d time.Duration) error {
	wait := unix.NsecToTimespec(int64(max(d, 0)))
	_, err := unix.Ppoll(fds, &wait, nil)
	return err
}

// Close closes the socket. A wait in progress and all later calls return
// net.ErrClosed. Close waits for reads and writes in progress.
func (u *Unpolled) Close() error {
	if u.closed.Swap(true) {
		return net.ErrClosed
	}
	u.ring()
	u.mu.Lock()
	defer u.mu.Unlock()
	unix.Close(u.event)
	return os.NewSyscallError("close", unix.Close(u.fd))
}

// SyscallConn returns the connection through which package ipv4 sends and receives.
func (u *Unpolled) SyscallConn() (syscall.RawConn, error) { return (*rawConn)(u), nil }

type rawConn Unpolled

func (r *rawConn) Control(f func(fd uintptr)) error {
	return r.Read(func(fd uintptr) bool { f(fd); return true })
}

// Read calls f until f returns true. Between the calls it waits until there is
// something to read.
func (r *rawConn) Read(f func(fd uintptr) bool) error { return r.try(f, unix.POLLIN) }

// Write calls f until f returns true. Between the calls it waits until there is room
// to send.
func (r *rawConn) Write(f func(fd uintptr) bool) error { return r.try(f, unix.POLLOUT) }

// yieldEvery is the number of calls after which a goroutine lets others run. If a
// goroutine runs for 10 ms, or makes about 16 long calls, Go's monitor thread takes its
// processor away in the middle of a system call. The monitor then looks for further long
// calls every 20 µs, which interrupts the sender. Yielding lowers the number of a scan's
// context switches to a fifth.
const yieldEvery = 8

// try calls f until f returns true, and waits for events between the calls.
func (r *rawConn) try(f func(fd uintptr) bool, events int16) error {
	if r.calls.Add(1)%yieldEvery == 0 {
		runtime.Gosched()
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for !r.closed.Load() {
		if f(uintptr(r.fd)) {
			return nil
		}
		fds := [...]unix.PollFd{{Fd: int32(r.fd), Events: events}}
		switch err := poll(fds[:], r.Timeout); {
		case err == unix.EINTR:
		case err != nil:
			return os.NewSyscallError("ppoll", err)
		case fds[0].Revents == 0:
			return os.ErrDeadlineExceeded
		}
	}
	return net.ErrClosed
}
