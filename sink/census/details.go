package census

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// Change is one change of one server. "a2sscan diff" writes it as one line of NDJSON.
type Change struct {
	Kind Kind   `json:"change"`
	Addr string `json:"addr"` // ip:port; for a server that moved, the new address
	Game string `json:"game"` // Group.ID of the game, or "" if unknown
	Name string `json:"name"` // name of the server; untrusted text
	// People is how many people were on the server: in the new census or, if the server did
	// not answer there, in the old census.
	People uint32 `json:"people,omitempty"`

	// By is the evidence that a server moved: "steam_id", or "identity" for name, game
	// and map.
	By string `json:"by,omitempty"`
	// LikelyLoss is set if LossChance is at least 0.5: the server is gone, but probably
	// alive (see Comparison.LikelyLost).
	LikelyLoss bool `json:"likely_loss,omitempty"`
	// LossChance is the probability, from 0 to 1, that a server is gone only because
	// datagrams were lost. It is 0 for unreachable servers, and if the new scan has no
	// estimate of its losses.
	LossChance float64 `json:"loss_chance,omitempty"`

	// Before has the old values that differ. For gone and not_asked, it has all known
	// values; for back, only the status.
	Before *Facts `json:"before,omitempty"`
	// After has the new values that differ. For new and back, it has all known values; for
	// gone, only the status.
	After *Facts `json:"after,omitempty"`
}

// Facts are properties of a server in one census. An absent property is unknown, or the same
// in both censuses that are compared.
type Facts struct {
	Addr       string            `json:"addr,omitempty"`
	Name       *string           `json:"name,omitempty"`
	Map        *string           `json:"map,omitempty"`
	Version    *string           `json:"version,omitempty"`
	MaxPlayers *uint32           `json:"max_players,omitempty"`
	People     *uint32           `json:"people,omitempty"`
	Bots       *uint32           `json:"bots,omitempty"`
	Mode       *string           `json:"mode,omitempty"`
	PVP        *bool             `json:"pvp,omitempty"`
	Mods       []string          `json:"mods,omitempty"`         // mods that only this census has, as "id name hash"
	Rules      map[string]string `json:"rules,omitempty"`        // rules that only this census has, or that differ
	Flags      []string          `json:"flags,omitempty"`        // flags that only this census has
	Challenged []string          `json:"challenged,omitempty"`   // questions for which the server demanded a challenge
	Open       []string          `json:"unchallenged,omitempty"` // questions that the server answered without a challenge
	Farm       string            `json:"farm,omitempty"`         // Farm.ID
	Status     string            `json:"status,omitempty"`       // for new, gone, not_asked and back: the status in the record of this census
	Country    string            `json:"country,omitempty"`
	Network    string            `json:"network,omitempty"` // "AS64496"
}

// detailBytes is the approximate maximum size, in bytes, of the rules that Diff holds in
// memory. If they are larger, it reads the censuses several times. A test changes it.
var detailBytes = 256 << 20

// details calls do(c) for each change c in d.events. To find the rules and mods that
// changed, it reads both censuses again, for as many servers as detailBytes allows.
func (d *differ) details(do func(*Change) error) error {
	slices.SortStableFunc(d.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.shown().key, b.shown().key), cmp.Compare(a.kinds, b.kinds))
	})
	for events := d.events; len(events) > 0; {
		old, new := map[*Server]*event{}, map[*Server]*event{}
		n, size := 0, 0
		for ; n < len(events) && size < detailBytes; n++ {
			if e := &events[n]; e.kinds&(kindRules|kindMods) != 0 {
				old[e.before], new[e.after] = e, e
				size += int(e.before.size)
			}
		}
		if err := reread(d.old, old, keepLists); err != nil {
			return err
		}
		if err := reread(d.new, new, compareLists); err != nil {
			return err
		}
		for i := range events[:n] {
			if err := d.event(&events[i], do); err != nil {
				return err
			}
			events[i] = event{}
		}
		events = events[n:]
	}
	return nil
}

