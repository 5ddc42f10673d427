package udp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
)

// Packet is one datagram and the address that it is sent to or comes from.
type Packet struct {
	Addr uint64 // the source or destination, as Pack returns it
	Data []byte // UDP payload

	// Stamp is the kernel's receive timestamp: the wall-clock time in nanoseconds since
	// 1970. It is 0 if the system does not report it; only Linux does. Send ignores it.
	Stamp int64

	// GSO makes Send pass the datagram and the next one to the kernel in one piece (generic
	// segmentation offload, Linux only). Both must be equally long, at most 512 bytes, and
	// go to the same address. The network sees two datagrams, but the kernel does most of
	// the work only once. If they can't be combined, Send sends each datagram on its own and
	// clears the field.
	GSO bool
}

// Pack returns an address and port as one number: the IPv4 address in big-endian order,
// shifted left by 16 bits, plus the port. It returns 0 for an address that isn't IPv4.
func Pack(a netip.AddrPort) uint64 {
	ip := a.Addr().Unmap()
	if !ip.Is4() {
		return 0
	}
	b := ip.As4()
	return uint64(binary.BigEndian.Uint32(b[:]))<<16 | uint64(a.Port())
}

// Unpack is the inverse of Pack.
func Unpack(addr uint64) netip.AddrPort {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(addr>>16))
	return netip.AddrPortFrom(netip.AddrFrom4(b), uint16(addr))
}

// Config holds the options of a socket. The zero value stands for any address and a
// port that the system chooses.
type Config struct {
	// The local address and port to send from; zero means any.
	Source netip.AddrPort
	// The sizes of the kernel's buffers to request, in bytes; zero means the system's
	// default.
	RecvBuffer int
	SendBuffer int
}

// maxBatch is the maximum number of datagrams per system call. With 64 of them, the cost
// of the call itself is small; twice as many leave room for bursts.
const maxBatch = 128

// bufferSize is the size of the buffer for one datagram. UDP's length field has no larger
// value.
const bufferSize = 1<<16 - 1

// Stats are the statistics of a socket. Counters only grow.
type Stats struct {
	Sent          uint64 // datagrams sent
	SentBytes     uint64 // UDP payload
	GSO           uint64 // pairs of datagrams sent in one piece
	Received      uint64 // datagrams received
	ReceivedBytes uint64 // UDP payload
	Reads         uint64 // system calls to receive
	Writes        uint64 // system calls to send
	// Datagrams that the kernel dropped because the receive buffer was full.
	KernelDrops uint64

	RecvQueued      int // bytes of RecvBuffer in use (Linux)
	RecvBuffer      int // bytes that the kernel granted
	RecvBufferAsked int // Config.RecvBuffer
	SendBuffer      int // bytes that the kernel granted
}

// counters are the Stats of a Conn. The goroutines in Recv and Send update them a few
// times per batch; any goroutine may read them.
type counters struct {
	mu sync.Mutex
	Stats
}

func (c *counters) count(f func(s *Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.Stats)
}

// Stats returns the current statistics.
func (c *Conn) Stats() (s Stats) {
	c.stats.count(func(now *Stats) { s = *now })
	c.readKernel(&s)
	return s
}

// Listen opens a socket. Its errors name the invalid option, or the operation that the
// system refused. It is not an error if the kernel's buffers are smaller than requested;
// Stats has the sizes.
func Listen(cfg Config) (*Conn, error) {
	src := cfg.Source.Addr().Unmap()
	if !src.IsValid() {
		src = netip.IPv4Unspecified()
	}
	if !src.Is4() {
		return nil, fmt.Errorf("the source address %v is not an IPv4 address", src)
	}
	lc := net.ListenConfig{Control: cfg.control}
	opened, err := lc.ListenPacket(context.Background(), "udp4", netip.AddrPortFrom(src, cfg.Source.Port()).String())
	if err != nil {
		return nil, err
	}
	c, err := cfg.newConn(opened.(*net.UDPConn))
	if err != nil {
		opened.Close()
		return nil, err
	}
	c.source = cfg.Source
	raw, err := c.sock.SyscallConn()
	if err == nil {
		s := &c.stats.Stats
		s.RecvBufferAsked = cfg.RecvBuffer
		err = raw.Control(func(fd uintptr) { s.RecvBuffer, s.SendBuffer = bufferSizes(fd) })
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Route looks up the route to addr, as Send does, but sends nothing. It returns the
// system's error.
func (c *Conn) Route(addr uint64) error { return Config{Source: c.source}.Route(addr) }

// control sets the options of a new socket.
func (cfg Config) control(_, _ string, raw syscall.RawConn) (err error) {
	return errors.Join(raw.Control(func(fd uintptr) { err = cfg.setOptions(fd) }), err)
}

// Route looks up the route to addr for a socket with these options. It sends nothing, and
// returns the system's error.
func (cfg Config) Route(addr uint64) error {
	d := net.Dialer{Control: cfg.control}
	if src := cfg.Source; src.IsValid() && !src.Addr().IsUnspecified() {
		d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(src.Addr(), 0)) // port 0, because the scan's socket already uses the port of src
	}
	probe, err := d.Dial("udp4", Unpack(addr).String())
	if err != nil {
		if errno := errnoOf(err); errno != 0 {
			return errno
		}
		return err
	}
	return probe.Close()
}

// LocalAddr returns the address to which the socket is bound.
func (c *Conn) LocalAddr() netip.AddrPort {
	a := c.sock.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Close closes the socket. It ends Recv with net.ErrClosed.
func (c *Conn) Close() error { return c.sock.Close() }

// ErrAgain stands for errors of Send that the datagram may not have caused: errors.Is(err,
// ErrAgain) is true for them. The caller may send the datagram again.
var ErrAgain = errors.New("can't send now")

func again(errno syscall.Errno) error { return fmt.Errorf("%w: %w", ErrAgain, errno) }

// errnoOf returns the errno inside an error, or 0 if there is none.
func errnoOf(err error) syscall.Errno {
	errno, _ := errors.AsType[syscall.Errno](err)
	return errno
}

// isAgain reports whether something other than the datagram caused errno, such as full
// buffers.
func isAgain(errno syscall.Errno) bool { return slices.Contains(againErrnos, errno) }

// isICMP reports whether errno may stand for an ICMP message.
func isICMP(errno syscall.Errno) bool { return slices.Contains(icmpErrnos, errno) }

func sendError(err error) error {
	switch errno := errnoOf(err); {
	case errno == 0:
		return closedOr(err)
	case isAgain(errno):
		return again(errno)
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
