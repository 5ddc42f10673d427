// Package simulation runs simulated servers for the commands fleet and demo.
package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
)

// Options describes the servers to simulate.
type Options struct {
	Fleet   fleet.Config
	Ports   string             // ports as the user typed them
	Master  fleet.MasterConfig // used if UDP or Web is set
	Span    time.Duration      // duration of the simulation; 0: until interrupted
	Truth   io.Writer          // receives the planned outages
	Program string             // command that starts this program, for hints
}

// Run simulates the servers and, if o.Master has an address, a master, until o.Span has
// passed or the user interrupts the program.
func Run(t *console.Terminal, o *Options) error {
	servers, err := fleet.New(o.Fleet)
	if err != nil {
		return failure(err, "choose another port with --port")
	}
	defer servers.Close()
	var m *fleet.Master
	if o.Master.UDP.IsValid() || o.Master.Web.IsValid() {
		o.Master.Fleet = servers.Config()
		if m, err = fleet.NewMaster(o.Master); err == nil {
			err = m.Listen()
		}
		if err != nil {
			return failure(err, "choose another port with --master or --web, or port 0 for any free port")
		}
	}
	ctx, end := scan.Interruptible(true) // signals are handled before Run reports that it is ready
	defer end()
	until := "until interrupted"
	if o.Span > 0 {
		until = "for " + o.Span.String()
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, o.Span)
		defer stop()
	}
	ports := o.Ports
	if slices.Contains(o.Fleet.Ports, 0) { // free ports were chosen
		ports = strings.ReplaceAll(strings.Trim(fmt.Sprint(servers.Config().Ports), "[]"), " ", ",")
	}
	if err := servers.Config().WriteLife(o.Truth, time.Now()); err != nil {
		return err
	}
	t.Say("ready: servers on %s, port %s, %s", o.Fleet.Network, ports, until)
	t.Hint("scan the servers with: %s scan %s -p %s --allow-reserved", o.Program, o.Fleet.Network, ports)
	if m != nil {
		defer serveMaster(ctx, t, o, m)()
	}
	status := func() string {
		s := servers.Stats()
		return fmt.Sprintf("queries %d; replies %d, %s; unanswered %d; lost on purpose %d; drops %d",
			s.Queries, s.Replies, console.Bytes(s.ReplyBytes), s.Nobody+s.Malformed,
			s.LostQueries+s.LostReplies, s.KernelDrops+s.Overflow+s.SendErrors)
	}
	stop := t.RepeatStatus(t.StatusInterval(), status)
	err = servers.Serve(ctx)
	stop()
	t.FinalStatus(status())
	if err != nil && ctx.Err() == nil {
		return console.Fail(console.ExitUsage, "%w", err)
	}
	return nil
}

// serveMaster starts the master. The returned function stops the master, waits until it
// has ended and prints the number of requests that it received.
func serveMaster(ctx context.Context, t *console.Terminal, o *Options, m *fleet.Master) (wait func()) {
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx) }()
	if at := m.UDPAddr(); at != "" {
		t.Say("ready: a master server at %s that lists %s", at, console.Plural(m.Len(), "server"))
		t.Hint("fetch the master's list with: %s master --udp %s", o.Program, at)
	}
	if url := m.URL(); url != "" {
		t.Say("ready: a Web API at %s that lists %s; it accepts any key", url, console.Plural(m.Len(), "server"))
		t.Hint("fetch the Web API's list with: %s=any %s master --url %s", masterlist.KeyVariable, o.Program, url)
	}
	return func() {
		m.Close()
		if err := <-done; err != nil {
			t.Say("%v", err)
		}
		udp, web := m.Requests()
		t.Say("requests to the master: %d over UDP, %d over HTTP", udp, web)
	}
}

// failure returns the error for servers or a master that can't be started. If the reason is
// another program or another fleet, the hint ends with the text in advice.
func failure(err error, advice string) error {
	f := console.Fail(console.ExitUsage, "%w", err)
	if errors.Is(err, syscall.EADDRINUSE) {
		f.WithHint("another program uses the port: %s", advice)
	}
	if errors.Is(err, fleet.ErrFleet) {
		f.WithHint("scan the servers of the other fleet, end that fleet, or %s", advice)
	}
	return f
}
