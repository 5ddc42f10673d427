// Package shutdown turns signals into the end of a run: the first one lets it
// finish what it has begun, the second ends it.
package shutdown

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// relayHangup relays SIGHUP to signals, unless the process ignores it, as it does
// under nohup.
func relayHangup(signals chan<- os.Signal) {
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
}

// Interruptible returns a context that the first signal cancels. The second
// signal kills the program, unless it is a hangup: a closing session may send
// two. With hangup, SIGHUP counts as a signal.
func Interruptible(hangup bool) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, hangups := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if hangup {
		relayHangup(hangups)
	}
	go func() {
		select {
		case <-signals:
		case <-hangups:
		case <-ctx.Done():
		}
		signal.Stop(signals)
		cancel()
	}()
	return ctx, func() { signal.Stop(hangups); cancel() }
}

// Shutdown turns signals into the two ways to end a scan. The first signal
// drains it: open targets are finished and no new ones start. The second signal
// cancels it.
type Shutdown struct {
	Draining chan struct{}   // closed when draining begins
	Drained  context.Context // done when draining begins
	Cancel   func()          // cancels the context that Listen returned

	quit func() // ends Drained
	once sync.Once

	mu          sync.Mutex
	interrupted bool // a signal came
}

// Listen returns a Shutdown and the context that it cancels. With hangup,
// SIGHUP acts as the first signal, never as the second. The function end stops
// the handling of signals.
func Listen(t *console.Terminal, hangup bool) (s *Shutdown, ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s = &Shutdown{Draining: make(chan struct{}), Cancel: cancel}
	s.Drained, s.quit = context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if hangup {
		relayHangup(signals)
	}
	go func() {
		for sig := range signals {
			t.Log.Warn("signal", "name", sig.String())
			if sig != syscall.SIGHUP || !s.Interrupted() {
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

func (s *Shutdown) signalled(t *console.Terminal) {
	s.mu.Lock()
	again := s.interrupted
	s.interrupted = true
	s.mu.Unlock()
	if again {
		s.Cancel()
		t.Say("interrupted again: writing what is there")
		return
	}
	s.Drain()
	t.Say("interrupted: no new targets, finishing what is open")
	t.Hint("interrupt again to end at once")
}

// Drain lets the scan finish what is open and start nothing new.
func (s *Shutdown) Drain() { s.once.Do(func() { close(s.Draining); s.quit() }) }

// Interrupted reports whether a signal came.
func (s *Shutdown) Interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interrupted
}
