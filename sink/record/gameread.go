package record

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// hashes reads what appendHashes wrote.
func (v values) hashes(r *scanner.Result, err *error) {
	o := v.inner("hashes", err)
	for q := range r.Hashes {
		var text string
		key := wire.Question(q).String()
		if o.get(key, &text, err); text == "" {
			continue
		}
		if b := bytesOf("hashes."+key, text, err); len(b) == 8 {
			for _, c := range b {
				r.Hashes[q] = r.Hashes[q]<<8 | uint64(c)
			}
		} else if *err == nil {
			*err = fmt.Errorf("hashes.%s: has another type", key)
		}
	}
}

// roundTrips reads what appendRoundTrips wrote.
func (v values) roundTrips(r *scanner.Result, err *error) {
	o := v.inner("rtts_ms", err)
	for q := range r.RTTs {
		r.RTTs[q] = o.millis(wire.Question(q).String(), err)
	}
}

// flags reads what appendFlags wrote.
func (v values) flags(err *error) game.Flags {
	return game.Flags(v.wordSet("flags", game.NumFlags, game.FlagWord, err))
}

// wordSet reads what appendWords wrote. It ignores words of later versions.
func (v values) wordSet(key string, n int, word func(int) string, err *error) (set uint32) {
	var words []string
	v.get(key, &words, err)
	for i := range n {
		if slices.Contains(words, word(i)) {
			set |= 1 << i
		}
	}
	return set
}

// game reads what appendGame wrote.
func (v values) game(err *error) *game.Game {
	g := &game.Game{ID: v.text("id", err), Name: v.text("name", err)}
	if v["id"] != nil && !isGameID(g.ID) && *err == nil {
		*err = errors.New("game.id: has another type")
	}
	for k := game.Key(0); k < game.NumKeys; k++ {
		if v[k.String()] != nil {
			g.Has |= 1 << k
		}
	}
	v.gameNumbers(g, err)
	v.gameTexts(g, err)
	v.get("pvp", &g.PVP, err)
	v.get("password", &g.Password, err)
	v.get("modded", &g.Modded, err)
	v.get("anticheat", &g.Anticheat, err)
	v.gameMods(g, err)
	if v["attributes"] != nil {
		v.gameAttributes(g, err)
	}
	v.gameSources(g, err)
	g.Notes = game.Notes(v.wordSet("notes", game.NumNotes, game.NoteWord, err))
	return g
}

func isGameID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return id != ""
}

// gameAttributes reads the attributes in their order. If a name occurs twice, it
// keeps the first value.
func (v values) gameAttributes(g *game.Game, err *error) {
	seen := map[string]bool{}
	for _, pair := range pairsOf("attributes", v["attributes"], err) {
		if name := string(pair.Name); !seen[name] {
			seen[name] = true
			g.Attributes = append(g.Attributes, game.Attribute{Name: name, Value: pair.Value})
		}
	}
}

func (v values) gameNumbers(g *game.Game, err *error) {
	for key, to := range map[string]*int{
		"players": &g.Players, "max_players": &g.MaxPlayers, "queue": &g.Queue, "bots": &g.Bots, "day": &g.Day,
	} {
		var n uint32
		v.get(key, &n, err)
		*to = int(n)
	}
	if v["started"] != nil {
		var t time.Time
		v.get("started", &t, err)
		g.Started = t.Unix()
	}
}

func (v values) gameTexts(g *game.Game, err *error) {
	for key, to := range map[string]*[]byte{
		"version": &g.Version, "map": &g.Map, "mode": &g.Mode, "region": &g.Region,
		"time_of_day": &g.TimeOfDay, "description": &g.Description,
	} {
		if v[key] != nil {
			*to = []byte(v.text(key, err))
		}
	}
}

func (v values) gameMods(g *game.Game, err *error) {
	var list []values
	v.get("mods", &list, err)
	for _, o := range list {
		var m game.Mod
		for key, to := range map[string]*[]byte{"id": &m.ID, "name": &m.Name, "hash": &m.Hash} {
			if o[key] != nil {
				*to = []byte(o.text(key, err))
			}
		}
		o.get("creator_dlc", &m.CreatorDLC, err)
		g.Mods = append(g.Mods, m)
	}
}

func (v values) gameSources(g *game.Game, err *error) {
	o := v.inner("sources", err)
	for k := game.Key(0); k < game.NumKeys; k++ {
		var from string
		if o.get(k.String(), &from, err); from != "" {
			g.SetSource(k, from)
		}
	}
	for i := range g.Attributes {
		a := &g.Attributes[i]
		a.Source = keywordsSource
		if o[attributeSource+a.Name] != nil {
			a.Source = o.text(attributeSource+a.Name, err)
		}
	}
}
