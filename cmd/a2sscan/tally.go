package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// maxGames bounds the memory that names sent by servers can take.
const maxGames = 4096

// tally counts what a scan found, for its closing lines.
type tally struct {
	servers uint64 // that answered
	players uint64 // as their INFO says
	bots    uint64
	games   map[string]uint64 // servers by the game's name
}

func (t *tally) add(r *scanner.Result) {
	if r.Status == scanner.StatusNoReply || r.Status == scanner.StatusUnreachable {
		return
	}
	t.servers++
	if !r.HasInfo {
		return
	}
	t.players += uint64(r.Info.Players)
	t.bots += uint64(r.Info.Bots)
	if r.Info.Has&wire.HasGame != 0 {
		t.addGame(r.Info.Game)
	}
}

func (t *tally) addGame(name []byte) {
	if t.games == nil {
		t.games = map[string]uint64{}
	}
	if _, known := t.games[string(name)]; known || len(t.games) < maxGames {
		t.games[string(name)]++
	}
}

// found is one line: servers, players and games.
func (t *tally) found(asked uint64) string {
	games := fmt.Sprint(len(t.games))
	if len(t.games) == maxGames {
		games += " or more"
	}
	return fmt.Sprintf("%d servers (%s of those asked), %d players and %d bots, %s games",
		t.servers, percent(t.servers, asked), t.players, t.bots, games)
}

// topGames names the games with the most servers.
func (t *tally) topGames(n int) string {
	names := slices.SortedFunc(maps.Keys(t.games), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.games[b], t.games[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(n, len(names))] {
		parts = append(parts, fmt.Sprintf("%s %d", plain(name, 30), t.games[name]))
	}
	return strings.Join(parts, ", ")
}
