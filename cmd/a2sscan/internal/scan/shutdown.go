package scan

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Interruptible returns a context that SIGINT or SIGTERM cancels. After that, these
// signals kill the program. If hangup is set, SIGHUP cancels the context, too, but never
// kills the program, because a closing session may send SIGHUP twice. A process that
// ignores SIGHUP, as under nohup, still ignores it.
func Interruptible(hangup bool) (ctx context.Context, end func()) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, cancel) // stops the notification, so that a second signal kills
	hangups := make(chan os.Signal, 1)
	if hangup && !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangups, syscall.SIGHUP)
		go func() {
			select {
			case <-hangups:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
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

	interrupted atomic.Bool // a signal arrived
}

// cancelTime is how long a scan may take to end after the second signal.
const cancelTime = 700 * time.Millisecond

// interruptions returns the signals that end a scan. SIGHUP is one of them if hangup is
// set, unless the process ignores it, as under nohup.
func interruptions(hangup bool) []os.Signal {
	which := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if hangup && !signal.Ignored(syscall.SIGHUP) {
		which = append(which, syscall.SIGHUP)
	}
	return which
}

// NewShutdown returns a Shutdown and the context that its second signal cancels. If the
// scan has not ended cancelTime after the second signal, stuck is called. If hangup is set,
// SIGHUP acts as the first signal, but never as the second. Calling end makes the signals
// ineffective and cancels the context.
func NewShutdown(t *console.Terminal, hangup bool, stuck func()) (s *Shutdown, ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s = &Shutdown{Cancel: cancel}
	s.Drained, s.Drain = context.WithCancel(ctx)
	var timer *time.Timer // nil: no second signal has arrived
	stop := HandleSignals(func(sig os.Signal) {
		t.Log.Warn("signal", "name", sig.String())
		switch {
		case !s.interrupted.Swap(true):
			s.Drain()
			t.Say("interrupted: starting no new targets, finishing targets in progress")
			t.Hint("interrupt again to end at once")
		case sig != syscall.SIGHUP:
			if timer == nil {
				timer = time.AfterFunc(cancelTime, stuck)
			}
			s.Cancel()
			t.Say("interrupted again: writing the results so far")
		}
	}, interruptions(hangup)...)
	return s, ctx, func() {
		stop()
		if timer != nil { // stop has ended the handler, which sets timer
			timer.Stop()
		}
		cancel()
	}
}

// Interrupted reports whether a signal has arrived.
func (s *Shutdown) Interrupted() bool { return s.interrupted.Load() }
