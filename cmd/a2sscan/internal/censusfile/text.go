package censusfile

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// Styles that can be read on light and on dark screens. Of the eight colours only red
// and magenta are easy to see on both black and white.
const (
	bold    = "\x1b[1m"
	dim     = "\x1b[2m"
	red     = "\x1b[31m"
	magenta = "\x1b[35m"
	reset   = "\x1b[0m"
)

// A server holds the cells of the line about one server. tag is the text after its address
// in the list of targets.
type server struct{ addr, rtt, players, mapName, game, name, tag string }

var titles = server{"ADDRESS", "RTT", "PLAYERS", "MAP", "GAME", "NAME", ""}

// Widths of the columns that have the same width on every screen.
const (
	addrWidth    = 21
	rttWidth     = 7
	playersWidth = 10
)

// server returns the line about a server.
func (t *Table) server(rec *record.Record) string {
	s := server{addr: "-", rtt: "-", mapName: string(rec.Info.Map), game: string(rec.Info.Game), name: strings.TrimSpace(string(rec.Info.Name)), tag: strings.TrimSpace(rec.Tag)}
	if g := rec.Game; g != nil {
		if g.Has.Has(game.KeyMap) {
			s.mapName = string(g.Map)
		}
		s.game = cmp.Or(g.Name, s.game)
	}
	if rec.Has("addr") {
		s.addr = rec.Addr.String()
	}
	if ms := float64(rec.RTT.Microseconds()) / 1000; rec.Has("rtt_ms") {
		s.rtt = fmt.Sprintf("%.*f ms", map[bool]int{true: 1}[ms < 10], ms)
	}
	p, color := rec.Population(), dim
	switch {
	case rec.Info.IsRelay():
		s.players = "relay"
	case knows(rec, wire.HasPlayers, game.KeyPlayers):
		s.players = strconv.Itoa(p.People)
		if p.HasPlaces {
			s.players += fmt.Sprintf("/%d", p.Places)
		}
		if p.Bots > 0 {
			s.players += fmt.Sprintf("+%d", p.Bots)
		}
		if p.People > 0 {
			color = bold
		}
	default:
		s.players, color = strings.ReplaceAll(rec.Status.String(), "_", " "), red
	}
	return t.serverLine(s, color, magenta)
}

// serverLine aligns the cells of s. players and game are the colours of these cells, or "". On
// a screen, the cells for map, game and name share the width that the other cells leave. The
// last column stays empty: a character there makes some terminals begin a new line.
func (t *Table) serverLine(s server, players, game string) string {
	mapWidth, gameWidth, rest := 20, 20, noLimit
	cut := t.screen.Width != nil
	if cut {
		left := max(t.screen.Width()-1-addrWidth-rttWidth-playersWidth-5, 24)
		mapWidth, gameWidth = min(left*3/10, 24), min(left*3/10, 28)
		rest = left - mapWidth - gameWidth
	}
	right := func(s string, width int) string { return strings.Repeat(" ", max(width-console.Columns(s), 0)) + s }
	cells := []string{
		fit(s.addr, addrWidth, cut), right(s.rtt, rttWidth), t.colored(players, right(s.players, playersWidth)),
		fit(s.mapName, mapWidth, cut), t.colored(game, fit(s.game, gameWidth, cut)), s.named(rest),
	}
	return strings.TrimRight(strings.Join(cells, " "), " ")
}

// named returns the name of the server and, in brackets, its tag. If they do not fit in width,
// each leaves at least half of the width to the other.
func (s *server) named(width int) string {
	if s.name == "" || s.tag == "" {
		return console.Shorten(cmp.Or(s.name, s.tag), width)
	}
	const brackets = 3 // width of the brackets and a space
	room := width - brackets
	tag := console.Shorten(s.tag, max(room/2, room-console.Columns(s.name)))
	return console.Shorten(s.name, room-console.Columns(tag)) + " [" + tag + "]"
}

// fieldWidths has the widths of fields. For all other fields, fieldLine chooses a width.
var fieldWidths = map[string]int{
	"addr": addrWidth, "ip": 15, "port": 5, "status": 11, "time": 24, "rtt_ms": 8,
	people: 6, capacity: 8, bots: 4, "info.name": 40, "info.map": 20, "info.game": 20,
}

// fieldLine aligns chosen fields. The last field takes the rest of the screen.
func (t *Table) fieldLine(cells []string) string {
	cut, left := t.screen.Width != nil, noLimit
	if cut {
		left = t.screen.Width() - 1
	}
	var b strings.Builder
	for i, cell := range cells {
		if i == len(cells)-1 {
			b.WriteString(console.Shorten(cell, max(left, 1)))
			break
		}
		width, ok := fieldWidths[t.fields[i]]
		if !ok {
			width = max(len(t.fields[i]), 12)
		}
		width = min(width, max(left-1, 1))
		b.WriteString(fit(cell, width, cut) + " ")
		left -= width + 1
	}
	return strings.TrimRight(b.String(), " ")
}

func (t *Table) colored(color, s string) string {
	if !t.screen.Color || color == "" {
		return s
	}
	return color + s + reset
}

// fit pads s with spaces to width. If s is longer and cut is set, fit shortens s.
func fit(s string, width int, cut bool) string {
	if cut {
		return console.Pad(console.Shorten(s, width), width)
	}
	return console.Pad(console.Plain(s, noLimit), width)
}
