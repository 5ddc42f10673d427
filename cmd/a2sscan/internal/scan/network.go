package scan

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

const (
	// onlineEvery is how long online waits before it checks the network again, or before it
	// calls its argument again.
	onlineEvery = time.Second
	// settling is how long look-ups of names may still fail after the network is back.
	settling = 10 * time.Second
)

// online calls try until a call succeeds. If a call fails because this machine has no
// network, for example after a boot, online waits for the network, but at most
// --max-outage. If a call fails for another reason, and the network was not away
// during the last 10 s (settling), online returns the error.
func (s *Run) online(ctx context.Context, try func() error) error {
	var since, last time.Time // when online first and last found the network away
	for {
		err := try()
		for scanner.NetworkAway(err) && ctx.Err() == nil {
			if last = time.Now(); since.IsZero() {
				since = last
			}
			if most := s.plan.Guard.MaxOutage; most > 0 && last.Sub(since) >= most {
				return console.Fail(console.ExitGuard, "stopped by --max-outage: the network of this machine has been away since %s", since.Format(time.TimeOnly))
			}
			if s.sayAway(since, err) {
				s.term.Log.Warn("the network of this machine is away", "since", since.Format(time.TimeOnly))
			}
			console.Pause(ctx, onlineEvery)
		}
		if err == nil || ctx.Err() != nil || time.Since(last) > settling {
			return err
		}
		console.Pause(ctx, onlineEvery)
	}
}

// sayAway prints, before the scan begins, that the network is away. It prints only on the
// first call, and reports whether this is the first call.
func (s *Run) sayAway(since time.Time, why error) (first bool) {
	if first = !s.away.Swap(true); first {
		s.term.Say("the network of this machine has been away since %s, so the scan waits (%v)", since.Format(time.TimeOnly), why)
	}
	return first
}

// lookUp looks up a host name. If this machine has no network, lookUp waits. If the
// network stays away for longer than --max-outage, lookUp ends the scan, and does not return
// before ctx is done. Otherwise the scan would read on, as if the name had no address.
func (s *Run) lookUp(ctx context.Context, host string) (found []netip.Addr, err error) {
	err = s.online(ctx, func() (err error) {
		found, err = Resolve(ctx, host)
		return err
	})
	if console.ExitCode(err) == console.ExitGuard && s.guard != nil {
		s.guard.stop("--max-outage", "%s", strings.TrimPrefix(err.Error(), "stopped by --max-outage: "))
		<-ctx.Done()
	}
	return found, err
}
