package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/wire"
)

// notWithFindPort has the flags of ask that can't be combined with --find-port, because
// with --find-port, ask sends only one INFO request to each port.
var notWithFindPort = []string{"query", "retries", "trailing-nul", "json", "brief"}

func (f *askFlags) checkFindPort() error {
	if f.allowReserved && !f.findPort {
		return console.Fail(console.ExitUsage, "--allow-reserved needs --find-port").
			WithHint("omit --allow-reserved: without --find-port, a2sscan ask accepts reserved addresses")
	}
	for _, name := range notWithFindPort {
		if f.findPort && f.set.Changed(name) {
			return console.Fail(console.ExitUsage, "--find-port and --%s exclude each other", name).
				WithHint("find the query port first, then query this port without --find-port")
		}
	}
	return nil
}

// findQueryPort looks for the query port of a server. Players join the server at the
// address and game port in joined. findQueryPort sends an INFO request to each port that
// may be the query port, and prints a line for each answer. It stops at the first answer
// with this game port.
func (a *app) findQueryPort(ctx context.Context, f *askFlags, joined netip.AddrPort) error {
	reserved, err := list.NewExclusions(f.allowReserved, nil, nil, nil)
	if err != nil {
		return err
	}
	if reserved.Excluded(joined.Addr()) {
		return console.Fail(console.ExitUsage, "%v is in a special-purpose network", joined.Addr()).
			WithHint("to query this address nevertheless, add --allow-reserved")
	}
	ports := game.QueryPorts(joined.Port())
	targets := make([]scanner.Target, len(ports))
	for i, port := range ports {
		targets[i] = scanner.Target{Addr: netip.AddrPortFrom(joined.Addr(), port), Place: uint64(i)}
	}
	if a.term.Interactive {
		a.term.ShowStatus(fmt.Sprintf("querying %d ports of %v, ten per second", len(ports), joined.Addr()))
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answers, sent, found := 0, uint64(0), netip.AddrPort{}
	// All ports are at one address, so Rate also limits the rate to this address. AddressRate
	// is off, because it would reserve four datagrams for each port.
	_, err = scanner.Scan(ctx, scanner.Config{
		Questions: wire.AskInfo, Rate: scanner.DefaultAddressRate, AddressRate: scanner.Off, Timeout: f.timeout(), Attempts: 1, Cooldown: scanner.Off, Source: f.source,
		Tuning: scanner.Tuning{NoOutage: true},
	}, slices.Values(targets), func(r *scanner.Result) {
		sent += uint64(r.Sent)
		if !r.Answered() || found.IsValid() {
			return
		}
		answers++
		a.term.ClearStatus()
		has := "game port not given"
		if r.Info.Has&wire.HasGamePort != 0 {
			has = fmt.Sprintf("game port %d", r.Info.GamePort)
			if r.Info.GamePort == joined.Port() {
				found = r.Addr
				stop()
			}
		}
		fmt.Fprintf(a.out, "%v answers: %s, %s\n", r.Addr, console.Quoted(string(r.Info.Name), 60), has)
	})
	a.term.ClearStatus()
	switch {
	case found.IsValid():
		a.term.Say("found: players join %v, and queries go to port %d", joined, found.Port())
		return nil
	case err != nil && !errors.Is(err, context.Canceled):
		return console.Fail(console.ExitUsage, "%w", err)
	case ctx.Err() != nil:
		return console.Fail(console.ExitInterrupted, "interrupted before all %d ports were asked", len(ports))
	case sent == 0:
		return console.Fail(console.ExitUsage, "no request could be sent: this machine has no route to the server, or its own firewall forbids the request")
	case answers == 0:
		return console.Fail(console.ExitInput, "no query port found: none of the %d ports of %v answered", len(ports), joined.Addr()).
			WithHint("look for the query port in the server's configuration; some games do not speak A2S")
	}
	a.term.Say("no answer names game port %d; the query port may be one of those above, or a port that ask did not try", joined.Port())
	return nil
}
