package censusfile

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// The fields that a record does not have itself. The first three are computed from other
// keys (see scanner.Population). The value of farm is the ID of the server's farm.
const (
	people   = "people"
	capacity = "capacity"
	bots     = "bots"
	farm     = "farm"
)

var computedFields = []string{people, capacity, bots, farm}

func isComputed(field string) bool { return slices.Contains(computedFields, field) }

// counts are the keys from which people, capacity and bots are computed.
var counts = []string{
	"info.players", "info.max_players", "info.bots", "info.server_type", "game.players", "game.max_players", "game.bots",
}

// value returns the value of a field as the record writes it, except that whole numbers have
// their usual form. It returns nil if the value is not known.
func (t *Table) value(field string, r *record.Record) []byte {
	if isComputed(field) {
		return computedValue(field, r, t.farms)
	}
	key, path, inside := strings.Cut(field, ".")
	value := []byte(r.Value(key))
	if inside {
		value = record.Find(value, path)
	}
	if key == "geo" && value != nil && !t.placed.Load() {
		t.placed.Store(true)
	}
	return number(value)
}

// number returns a whole number in the usual form; JSON may write it as 100.0, 1e2 or -0.
// It returns any other value unchanged.
func number(value []byte) []byte {
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') || string(value) != "-0" && !bytes.ContainsAny(value, ".eE") {
		return value
	}
	const exact = 1 << 53 // larger numbers may lack digits in a float64
	x, err := strconv.ParseFloat(string(value), 64)
	if err == nil && x == math.Trunc(x) && math.Abs(x) < exact {
		return strconv.AppendInt(nil, int64(x), 10)
	}
	return value
}

func computedValue(field string, r *record.Record, farms Farms) []byte {
	n, known := 0, false
	switch field {
	case people:
		n, known = r.Population().People, knows(r, wire.HasPlayers, game.KeyPlayers)
	case capacity:
		p := r.Population()
		n, known = p.Places, p.HasPlaces
	case bots:
		n, known = r.Population().Bots, knows(r, wire.HasBots, game.KeyBots)
	case farm:
		if id := farms[r.Addr]; id != "" {
			return strconv.AppendQuote(nil, id)
		}
	}
	if !known {
		return nil
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

func knows(r *record.Record, field wire.Fields, key game.Key) bool {
	return r.Info.Has&field != 0 || r.Game != nil && r.Game.Has.Has(key)
}

// checkFields returns an error if one of the fields can't be in a record. The error begins
// with flag, the command-line flag that lists the fields.
func checkFields(flag string, fields []string) error {
	all, open := record.Paths()
	all = append(all, computedFields...)
	slices.Sort(all)
	for _, field := range fields {
		inside := func(o string) bool { return len(field) > len(o) && strings.HasPrefix(field, o) }
		if slices.Contains(all, field) || slices.ContainsFunc(open, inside) {
			continue
		}
		like := console.Nearest(field, all)
		for _, within := range []string{"rtts_ms.", "geo.", "game.", "info."} {
			if slices.Contains(all, within+field) {
				like = within + field // if several objects have the field, prefer the last one in the list
			}
		}
		hint := "choose fields such as addr,people,info.map,rules.sv_gravity; a2sscan schema json lists all fields"
		if like != "" {
			hint = "did you mean " + like + "?"
		}
		return console.Fail(console.ExitUsage, "%s: records have no field %s", flag, console.Quoted(field, 60)).WithHint("%s", hint)
	}
	return nil
}
