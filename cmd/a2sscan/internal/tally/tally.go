// Package tally counts what a scan found, in limited memory: servers, players, the
// most frequent names and addresses, round-trip times, and an estimate of the
// servers that the scan missed.
package tally

import (
	"fmt"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Tally counts what a scan found. Its JSON is part of a checkpoint.
type Tally struct {
	Servers uint64 `json:"servers"` // servers that answered
	Players uint64 `json:"players"` // people, as the games count them
	Bots    uint64 `json:"bots"`    // players that are programs
	// Corrected counts the servers whose player count does not come from INFO.
	Corrected uint64 `json:"corrected,omitempty"`

	Games    TopNames `json:"games"`
	Maps     TopNames `json:"maps"`
	Systems  TopNames `json:"environments"`
	Versions TopNames `json:"versions"`

	Countries TopNames `json:"countries,omitzero"` // with --mmdb

	AtAsk []uint64     `json:"at_ask"` // servers that first answered attempt 1, 2, and so on
	Trips roundTrips   `json:"round_trips"`
	Busy  topAddresses `json:"busiest"` // addresses with the most servers
}

// Clone returns a copy that later calls of Add do not change.
func (t *Tally) Clone() Tally {
	c := *t
	c.Games, c.Maps = t.Games.clone(), t.Maps.clone()
	c.Systems, c.Versions = t.Systems.clone(), t.Versions.clone()
	c.Countries = t.Countries.clone()
	c.AtAsk = slices.Clone(t.AtAsk)
	c.Trips = t.Trips.clone()
	c.Busy = t.Busy.clone()
	return c
}

func (t *Tally) Add(r *scanner.Result) {
	if r.Status == scanner.StatusNoReply || r.Status == scanner.StatusUnreachable {
		return
	}
	t.Servers++
	t.addAsk(int(r.Ask))
	t.Busy.add(r.Addr.Addr())
	if r.RTT > 0 {
		t.Trips.add(r.RTT)
	}
	if r.Geo.Country != "" {
		t.Countries.spaceSaving.add(r.Geo.Country)
	}
	if !r.HasInfo {
		return
	}
	t.addPlayers(r)
	t.addNames(r)
}

// addPlayers counts people and, separately, bots.
func (t *Tally) addPlayers(r *scanner.Result) {
	p := r.Population()
	t.Players += uint64(max(p.People, 0))
	t.Bots += uint64(max(p.Bots, 0))
	if p.Elsewhere {
		t.Corrected++
	}
}

// addNames counts the names of a server, taken from the fields of INFO that
// arrived. If the game reports names of its own, these count instead.
func (t *Tally) addNames(r *scanner.Result) {
	in, own := &r.Info, r.Game
	if own == nil {
		own = &game.Game{}
	}
	switch {
	case own.ID != "":
		t.Games.spaceSaving.add(own.Name)
	case in.Has&wire.HasGame != 0:
		t.Games.add(in.Game)
	}
	addName(&t.Maps, own.Has.Has(game.KeyMap), own.Map, in.Has&wire.HasMap != 0, in.Map)
	addName(&t.Versions, own.Has.Has(game.KeyVersion), own.Version, in.Has&wire.HasVersion != 0, in.Version)
	if in.Has&wire.HasEnvironment != 0 {
		t.Systems.spaceSaving.add(system(in.Environment))
	}
}

// addName counts the game's own name or, if it has none, the name in INFO.
func addName(to *TopNames, has bool, own []byte, hasInfo bool, info []byte) {
	switch {
	case has:
		to.add(own)
	case hasInfo:
		to.add(info)
	}
}

// system returns the word for an operating system in records, or the letter in hex
// if it is unknown.
func system(letter byte) string {
	if word := wire.Environment(letter); word != "" {
		return word
	}
	return fmt.Sprintf("0x%02x", letter)
}

func (t *Tally) addAsk(ask int) {
	for len(t.AtAsk) < ask {
		t.AtAsk = append(t.AtAsk, 0)
	}
	if ask > 0 {
		t.AtAsk[ask-1]++
	}
}

// Line formats how many servers, people and bots were found. asked is the number of
// targets that were queried.
func (t *Tally) Line(asked uint64) string {
	if t.Servers == 0 {
		return "no server"
	}
	s := fmt.Sprintf("%s (%s)", console.Plural(t.Servers, "server"), console.Percent(t.Servers, asked))
	if t.Players > 0 {
		s += ", " + console.Plural(t.Players, "player")
	}
	if t.Bots > 0 {
		s += ", " + console.Plural(t.Bots, "bot")
	}
	return s
}
