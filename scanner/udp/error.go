package udp

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// ErrAgain matches, with errors.Is, an error of Send that the datagram did not
// cause: the same datagram may be sent later.
var ErrAgain = errors.New("can't send now")

// againError is an error of the system that matches ErrAgain.
type againError syscall.Errno

func (e againError) Error() string {
	return ErrAgain.Error() + ": " + syscall.Errno(e).Error()
}

func (e againError) Is(target error) bool { return target == ErrAgain }
func (e againError) Unwrap() error        { return syscall.Errno(e) }

// errnoOf returns the errno inside an error of packages net and ipv4, or 0 if there is
// none. It is errors.As without its allocation.
func errnoOf(err error) syscall.Errno {
	for err != nil {
		switch e := err.(type) {
		case syscall.Errno:
			return e
		case *net.OpError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return 0
		}
	}
	return 0
}

// sendError returns what Send returns for an error of the system.
func sendError(err error) error {
	switch errno := errnoOf(err); {
	case errno == 0:
		return closedOr(err)
	case isAgain(errno):
		return againError(errno)
	default:
		return errno
	}
}

// closedOr returns err, or plain net.ErrClosed if the Conn was closed.
func closedOr(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return net.ErrClosed
	}
	return err
}