// keepLists returns a function that removes all keys from a line, except "schema", "rules"
// and "game". Maps of the rules and mods would take several times the memory of this JSON.
func keepLists() func(*event, []byte) func() {
	text := record.NewReader("schema").Keep("rules", "game")
	return func(e *event, line []byte) func() {
		lists := []byte(`{"schema":1`)
		if r, err := text.Read(line); err == nil {
			for _, key := range []string{"rules", "game"} {
				if value := r.Value(key); value != nil {
					lists = append(fmt.Appendf(lists, ",%q:", key), value...)
				}
			}
		}
		return func() { e.lists = append(lists, '}') }
	}
}

func compareLists() func(*event, []byte) func() {
	first, second := record.NewReader("rules", "game"), record.NewReader("rules", "game")
	return func(e *event, line []byte) func() {
		x, err := first.Read(e.lists)
		if err != nil {
			x = &record.Record{} // the file has changed: the old census no longer has a record of this address
		}
		y, err := second.Read(line)
		if err != nil {
			return func() {}
		}
		before, after := rulesOf(x.Rules), rulesOf(y.Rules)
		rules := [2]map[string]string{onlyRules(before, after), onlyRules(after, before)}
		mods := [2][]string{onlyMods(x.Game, y.Game), onlyMods(y.Game, x.Game)}
		return func() { e.rules, e.mods = rules, mods }
	}
}

