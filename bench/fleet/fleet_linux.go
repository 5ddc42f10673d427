package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// Fleet is a simulated fleet: one socket and one goroutine a port.
type Fleet struct {
	model *model
	ports []*port
	stray *net.UDPConn // what is sent from a port that nobody asked

	serving sync.WaitGroup // the ports that answer
}

// recvBuffer is asked of the kernel for each socket: at 100,000 queries a
// second, which take about 800 bytes of it each, a pause of 200 ms.
const recvBuffer = 16 << 20

// New opens the sockets of a fleet; Serve answers on them. It refuses a Config
// that makes no sense, and a machine without the device lo, to which the
// sockets are bound.
func New(c Config) (*Fleet, error) {
	if _, err := newModel(c.on(c.nominalPorts())); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	s, err := Listen(c.Ports)
	if err != nil {
		return nil, err
	}
	return s.serve(c.on(s.Ports()), nil)
}

// Replay opens the sockets of a fleet whose servers are those of a recording
// that has its places. Of c the network, the seed and what makes the network a
// bad one count; the ports are those of the recording. The recording must not
// be used by another fleet.
func Replay(c Config, rec *Recording) (*Fleet, error) {
	s, err := Listen(rec.Ports())
	if err != nil {
		return nil, err
	}
	return s.Replay(c, rec)
}

// Sockets are open on every address of the device lo, and nobody answers yet.
// They hold free ports for a recording that needs to know them.
type Sockets struct{ conns []*net.UDPConn }

// Listen opens a socket on each of the ports. 0 stands for a port that no
// other socket of this machine's loopback has; it may be given several times.
func Listen(ports []uint16) (*Sockets, error) {
	s := &Sockets{}
	for _, number := range ports {
		conn, err := listen(number)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("fleet: port %d: %w", number, err)
		}
		s.conns = append(s.conns, conn)
	}
	return s, nil
}

// Ports returns the ports in the order in which Listen was given them.
func (s *Sockets) Ports() []uint16 {
	ports := make([]uint16, len(s.conns))
	for i, conn := range s.conns {
		ports[i] = portOf(conn)
	}
	return ports
}

func portOf(conn *net.UDPConn) uint16 { return conn.LocalAddr().(*net.UDPAddr).AddrPort().Port() }

// Close closes those of the sockets that no fleet has taken over. A nil Sockets
// has none.
func (s *Sockets) Close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, conn := range s.conns {
		errs = append(errs, conn.Close())
	}
	s.conns = nil
	return errors.Join(errs...)
}

// Replay is the function Replay, on sockets that are open. The fleet closes
// them, also if there is an error.
func (s *Sockets) Replay(c Config, rec *Recording) (*Fleet, error) {
	c.Ports = rec.Ports()
	return s.serve(c, rec)
}

// serve makes a fleet of c's servers, or of rec's, on the sockets.
func (s *Sockets) serve(c Config, rec *Recording) (*Fleet, error) {
	defer s.Close()
	m, err := newModel(c)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f := &Fleet{model: m}
	for len(s.conns) > 0 {
		conn := s.conns[0]
		s.conns = s.conns[1:]
		if err := f.addPort(conn, rec); err != nil {
			f.Close()
			return nil, fmt.Errorf("fleet: %w", err)
		}
	}
	if f.stray, err = listen(0); err != nil {
		f.Close()
		return nil, fmt.Errorf("fleet: %w", err)
	}
	return f, nil
}

// addPort lets a socket answer as many as it can.
func (f *Fleet) addPort(conn *net.UDPConn, rec *Recording) error {
	number := portOf(conn)
	unpolled, err := udp.Unpoll(conn)
	if err != nil {
		return err
	}
	p := newPort(f.model, number, unpolled)
	p.rec = rec
	f.ports = append(f.ports, p)
	return nil
}

// Config returns what fleet it is, with the ports that it is on. Its Truth and
// Nature are those of this fleet.
func (f *Fleet) Config() Config { return f.model.Config }

// Ports returns the ports that the fleet is on, in the order of Config.Ports.
func (f *Fleet) Ports() []uint16 { return f.model.Config.Ports }

// listen opens a socket on a port of every address of the device lo.
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
	if err != nil {
		return nil, cause(err)
	}
	return conn.(*net.UDPConn), nil
}

// cause is what the system says of a socket, where the address is said by
// others, or is no matter.
func cause(err error) error {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	return err
}

// checkLoopback refuses a machine whose device lo is missing or something
// else.
func checkLoopback() error {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return fmt.Errorf("no device lo, to which the socket must be bound: %w", err)
	}
	if lo.Flags&net.FlagLoopback == 0 {
		return errors.New("the device lo is no loopback device; the socket must not be bound to it")
	}
	return nil
}

// wallIn binds a socket to the device lo and makes it tell for which address
// each datagram was, and how many the kernel dropped.
func wallIn(fd int) error {
	if err := unix.BindToDevice(fd, "lo"); err != nil {
		return fmt.Errorf("can't be bound to the device lo, and must be: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1); err != nil {
		return fmt.Errorf("no address of arrival to be had (IP_PKTINFO): %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1); err != nil {
		return fmt.Errorf("no count of drops to be had (SO_RXQ_OVFL): %w", err)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, recvBuffer) != nil {
		// Not privileged: as much as everybody gets.
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, recvBuffer)
	}
	return nil
}

// Serve answers until ctx is done or the Fleet is closed, and returns nil
// then. It may be called once.
func (f *Fleet) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	start := time.Now()
	for _, p := range f.ports {
		f.serving.Go(func() {
			if err := p.serve(ctx, start, f.stray); err != nil {
				stop(fmt.Errorf("fleet: port %d: %w", p.number, err))
			}
		})
	}
	f.serving.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// Close ends Serve and closes the sockets.
func (f *Fleet) Close() error {
	for _, p := range f.ports {
		p.closed.Store(true)
	}
	f.serving.Wait()
	var errs []error
	for _, p := range f.ports {
		errs = append(errs, p.conn.Close())
	}
	if f.stray != nil {
		errs = append(errs, f.stray.Close())
	}
	return errors.Join(errs...)
}

// Stats returns the numbers of the fleet, up to the last batch of each port.
func (f *Fleet) Stats() Stats {
	var sum Stats
	for _, p := range f.ports {
		p.mu.Lock()
		sum.Add(&p.seen)
		p.mu.Unlock()
	}
	return sum
}
