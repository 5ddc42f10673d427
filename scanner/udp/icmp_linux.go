//go:build !portable

package udp

import (
	"net/netip"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// icmpQueue reads the socket's error queue, in which the kernel keeps ICMP errors
// about sent datagrams. The entries take up space in the receive buffer, so the Conn
// empties the queue as soon as an error shows that the queue has an entry.
type icmpQueue struct {
	raw syscall.RawConn

	// mu guards the error queue, addrs and oob. writeAgain holds mu until it returns.
	mu    sync.Mutex
	addrs []uint64 // unreachable destinations that Unreachable has not returned yet
	oob   [128]byte
}

// maxUnreachable is the maximum number of addresses that wait for a call of Unreachable.
// They take 32 KiB.
const maxUnreachable = 4096

const maxDrain = 256

func (q *icmpQueue) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drainLocked()
}

// drainLocked is drain for callers that hold mu. It returns how many of the entries were
// ICMP errors.
func (q *icmpQueue) drainLocked() (n int) {
	const flags = unix.MSG_ERRQUEUE | unix.MSG_DONTWAIT
	q.raw.Control(func(fd uintptr) {
		for range maxDrain {
			_, oobn, _, from, err := unix.Recvmsg(int(fd), nil, q.oob[:], flags)
			if err != nil {
				return
			}
			e, ok := parseICMP(q.oob[:oobn])
			if !ok {
				continue
			}
			n++
			to, isIPv4 := from.(*unix.SockaddrInet4)
			if isIPv4 && e.unreachable() && len(q.addrs) < cap(q.addrs) {
				q.addrs = append(q.addrs, Pack(netip.AddrPortFrom(netip.AddrFrom4(to.Addr), uint16(to.Port))))
			}
		}
	})
	return n
}

type icmpError struct{ typ, code byte }

// unreachable reports whether a message has the type "unreachable", but not the code
// "fragmentation needed", or the type "time exceeded" (RFC 792).
func (e icmpError) unreachable() bool { return e.typ == 3 && e.code != 4 || e.typ == 11 }

// parseICMP finds the ICMP message in an entry of the error queue, a struct
// sock_extended_err (ip(7)). It returns false if this machine itself refused the datagram.
func parseICMP(oob []byte) (icmpError, bool) {
	for len(oob) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			break
		}
		if h.Level == unix.SOL_IP && h.Type == unix.IP_RECVERR && len(data) >= 16 {
			return icmpError{typ: data[5], code: data[6]}, data[4] == unix.SO_EE_ORIGIN_ICMP
		}
		oob = rest
	}
	return icmpError{}, false
}
