package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// heedHangup relays a hangup as a signal that ends a run, unless somebody said
// to pass over it (nohup).
func heedHangup(signals chan<- os.Signal) {
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
}

// interruptible returns a context that the first signal cancels. The second
// ends the program, unless it is a hangup: a session that closes may send two.
func interruptible(hangup bool) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, gone := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if hangup {
		heedHangup(gone)
	}
	go func() {
		select {
		case <-signals:
		case <-gone:
		case <-ctx.Done():
		}
		signal.Stop(signals)
		cancel()
	}()
	return ctx, func() { signal.Stop(gone); cancel() }
}

// stopper turns signals into the two ways to end a scan: the first lets it
// finish what is open, the second makes it go.
type stopper struct {
	drain chan struct{}   // closed: no new targets
	first context.Context // done then
	quit  func()          // of first
	once  sync.Once
	stop  func() // of the context
	mu    sync.Mutex
	hit   bool // a signal came
}

// listen returns a stopper and the context that it cancels; a hangup is the
// first signal and never the second. Its end takes the signals' handling away
// again.
func listen(t *console.Terminal, hangup bool) (s *stopper, ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s = &stopper{drain: make(chan struct{}), stop: cancel}
	s.first, s.quit = context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if hangup {
		heedHangup(signals)
	}
	go func() {
		for sig := range signals {
			t.Log.Warn("signal", "name", sig.String())
			if sig != syscall.SIGHUP || !s.interrupted() {
				s.signalled(t)
			}
		}
	}()
	return s, ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}

func (s *stopper) signalled(t *console.Terminal) {
	s.mu.Lock()
	again := s.hit
	s.hit = true
	s.mu.Unlock()
	if again {
		s.stop()
		t.Say("interrupted again: writing what is there")
		return
	}
	s.finish()
	t.Say("interrupted: no new targets, finishing what is open")
	t.Hint("interrupt again to end at once")
}

// finish lets a scan finish what is open and start nothing new.
func (s *stopper) finish() { s.once.Do(func() { close(s.drain); s.quit() }) }

// interrupted reports whether a signal came.
func (s *stopper) interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hit
}
