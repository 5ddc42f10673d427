package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// stopper turns SIGINT and SIGTERM into the two ways to end a scan: the first
// lets it finish what is open, the second makes it go.
type stopper struct {
	drain chan struct{}   // closed: no new targets
	first context.Context // done then
	quit  func()          // of first
	once  sync.Once
	stop  func() // of the context
	mu    sync.Mutex
	hit   bool // a signal came
}

// listen returns a stopper and the context that it cancels. Its end takes the
// signals' handling away again.
func (t *terminal) listen() (s *stopper, ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s = &stopper{drain: make(chan struct{}), stop: cancel}
	s.first, s.quit = context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for sig := range signals {
			t.log.Warn("signal", "name", sig.String())
			s.signalled(t)
		}
	}()
	return s, ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}

func (s *stopper) signalled(t *terminal) {
	s.mu.Lock()
	again := s.hit
	s.hit = true
	s.mu.Unlock()
	if again {
		s.stop()
		t.say("interrupted again: writing what is there")
		return
	}
	s.finish()
	t.say("interrupted: no new targets, finishing what is open")
	t.hint("interrupt again to end at once")
}

// finish lets a scan finish what is open and start nothing new.
func (s *stopper) finish() { s.once.Do(func() { close(s.drain); s.quit() }) }

// interrupted reports whether a signal came.
func (s *stopper) interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hit
}
