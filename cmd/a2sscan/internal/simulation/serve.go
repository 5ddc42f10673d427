package simulation

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
)

// serve runs the servers, and the master unless m is nil, until o.Span has passed
// or ctx is done.
func (r *Runner) serve(ctx context.Context, o *Options, servers *fleet.Fleet, m *fleet.Master) error {
	if o.Span > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, o.Span)
		defer stop()
	}
	if m != nil {
		defer r.serveMaster(ctx, o, m)()
	}
	status := func() string { return statusLine(servers.Stats()) }
	stop := r.Term.RepeatStatus(progress.Interval(r.Term), status)
	err := servers.Serve(ctx)
	stop()
	r.Term.FinalStatus(status())
	if err != nil && ctx.Err() == nil {
		return console.Fail(console.ExitUsage, "%w", err)
	}
	return nil
}

// serveMaster starts the master. The returned function stops it, waits until it has
// ended and prints how many requests it received.
func (r *Runner) serveMaster(ctx context.Context, o *Options, m *fleet.Master) (wait func()) {
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx) }()
	r.reportMaster(o, m)
	return func() {
		m.Close()
		if err := <-done; err != nil {
			r.Term.Say("%v", err)
		}
		udp, web := m.Requests()
		r.Term.Say("master: %d requests over UDP, %d over HTTP", udp, web)
	}
}

// Failure returns the error for servers that can't start.
func Failure(err error) error {
	f := console.Fail(console.ExitUsage, "%w", err)
	if errors.Is(err, syscall.EADDRINUSE) {
		f.WithHint("another program has that port: choose another with --port")
	}
	return f
}

// statusLine returns the status line of the servers.
func statusLine(s fleet.Stats) string {
	return fmt.Sprintf("queries %d; replies %d, %s; unanswered %d; lost on purpose %d; drops %d",
		s.Queries, s.Replies, console.Bytes(s.ReplyBytes), s.Nobody+s.Malformed+s.Limited,
		s.LostQueries+s.LostReplies, s.KernelDrops+s.Overflow+s.SendErrors)
}
