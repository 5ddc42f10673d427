package fleet

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
)

// Fleet is a simulated fleet, with one socket and one goroutine per port. Serve
// answers until its context is done or the Fleet is closed.
type Fleet struct {
	loopback.Group
	model *model
}

// New opens the sockets of a fleet; Serve answers on them. New returns an error if the
// Config is invalid, or if the machine lacks the device lo, to which the sockets are
// bound.
func New(c Config) (f *Fleet, err error) {
	f = &Fleet{}
	defer func() {
		if err != nil {
			f, err = nil, errors.Join(fmt.Errorf("fleet: %w", err), f.Close())
		}
	}()
	if err := c.check(); err != nil {
		return f, err
	}
	var ports []uint16
	for _, number := range c.Ports {
		p, err := f.Open(number)
		if errors.Is(err, syscall.EADDRINUSE) && loopback.IsFleet(number) {
			err = ErrFleet
		}
		if err != nil {
			return f, fmt.Errorf("port %d: %w", number, err)
		}
		ports = append(ports, p.Number())
	}
	stray, err := f.Open(0) // sends replies from a port that was not queried
	if err != nil {
		return f, err
	}
	c.Ports = ports
	if f.model, err = newModel(c); err != nil {
		return f, err
	}
	m, longest := f.model, c.DelayMax
	if c.Fakes > 0 {
		longest += edgeDelay
	}
	for _, p := range f.Group.Ports[:len(ports)] {
		p.Stray = stray
		p.Answer(newResponder(m, p.Number()), loopback.Faults{
			Seed: random.Hash(m.Seed, m.seedPort(p.Number()), 0xFA),
			Loss: m.Loss, Duplicate: m.Duplicate, Reorder: m.Reorder, DelayMax: longest,
		})
	}
	return f, nil
}

// Config returns the Config of the fleet with the port numbers that the fleet uses. The
// methods Truth and Nature of that Config describe this fleet.
func (f *Fleet) Config() Config { return f.model.Config }