// reread reads a census again. If a line is the record of a server that is a key of want,
// reread passes it to a function that parser returned. Several goroutines do this at the same
// time. Then reread calls the results, one at a time, in the order of the census.
func reread(c *Census, want map[*Server]*event, parser func() func(*event, []byte) func()) error {
	if len(want) == 0 {
		return nil
	}
	find := func() func(*sink.Block) []func() {
		head, l, parse := record.NewReader("addr", "time"), newLoader(nil), parser()
		return func(b *sink.Block) (all []func()) {
			for _, line := range b.Lines() {
				r, err := head.Read(bytes.TrimSpace(line))
				if err != nil {
					continue // no error: Open has already counted the damage
				}
				s := c.find(keyOf(r.Addr))
				if s == nil || s.at != millis(r.Time) || want[s] == nil {
					continue // an address may have other records, with other times
				}
				if c.duplicates == 0 || l.isOf(s, line) { // an address may have other records with the same time
					all = append(all, parse(want[s], line))
				}
			}
			return all
		}
	}
	for _, file := range c.files {
		_, err := sink.PipeFile(file, find, func(_ *sink.Block, all []func()) error {
			for _, store := range all {
				store()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isOf reports whether line is the record from which s was made, or one that differs only
// in what no comparison shows.
func (l *loader) isOf(s *Server, line []byte) bool {
	r, err := l.read(bytes.TrimSpace(line))
	if err != nil {
		return false
	}
	other := l.maker.server(&r.Result)
	return s.compare(&other) == 0
}

const maxShown = 200

// rulesOf returns the rules that are not volatile. The last value of a name counts.
func rulesOf(rules []wire.Rule) map[string][]byte {
	values := map[string][]byte{}
	for _, rule := range rules {
		if !isVolatile(rule.Name) {
			values[string(rule.Name)] = rule.Value
		}
	}
	return values
}

func onlyRules(rules, other map[string][]byte) map[string]string {
	only := map[string]string{}
	for name, value := range rules {
		if there, ok := other[name]; !ok || !bytes.Equal(there, value) {
			only[name] = string(value)
		}
	}
	if len(only) > maxShown {
		for _, name := range slices.Sorted(maps.Keys(only))[maxShown:] {
			delete(only, name)
		}
	}
	return only
}

func onlyMods(g, other *game.Game) (only []string) {
	mods := modsOf(other)
	for _, mod := range modsOf(g) {
		if !slices.Contains(mods, mod) && len(only) < maxShown {
			only = append(only, mod)
		}
	}
	return only
}

func modsOf(g *game.Game) (mods []string) {
	if g == nil {
		return nil
	}
	for _, mod := range g.Mods {
		words := []string{string(mod.ID), string(mod.Name), string(mod.Hash)}
		mods = append(mods, strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " "))
	}
	return mods
}

func (d *differ) event(e *event, do func(*Change) error) error {
	for _, kind := range e.kinds.list() {
		c := NewChange(kind, e.before, e.after)
		switch {
		case kind == "moved":
			c.By = d.movedBy[e.after]
		case kind == "farm":
			c.Before.Farm, c.After.Farm = d.old.farm(e.before), d.new.farm(e.after)
		case kind == "gone" && e.after.Status != scanner.StatusUnreachable:
			c.LossChance, c.LikelyLoss = round6(d.chance), d.chance >= 0.5
		case kind == "rules":
			c.Before.Rules, c.After.Rules = e.rules[0], e.rules[1]
		case kind == "mods":
			c.Before.Mods, c.After.Mods = e.mods[0], e.mods[1]
		}
		if err := do(c); err != nil {
			return err
		}
	}
	return nil
}

func (e *event) shown() *Server {
	if e.after != nil {
		return e.after
	}
	return e.before
}

// NewChange describes a change of a server. The Change has neither rules nor mods nor farms,
// because a Server does not hold them.
func NewChange(kind Kind, before, after *Server) *Change {
	e := event{before: before, after: after}
	shown := after
	if !after.answered() {
		shown = cmp.Or(before, after)
	}
	c := &Change{Kind: kind, Addr: e.shown().Addr().String(), Game: shown.Game, Name: shown.shownName(), People: shown.People}
	switch {
	case kind == "new":
		c.After = after.facts(everything)
	case kind == "back":
		c.Before, c.After = &Facts{Status: before.Status.String()}, after.facts(everything)
	case kind == "not_asked":
		c.Before = before.facts(everything)
	case kind == "gone":
		c.Before, c.After = before.facts(everything), &Facts{Status: after.Status.String()}
	default:
		c.Before, c.After = before.differs(kind, after), after.differs(kind, before)
	}
	return c
}

// differs returns what NewChange shows of s. other is the record from the other census.
func (s *Server) differs(kind Kind, other *Server) *Facts {
	f := s.facts(kind.bit())
	switch kind {
	case "moved":
		f.Addr = s.Addr().String()
	case "mode":
		if own := s.own & other.own; own.Has(game.KeyMode) && s.Mode != other.Mode {
			f.Mode = &s.Mode
		}
		if own := s.own & other.own; own.Has(game.KeyPVP) && s.pvp != other.pvp {
			f.PVP = &s.pvp
		}
	case "challenge":
		changed := s.replies.complete & other.replies.complete & (s.replies.open ^ other.replies.open)
		for q := wire.QuestionInfo; q <= wire.QuestionRules; q++ {
			switch {
			case !changed.Has(q):
			case s.replies.open.Has(q):
				f.Open = append(f.Open, q.String())
			default:
				f.Challenged = append(f.Challenged, q.String())
			}
		}
	case "flags":
		f.Flags = (s.Flags &^ other.Flags & lastingFlags).Words()
	}
	return f
}

const everything = ^kinds(0)

// facts returns the known properties that the kinds are about.
func (s *Server) facts(of kinds) *Facts {
	f := &Facts{}
	if of&kindRenamed != 0 && s.fields&wire.HasName != 0 {
		f.Name = new(s.shownName())
	}
	if of&kindMap != 0 && s.knows(wire.HasMap, game.KeyMap) {
		f.Map = &s.Map
	}
	if of&kindVersion != 0 && s.knows(wire.HasVersion, game.KeyVersion) {
		f.Version = &s.Version
	}
	if of&kindCapacity != 0 && s.HasPlaces() {
		f.MaxPlayers = &s.MaxPlayers
	}
	if of&kindPlayers != 0 && s.knows(wire.HasPlayers, game.KeyPlayers) {
		f.People = &s.People
	}
	if of != everything {
		return f
	}
	f.Status, f.Flags, f.Country = s.Status.String(), s.Flags.Words(), s.Country
	if s.own.Has(game.KeyMode) {
		f.Mode = &s.Mode
	}
	if f.People != nil {
		f.Bots = &s.Bots
	}
	if s.asn != 0 {
		f.Network = fmt.Sprint("AS", s.asn)
	}
	return f
}
