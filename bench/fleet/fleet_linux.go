package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
)

// Fleet is a simulated fleet, with one socket and one goroutine per port.
type Fleet struct {
	model *model
	ports []*loopback.Port
	stray *loopback.Port // sends replies from a port that was not queried

	serving sync.WaitGroup // the ports that answer
}

// New opens the sockets of a fleet; Serve answers on them. It returns an error if
// the Config is invalid, or if the machine lacks the device lo, to which the
// sockets are bound.
func New(c Config) (*Fleet, error) {
	if _, err := newModel(c.on(c.nominalPorts())); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f := &Fleet{}
	if err := f.open(c); err != nil {
		return nil, errors.Join(fmt.Errorf("fleet: %w", err), f.Close())
	}
	return f, nil
}

// open opens the sockets. If it returns an error, Close closes the ones that are
// open.
func (f *Fleet) open(c Config) (err error) {
	if f.stray, err = loopback.Open(0); err != nil {
		return err
	}
	for _, number := range c.Ports {
		p, err := loopback.Open(number)
		if err != nil {
			return fmt.Errorf("port %d: %w", number, err)
		}
		f.ports = append(f.ports, p)
	}
	ports := make([]uint16, len(f.ports))
	for i, p := range f.ports {
		ports[i] = p.Number()
	}
	if f.model, err = newModel(c.on(ports)); err != nil {
		return err
	}
	for _, p := range f.ports {
		p.Stray = f.stray
		p.Answer(newResponder(f.model, p.Number()), newFaults(f.model, p.Number()))
	}
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
	all := f.ports
	if f.stray != nil {
		all = append(all, f.stray)
	}
	var errs []error
	for _, p := range all {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
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
