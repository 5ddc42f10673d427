// Package udp is the one socket of a scan: batches of datagrams in and out.
package udp

import (
	"errors"
	"net/netip"
	"time"
)

// Packet is one datagram and its other end.
type Packet struct {
	Addr uint64 // the other end: IPv4 address as a big-endian number << 16 | port
	Data []byte // UDP payload
}

// Config says what socket to open. The zero value is a socket on any address
// and a port of the system's choice.
type Config struct {
	Source     netip.AddrPort // where to send from; zero: any address, any port
	RecvBuffer int            // bytes asked of the kernel for receiving; zero: the system's default
	SendBuffer int            // bytes asked of the kernel for sending; zero: the system's default
	Batch      int            // datagrams a system call at most; zero: 128
	Device     string         // network device to be bound to (Linux only); empty: none
}

// Stats are the numbers of a socket. Counters only grow.
type Stats struct {
	Sent          uint64 // datagrams
	SentBytes     uint64 // UDP payload
	Received      uint64 // datagrams
	ReceivedBytes uint64 // UDP payload
	Reads         uint64 // system calls
	Writes        uint64 // system calls
	KernelDrops   uint64 // datagrams that the kernel threw away before we read them
	Pending       uint64 // ICMP errors of other datagrams that calls met and passed over
	Truncated     uint64 // datagrams longer than their buffer

	RecvBuffer      int // bytes granted by the kernel
	RecvBufferAsked int // bytes asked of the kernel; 0: nothing was asked
	SendBuffer      int // bytes granted by the kernel
	SendBufferAsked int // bytes asked of the kernel; 0: nothing was asked
}

// ErrAgain is what errors of Send are when the same datagram may be sent later.
var ErrAgain = errors.New("send again later")

// Conn is a UDP socket.
type Conn struct{}

// Listen opens a socket.
func Listen(cfg Config) (*Conn, error) { return nil, errors.ErrUnsupported }

// Recv receives datagrams.
func (c *Conn) Recv(ps []Packet, wait time.Duration) (n int, err error) {
	return 0, errors.ErrUnsupported
}

// Send sends datagrams.
func (c *Conn) Send(ps []Packet) (n int, err error) { return 0, errors.ErrUnsupported }

// Stats returns the numbers so far.
func (c *Conn) Stats() Stats { return Stats{} }

// LocalAddr returns the address that the socket is bound to.
func (c *Conn) LocalAddr() netip.AddrPort { return netip.AddrPort{} }

// Interrupt makes a blocked Recv return.
func (c *Conn) Interrupt() {}

// Close closes the socket.
func (c *Conn) Close() error { return nil }
