package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
)

// Fleet is a simulated fleet, with one socket and one goroutine per port.
type Fleet struct {
	model *model
	ports []*loopback.Port
	stray *net.UDPConn // sends replies from a port that was not queried

	serving sync.WaitGroup // the ports that answer
}

// New opens the sockets of a fleet; Serve answers on them. It returns an error if
// the Config is invalid, or if the machine lacks the device lo, to which the
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

// Sockets are bound to their ports on every address of the device lo, but do not
// answer yet. They reserve free ports for a recording, which needs to know its
// ports in advance.
type Sockets struct{ conns []*net.UDPConn }

// Listen opens a socket on each of the ports. A port 0, which may occur several
// times, stands for a port that no other socket on this machine's loopback has.
func Listen(ports []uint16) (*Sockets, error) {
	s := &Sockets{}
	for _, number := range ports {
		conn, err := loopback.Open(number)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("fleet: port %d: %w", number, err)
		}
		s.conns = append(s.conns, conn)
	}
	return s, nil
}

// Ports returns the ports in the order of Listen's argument.
func (s *Sockets) Ports() []uint16 {
	ports := make([]uint16, len(s.conns))
	for i, conn := range s.conns {
		ports[i] = loopback.Number(conn)
	}
	return ports
}

// Close closes the sockets that no fleet has taken over. Closing a nil Sockets does
// nothing.
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

// Fleet makes a fleet of the sockets, in which a answers all queries to the
// addresses and ports of c. The network faults, the delays, the query limit and the
// seed of c apply; its choice of servers does not. Fleet takes over the sockets,
// even if it returns an error.
func (s *Sockets) Fleet(c Config, a Answerer) (*Fleet, error) { return s.serve(c, a) }

// serve makes a fleet of the sockets. Its servers are those of a or, if a is nil,
// those of c.
func (s *Sockets) serve(c Config, a Answerer) (*Fleet, error) {
	defer s.Close()
	m, err := newModel(c)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f := &Fleet{model: m}
	if f.stray, err = loopback.Open(0); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	for len(s.conns) > 0 {
		conn := s.conns[0]
		s.conns = s.conns[1:]
		if err := f.addPort(conn, a); err != nil {
			f.Close()
			return nil, fmt.Errorf("fleet: %w", err)
		}
	}
	return f, nil
}

func (f *Fleet) addPort(conn *net.UDPConn, a Answerer) error {
	number := loopback.Number(conn)
	r := newResponder(f.model, number)
	r.answers = a
	p, err := loopback.NewPort(conn, f.stray, r, newFaults(f.model, number))
	if err != nil {
		return err
	}
	f.ports = append(f.ports, p)
	return nil
}

// Config returns the Config of the fleet with its actual ports. The methods Truth
// and Nature of that Config describe this fleet.
func (f *Fleet) Config() Config { return f.model.Config }

// Ports returns the ports of the fleet, in the order of Config.Ports.
func (f *Fleet) Ports() []uint16 { return f.model.Config.Ports }

// Serve answers requests until ctx is done or the Fleet is closed, and then returns
// nil. If a port fails, Serve stops and returns its error. It must be called at most
// once.
func (f *Fleet) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	start := time.Now()
	for _, p := range f.ports {
		f.serving.Go(func() {
			if err := p.Serve(ctx, start); err != nil {
				stop(fmt.Errorf("fleet: port %d: %w", p.Number(), err))
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
		p.End()
	}
	f.serving.Wait()
	var errs []error
	for _, p := range f.ports {
		errs = append(errs, p.Close())
	}
	return errors.Join(append(errs, f.stray.Close())...)
}

// Stats returns the statistics of the fleet, up to the last batch of each port.
func (f *Fleet) Stats() Stats {
	var sum Stats
	for _, p := range f.ports {
		seen := p.Stats()
		sum.Add(&seen)
	}
	return sum
}
