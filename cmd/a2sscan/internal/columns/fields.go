package columns

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// These fields are computed from others: see scanner.Population.
const (
	People   = "people"
	Capacity = "capacity"
	Bots     = "bots"
)

// values reads the values of fields from one record after another.
type values struct {
	kept  *record.Reader // keeps what the fields are in
	who   *record.Reader // decodes who plays
	line  []byte
	rec   *record.Record  // that kept has read
	plays *record.Record  // that who has read, if a field needs it
	found map[string]bool // keys of the record of which a field had a value
}

// newValues returns values for the given fields.
func newValues(fields []string) *values {
	var keys []string
	for _, field := range fields {
		if !isComputed(field) {
			key, _, _ := strings.Cut(field, ".")
			keys = append(keys, key)
		}
	}
	return &values{kept: record.NewReader("schema").Keep(keys...), who: record.NewReader("info", "game"), found: map[string]bool{}}
}

func isComputed(field string) bool { return field == People || field == Capacity || field == Bots }

// read begins with a new record. What is no record has no values.
func (v *values) read(line []byte) {
	v.line, v.plays = line, nil
	v.rec, _ = v.kept.Read(line)
}

// of returns the value of a field as it is written; nil if the record lacks it.
func (v *values) of(field string) []byte {
	if isComputed(field) {
		return v.computed(field)
	}
	if v.rec == nil {
		return nil
	}
	key, path, inside := strings.Cut(field, ".")
	value := []byte(v.rec.Value(key))
	if inside {
		value = record.Find(value, path)
	}
	if value != nil {
		v.found[key] = true
	}
	return value
}

// computed returns people, capacity or bots.
func (v *values) computed(field string) []byte {
	if v.plays == nil {
		if v.plays, _ = v.who.Read(v.line); v.plays == nil {
			return nil
		}
	}
	p, has := v.plays.Population(), v.plays.Info.Has
	var own game.Keys
	if v.plays.Game != nil {
		own = v.plays.Game.Has
	}
	n, known := 0, false
	switch field {
	case People:
		n, known = p.People, has&wire.HasPlayers != 0 || own.Has(game.KeyPlayers)
	case Capacity:
		n, known = p.Places, has&wire.HasMaxPlayers != 0 || own.Has(game.KeyMaxPlayers)
	case Bots:
		n, known = p.Bots, has&wire.HasBots != 0 || own.Has(game.KeyBots)
	}
	if !known {
		return nil
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

// text returns a value as the text of a cell: a string without quotes, any other
// value as JSON.
func text(raw []byte) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// known returns the paths of all fields, and separately the objects and lists whose
// members the table of keys does not name.
var known = sync.OnceValues(func() (paths, open []string) {
	var walk func(columns []record.Column, at string)
	walk = func(columns []record.Column, at string) {
		for _, c := range columns {
			path := at + c.Name
			paths = append(paths, path)
			if c.Lists > 0 || c.Type == record.ColumnMap || c.Type == record.ColumnJSON {
				open = append(open, path+".")
			} else {
				walk(c.Fields, path+".")
			}
		}
	}
	walk(record.Columns(), "")
	paths = append(paths, People, Capacity, Bots)
	slices.Sort(paths)
	return paths, open
})

// check returns an error if no record can have one of the fields.
func check(fields []string) error {
	paths, open := known()
	for _, field := range fields {
		if slices.Contains(paths, field) || slices.ContainsFunc(open, func(o string) bool {
			return len(field) > len(o) && strings.HasPrefix(field, o)
		}) {
			continue
		}
		f := console.Fail(console.ExitUsage, "--fields: records have no %s", console.Quoted(field, 60)).
			WithHint("such as addr,people,capacity,info.map,info.name,rules.sv_gravity; a2sscan schema json lists all")
		like := console.Nearest(field, paths)
		for _, within := range []string{"rtts_ms.", "geo.", "game.", "info."} {
			if slices.Contains(paths, within+field) {
				like = within + field // the last is the most likely
			}
		}
		if like != "" {
			f.WithHint("did you mean %s?", like)
		}
		return f
	}
	return nil
}
