package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// maxGames bounds the memory that names sent by servers can take.
const maxGames = 4096

// tally counts what a scan found, for its closing lines. Its JSON is part of a
// checkpoint.
type tally struct {
	Servers uint64 `json:"servers"` // that answered
	Players uint64 `json:"players"` // as their INFO says
	Bots    uint64 `json:"bots"`
	Games   games  `json:"games"`

	AtAsk []uint64   `json:"at_ask"`      // that answered first on ask 1, 2 …
	Trips roundTrips `json:"round_trips"` //
	Busy  busiest    `json:"busiest"`     // addresses with many servers
}

// games counts servers by the game's name, which is hostile text.
type games map[string]uint64

// gameCount is one of games in JSON. The name is base64 there: it need not be
// UTF-8.
type gameCount struct {
	Name    []byte `json:"name"`
	Servers uint64 `json:"servers"`
}

// MarshalJSON writes a list.
func (g games) MarshalJSON() ([]byte, error) {
	list := make([]gameCount, 0, len(g))
	for name, n := range g {
		list = append(list, gameCount{[]byte(name), n})
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (g *games) UnmarshalJSON(b []byte) error {
	var list []gameCount
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*g = make(games, len(list))
	for _, c := range list {
		(*g)[string(c.Name)] = c.Servers
	}
	return nil
}

// clone returns a tally that later results do not change.
func (t *tally) clone() tally {
	c := *t
	c.Games = maps.Clone(t.Games)
	c.AtAsk = slices.Clone(t.AtAsk)
	c.Trips = t.Trips.clone()
	c.Busy = t.Busy.clone()
	return c
}

func (t *tally) add(r *scanner.Result) {
	if r.Status == scanner.StatusNoReply || r.Status == scanner.StatusUnreachable {
		return
	}
	t.Servers++
	t.addAsk(int(r.Ask))
	t.Busy.add(r.Addr.Addr())
	if r.RTT > 0 {
		t.Trips.add(r.RTT)
	}
	if !r.HasInfo {
		return
	}
	t.Players += uint64(r.Info.Players)
	t.Bots += uint64(r.Info.Bots)
	if r.Info.Has&wire.HasGame != 0 {
		t.addGame(r.Info.Game)
	}
}

func (t *tally) addAsk(ask int) {
	for len(t.AtAsk) < ask {
		t.AtAsk = append(t.AtAsk, 0)
	}
	if ask > 0 {
		t.AtAsk[ask-1]++
	}
}

func (t *tally) addGame(name []byte) {
	if t.Games == nil {
		t.Games = games{}
	}
	if _, known := t.Games[string(name)]; known || len(t.Games) < maxGames {
		t.Games[string(name)]++
	}
}

// found is one line: servers, players and games.
func (t *tally) found(asked uint64) string {
	games := fmt.Sprint(len(t.Games))
	if len(t.Games) == maxGames {
		games += " or more"
	}
	return fmt.Sprintf("%d servers (%s of those asked), %d players and %d bots, %s games",
		t.Servers, percent(t.Servers, asked), t.Players, t.Bots, games)
}

// topGames names the games with the most servers.
func (t *tally) topGames(n int) string {
	names := slices.SortedFunc(maps.Keys(t.Games), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.Games[b], t.Games[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(n, len(names))] {
		parts = append(parts, fmt.Sprintf("%s %d", plain(name, 30), t.Games[name]))
	}
	return strings.Join(parts, ", ")
}
