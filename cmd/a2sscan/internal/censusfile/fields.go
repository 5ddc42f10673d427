package censusfile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// These fields are computed from other fields: see scanner.Population.
const (
	people   = "people"
	capacity = "capacity"
	bots     = "bots"
)

func isComputed(field string) bool { return field == people || field == capacity || field == bots }

// value returns the value of a field as it is written, or nil if the record lacks the
// field. kept has the keys of the fields. who has the keys that computed fields need.
// Both are nil if the line is not a record.
func (t *Table) value(field string, kept, who *record.Record) []byte {
	n, known := 0, false
	switch {
	case isComputed(field) && who == nil:
	case field == people:
		n, known = who.Population().People, knows(who, wire.HasPlayers, game.KeyPlayers)
	case field == capacity:
		n, known = who.Population().Places, !who.Info.IsRelay() && knows(who, wire.HasMaxPlayers, game.KeyMaxPlayers)
	case field == bots:
		n, known = who.Population().Bots, knows(who, wire.HasBots, game.KeyBots)
	case kept != nil:
		key, path, inside := strings.Cut(field, ".")
		value := []byte(kept.Value(key))
		if inside {
			value = record.Find(value, path)
		}
		t.found[key] = t.found[key] || value != nil
		return value
	}
	if !known {
		return nil
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

// knows reports whether INFO has a field, or the data of the game has the key.
func knows(r *record.Record, field wire.Fields, key game.Key) bool {
	return r.Info.Has&field != 0 || r.Game != nil && r.Game.Has.Has(key)
}

// paths returns the paths of all fields and, in open, the paths of the objects and
// lists whose members the table of keys does not name.
func paths(columns []record.Column, at string) (all, open []string) {
	for _, c := range columns {
		path := at + c.Name
		all = append(all, path)
		if c.Lists > 0 || c.Type == record.ColumnMap || c.Type == record.ColumnJSON {
			open = append(open, path+".")
			continue
		}
		inner, open2 := paths(c.Fields, path+".")
		all, open = append(all, inner...), append(open, open2...)
	}
	return all, open
}

// checkFields returns an error for a field that no record can have.
func checkFields(fields []string) error {
	all, open := paths(record.Columns(), "")
	all = append(all, people, capacity, bots)
	slices.Sort(all)
	for _, field := range fields {
		inside := func(o string) bool { return len(field) > len(o) && strings.HasPrefix(field, o) }
		if slices.Contains(all, field) || slices.ContainsFunc(open, inside) {
			continue
		}
		like := console.Nearest(field, all)
		for _, within := range []string{"rtts_ms.", "geo.", "game.", "info."} {
			if slices.Contains(all, within+field) {
				like = within + field // if several objects have the field, prefer the last object
			}
		}
		hint := "such as addr,people,capacity,info.map,info.name,rules.sv_gravity; a2sscan schema json lists all"
		if like != "" {
			hint = "did you mean " + like + "?"
		}
		return console.Fail(console.ExitUsage, "--fields: records have no %s", console.Quoted(field, 60)).WithHint("%s", hint)
	}
	return nil
}
