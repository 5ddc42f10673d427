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
	return open(c, nil)
}

// Replay opens the sockets of a fleet whose servers are those of a recording
// that has its places. Of c the network, the seed and what makes the network a
// bad one count; the ports are those of the recording. The recording must not
// be used by another fleet.
func Replay(c Config, rec *Recording) (*Fleet, error) {
	c.Ports = rec.Ports()
	return open(c, rec)
}

// open opens the sockets of a fleet of c's servers, or of rec's.
func open(c Config, rec *Recording) (*Fleet, error) {
	m, err := newModel(c)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f := &Fleet{model: m}
	for _, number := range m.ports {
		conn, err := listenUnpolled(number)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("fleet: port %d: %w", number, err)
		}
		p := newPort(m, number, conn)
		p.rec = rec
		f.ports = append(f.ports, p)
	}
	if f.stray, err = listen(0); err != nil {
		f.Close()
		return nil, fmt.Errorf("fleet: %w", err)
	}
	return f, nil
}

// listenUnpolled is listen for a socket that answers as many as it can.
func listenUnpolled(number uint16) (*udp.Unpolled, error) {
	conn, err := listen(number)
	if err != nil {
		return nil, err
	}
	return udp.Unpoll(conn)
}

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
