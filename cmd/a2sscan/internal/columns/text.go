package columns

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/wire"
)

// Styles that can be read on light and on dark screens. Of the eight colours only red
// and magenta stand out from black and from white alike.
const (
	bold    = "\x1b[1m"
	dim     = "\x1b[2m"
	red     = "\x1b[31m"
	magenta = "\x1b[35m"
	reset   = "\x1b[0m"
)

// server holds the cells of the line about one server. The function line arranges them.
type server struct{ addr, rtt, players, where, game, name string }

// titles are the titles of the columns.
var titles = &server{"ADDRESS", "RTT", "PLAYERS", "MAP", "GAME", "NAME"}

// Widths of the columns that do not depend on the screen.
const (
	addrWidth    = 21
	rttWidth     = 7
	playersWidth = 10
)

// server returns the line about a server.
func (t *Table) server(record []byte) string {
	root := &node{raw: record}
	s := &server{
		addr: text(root.at("addr")), rtt: roundTrip(root.at("rtt_ms")),
		where: text(either(root, "info.map", "game.map")),
		game:  text(either(root, "game.name", "info.game")), name: strings.TrimSpace(text(root.at("info.name"))),
	}
	if s.addr == "" {
		s.addr = "-"
	}
	people, known := number(value(root, People))
	capacity, _ := number(value(root, Capacity))
	bots, _ := number(value(root, Bots))
	color := dim
	switch {
	case text(root.at("info.server_type")) == wire.ServerType('p'):
		s.players = "relay"
	case known:
		s.players = fmt.Sprintf("%d/%d", people, capacity)
		if bots > 0 {
			s.players += fmt.Sprintf("+%d", bots)
		}
		if people > 0 {
			color = bold
		}
	default:
		s.players = strings.ReplaceAll(text(root.at("status")), "_", " ")
		color = red
	}
	return t.line(s, color)
}

// roundTrip formats a time in milliseconds.
func roundTrip(raw json.RawMessage) string {
	ms, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil:
		return "-"
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

// serverLine returns a line without colours.
func (t *Table) serverLine(s *server) string { return t.line(s, "") }

// line aligns the columns. players is the colour of the number of players; "" means
// a line without colours.
func (t *Table) line(s *server, players string) string {
	where, game, rest := 20, 20, noLimit
	cut := t.screen.Width != nil
	if cut {
		where, game, rest = widths(t.screen.Width())
	}
	gameColor := magenta
	if players == "" {
		gameColor = ""
	}
	cells := []string{
		fit(s.addr, addrWidth, cut), fitRight(s.rtt, rttWidth), t.colored(players, fitRight(s.players, playersWidth)),
		fit(s.where, where, cut), t.colored(gameColor, fit(s.game, game, cut)), shorten(s.name, rest),
	}
	return strings.TrimRight(strings.Join(cells, " "), " ")
}

// widths divides the rest of the screen among map, game and name. The last column
// of the screen stays free, because some terminals wrap when it is written.
func widths(screen int) (where, game, name int) {
	left := max(screen-1-addrWidth-rttWidth-playersWidth-5, 24)
	where, game = min(left*3/10, 24), min(left*3/10, 28)
	return where, game, left - where - game
}

// fieldWidths are the widths of fields for which the usual width is too large or too
// small.
var fieldWidths = map[string]int{
	"addr": addrWidth, "ip": 15, "port": 5, "status": 11, "time": 24, "rtt_ms": 8,
	People: 6, Capacity: 8, Bots: 4, "info.name": 40, "info.map": 20, "info.game": 20,
}

// fieldLine aligns chosen fields. The last one takes the rest of the screen.
func (t *Table) fieldLine(cells []string) string {
	cut, left := t.screen.Width != nil, noLimit
	if cut {
		left = t.screen.Width() - 1
	}
	var b strings.Builder
	for i, cell := range cells {
		if i == len(cells)-1 {
			b.WriteString(shorten(cell, max(left, 1)))
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

// colored returns s in a colour, unless the screen has none.
func (t *Table) colored(color, s string) string {
	if !t.screen.Color || color == "" {
		return s
	}
	return color + s + reset
}

// fit pads s with spaces to width. If cut is set, it also shortens a longer s.
func fit(s string, width int, cut bool) string {
	if cut {
		return console.Pad(console.Shorten(s, width), width)
	}
	return console.Pad(console.Plain(s, noLimit), width)
}

// shorten makes s safe to show, in at most width columns of a screen.
func shorten(s string, width int) string {
	if width >= noLimit {
		return console.Plain(s, noLimit)
	}
	return console.Shorten(s, width)
}

func fitRight(s string, width int) string {
	return strings.Repeat(" ", max(width-console.Columns(s), 0)) + s
}
