package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/a2sscan/a2sscan/scanner"
)

// askFlags are the flags of ask.
type askFlags struct {
	patienceFlags
	query  questions
	source source
	json   bool
}

func (a *app) askCommand() *cobra.Command {
	f := &askFlags{query: questions(scanner.AskAll)}
	cmd := &cobra.Command{
		Use:   "ask ADDR",
		Short: "Ask one server, and show and explain every datagram",
		Long: `Asks one server just as scan does, shows every datagram sent and received with
what its bytes are, the record that comes of it, and says in words what is the
matter: up, silent, limited, banned, filtered, another protocol, not there.

ADDR is ip:port, ip or a host name, with port 27015 where none is given. It may
be an address that scan leaves out without --allow-reserved, such as one of the
local network: nobody types one by accident.

The exit code is 0 if all that was asked was answered whole, 6 if not: with
--query info it says whether a server is up. 1 if nothing could be sent, 4 if it
was interrupted.`,
		Example: `  a2sscan ask 203.0.113.7:27015
  a2sscan ask 192.168.1.20 --query info --timeout 3s
  a2sscan ask play.example.com:27016 --json | jq -r .verdict`,
		Args: oneAddress,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.ask(f, args[0])
		},
	}
	f.add(cmd)
	return cmd
}

func (f *askFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.Var(&f.query, "query", "what to ask: a `LIST` of info, players, rules")
	f.patienceFlags.add(cmd)
	fs.Var(&f.source, "source", "address of this machine to send from (default: the system's choice)")
	fs.BoolVar(&f.json, "json", false, "print one JSON object: verdict, record and datagrams in full")
}

// oneAddress refuses all but one argument.
func oneAddress(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 1:
		return nil
	case 0:
		return console.Fail(console.ExitUsage, "ask needs an address").WithHint("a2sscan ask 203.0.113.7:27015")
	}
	return console.Fail(console.ExitUsage, "more than one address: %s", console.Quoted(args[1], 40)).
		WithHint("a2sscan scan asks many")
}

// Bounds of what is kept of a conversation, so that a server that floods can't
// fill memory or screen. What goes beyond them is counted.
const (
	keptDatagrams = 512
	keptBytes     = 8 << 20
)

// event is a datagram that was sent or received.
type event struct {
	at   time.Duration // since the scan began
	sent bool
	addr netip.AddrPort // the other end
	data []byte
}

// tap takes the datagrams out of the scan's loop. Its channel has room for all
// that it keeps, so that it never holds the loop up.
type tap struct {
	target netip.AddrPort
	events chan event
	kept   int
	bytes  int
	lost   int // datagrams not kept
	heard  int // datagrams received from the target
}

func newTap(target netip.AddrPort) *tap {
	return &tap{target: target, events: make(chan event, keptDatagrams)}
}

// trace is called by the scan's loop.
func (t *tap) trace(now time.Duration, sent bool, addr netip.AddrPort, datagram []byte) {
	if !sent && addr == t.target {
		t.heard++
	}
	if t.kept == keptDatagrams || t.bytes+len(datagram) > keptBytes {
		t.lost++
		return
	}
	t.kept++
	t.bytes += len(datagram)
	t.events <- event{now, sent, addr, append([]byte(nil), datagram...)}
}

// asking is one run of ask.
type asking struct {
	*askFlags
	*app
	target netip.AddrPort
	tap    *tap
	log    *transcript
	result *scanner.Result // nil: interrupted before there was one
	err    error           // of the scan
}

func (a *app) ask(f *askFlags, arg string) error {
	ctx, end := shutdown.Interruptible(true)
	defer end()
	target, err := a.askedAddr(ctx, arg)
	if err != nil {
		return err
	}
	k := &asking{askFlags: f, app: a, target: target, tap: newTap(target)}
	k.log = newTranscript(target, sheet{width: a.width()})
	if !f.json {
		k.log.out = a.out
		fmt.Fprintf(a.out, "asking %v for %s: timeout %v, retries %d\n\n",
			target, strings.ReplaceAll(f.query.String(), ",", ", "), f.timeout, f.retries)
	}
	k.converse(ctx)
	return k.finish(ctx)
}

// leastWidth is the width of the narrowest screen for which lines are broken.
const leastWidth = 60

// width is the number of columns of the screen that results go to.
func (a *app) width() int {
	if f, ok := a.out.w.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			return max(w, leastWidth)
		}
	}
	return 80
}

// converse asks the server. Datagrams are shown as they come, by a goroutine of
// their own: the loop doesn't wait for a terminal.
func (k *asking) converse(ctx context.Context) {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		for e := range k.tap.events {
			k.log.add(e)
			if k.app.out.err != nil {
				enough()
			}
		}
	}()
	_, k.err = scanner.Scan(ctx, k.config(), k.targets(), func(r *scanner.Result) {
		k.result = r.Clone()
		if r.Status == scanner.StatusOK {
			enough() // no reply can be late
		}
	})
	close(k.tap.events)
	<-shown
}

func (k *asking) config() scanner.Config {
	return scanner.Config{
		Questions: scanner.Questions(k.query),
		Timeout:   k.timeout,
		Retries:   orOff(k.retries),
		Cooldown:  k.timeout, // replies that come too late are worth knowing of
		Source:    k.source.addrPort(),
		Trace:     k.tap.trace,
	}
}

func (k *asking) targets() iter.Seq[scanner.Target] {
	return func(yield func(scanner.Target) bool) { yield(scanner.Target{Addr: k.target}) }
}

// finish shows what came of it and chooses the exit code.
func (k *asking) finish(ctx context.Context) error {
	switch {
	case k.err != nil && !errors.Is(k.err, context.Canceled):
		return console.Fail(console.ExitUsage, "%w", k.err).WithHint("a2sscan ask --help lists the flags with units and defaults")
	case k.app.out.err != nil:
		return nil // run says so
	case k.result == nil || ctx.Err() != nil && k.result.Status != scanner.StatusOK:
		return console.Fail(console.ExitInterrupted, "interrupted: %v was not asked to the end", k.target)
	}
	v := judge(k)
	if k.json {
		k.writeJSON(v)
	} else {
		k.write(v)
	}
	switch v.Word {
	case verdictUp:
		return nil
	case verdictUnsent:
		return &console.Failure{Code: console.ExitUsage, Err: errors.New(v.exit())}
	}
	return &console.Failure{Code: console.ExitInput, Err: errors.New(v.exit())}
}
