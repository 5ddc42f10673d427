package transcript

import (
	"context"
	"errors"
	"iter"
	"net/netip"

	"github.com/a2sscan/a2sscan/scanner"
)

// Query queries the server and fills in the session. A goroutine shows the
// datagrams as they arrive, so that the scan's loop does not wait for the terminal.
// Query stops if writing to the terminal fails.
func (s *Session) Query(ctx context.Context, cfg scanner.Config) error {
	cfg.Trace = s.Tap.Trace
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		for e := range s.Tap.Events {
			s.Log.Add(e)
			if s.Log.failed != nil {
				stop()
			}
		}
	}()
	_, err := scanner.Scan(ctx, cfg, oneTarget(s.target()), func(r *scanner.Result) {
		s.Result = r.Clone()
		if r.Status == scanner.StatusOK {
			stop() // nothing is left to wait for
		}
	})
	close(s.Tap.Events)
	<-shown
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func oneTarget(addr netip.AddrPort) iter.Seq[scanner.Target] {
	return func(yield func(scanner.Target) bool) { yield(scanner.Target{Addr: addr}) }
}
