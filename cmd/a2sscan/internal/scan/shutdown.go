package scan

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Interruptible returns a context that SIGINT or SIGTERM cancels. After that, these
// signals kill the program. If hangup is set, SIGHUP cancels the context, too, but never
// kills the program, because a closing session may send SIGHUP twice. A process that
// ignores SIGHUP, as under nohup, still ignores it.
func Interruptible(hangup bool) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, hangups := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if hangup && !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangups, syscall.SIGHUP)
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

// HandleSignals calls do for each of the given signals, until end is called. If a call of
// do is running, end waits for it. After that the signals have no effect until the process
// exits, so that a signal at the very end does not kill a run that has reported its
// success.
func HandleSignals(do func(os.Signal), which ...os.Signal) (end func()) {
	signals := make(chan os.Signal, 16)
	var mu sync.Mutex
	ended := false
	signal.Notify(signals, which...)
	go func() {
		for sig := range signals {
			mu.Lock()
			if !ended {
				do(sig)
			}
			mu.Unlock()
		}
	}()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}
}

// Shutdown ends a scan in one of two ways. The first signal drains the scan: the scan
// finishes its open targets and starts no new targets. The second signal cancels the
// scan.
type Shutdown struct {
	Drained context.Context // done when draining begins
	Drain   func()          // drains the scan
	Cancel  func()          // cancels the context that NewShutdown returned

	mu          sync.Mutex
	interrupted bool        // a signal arrived
	stuck       func()      // called if the second signal does not end the scan
	timer       *time.Timer // calls stuck; nil: no second signal has arrived
}

// cancelTime is how long a scan may take to end after the second signal. After that time,
// Shutdown.stuck is called.
const cancelTime = 700 * time.Millisecond

// NewShutdown returns a Shutdown and the context that its second signal cancels. If
// hangup is set, SIGHUP acts as the first signal, but never as the second. Calling end
// makes the signals ineffective and cancels the context.
func NewShutdown(t *console.Terminal, hangup bool) (s *Shutdown, ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s = &Shutdown{Cancel: cancel, stuck: func() {}}
	s.Drained, s.Drain = context.WithCancel(ctx)
	which := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if hangup && !signal.Ignored(syscall.SIGHUP) {
		which = append(which, syscall.SIGHUP)
	}
	stop := HandleSignals(func(sig os.Signal) {
		t.Log.Warn("signal", "name", sig.String())
		s.mu.Lock()
		first := !s.interrupted
		s.interrupted = true
		if !first && sig != syscall.SIGHUP && s.timer == nil {
			s.timer = time.AfterFunc(cancelTime, s.stuck)
		}
		s.mu.Unlock()
		switch {
		case first:
			s.Drain()
			t.Say("interrupted: starting no new targets, finishing targets in progress")
			t.Hint("interrupt again to end at once")
		case sig != syscall.SIGHUP:
			s.Cancel()
			t.Say("interrupted again: writing the results so far")
		}
	}, which...)
	return s, ctx, func() {
		stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer != nil {
			s.timer.Stop()
		}
		cancel()
	}
}

// OnStuck sets the function to call if the scan takes longer than cancelTime to end after
// the second signal.
func (s *Shutdown) OnStuck(stuck func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stuck = stuck
}

// Interrupted reports whether a signal has arrived.
func (s *Shutdown) Interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interrupted
}
