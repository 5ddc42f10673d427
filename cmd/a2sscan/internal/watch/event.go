package watch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/sink/census"
)

// Kind is the kind of an event. Those that package census has too mean the same there.
type Kind string

// The kinds that only a watch has.
const (
	Up        Kind = "up"
	Down      Kind = "down"
	Restarted Kind = "restarted"
	Wiped     Kind = "wiped"
	Empty     Kind = "empty"
	Full      Kind = "full"
	Blind     Kind = "blind"
	Seeing    Kind = "seeing"
	moved     Kind = "moved"
)

// Kinds lists all kinds.
var Kinds = []Kind{
	Up, Down, Restarted, "map", "renamed", "version", Wiped, moved, "capacity", "flags", Empty, Full, Blind, Seeing,
}

// ParseKinds reads names of kinds.
func ParseKinds(names []string) (kinds []Kind, err error) {
	for _, name := range names {
		k := Kind(strings.TrimSpace(name))
		if !slices.Contains(Kinds, k) {
			return nil, fmt.Errorf("%s is no kind of event: choose from %s", console.Quoted(name, 40), strings.Join(KindNames(), ", "))
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// KindNames returns all kinds as words.
func KindNames() (names []string) {
	for _, k := range Kinds {
		names = append(names, string(k))
	}
	return names
}

// Event is one event: a line of JSON.
type Event struct {
	ID       int64         `json:"id"` // increases
	Time     time.Time     `json:"time"`
	Kind     Kind          `json:"event"`
	Addr     string        `json:"addr,omitempty"`
	Game     string        `json:"game,omitempty"`
	Name     string        `json:"name,omitempty"` // untrusted text
	Before   *census.Facts `json:"before,omitempty"`
	After    *census.Facts `json:"after,omitempty"`
	For      int64         `json:"seconds,omitempty"` // how long it was up before down, down before up, blind before seeing
	By       string        `json:"by,omitempty"`      // as in a Change of kind moved
	Evidence *Evidence     `json:"evidence,omitempty"`
	LeftOut  int           `json:"left_out,omitempty"` // events of this kind that were left out before this one
}

// Evidence is why the watch believes in an event.
type Evidence struct {
	Checks    int      `json:"checks,omitempty"`     // in a row without an answer
	Requests  int      `json:"requests,omitempty"`   // sent in these checks
	First     string   `json:"first,omitempty"`      // when the first of these checks began
	Last      string   `json:"last,omitempty"`       // and the latest
	AllSilent bool     `json:"all_silent,omitempty"` // most servers are silent: the watcher's network may be the one that fails
	Servers   int      `json:"servers,omitempty"`    // that were up when the watcher became blind
	Silent    int      `json:"silent,omitempty"`     // of these
	Networks  int      `json:"networks,omitempty"`   // /24 networks of the silent ones
	Signs     []string `json:"signs,omitempty"`      // in words
}

func stamp(seconds uint32) string { return moment(seconds).Format(time.RFC3339) }

// row returns the event as the database stores it.
func (e *Event) row() (watchdb.Event, error) {
	line, err := json.Marshal(e)
	return watchdb.Event{ID: e.ID, Time: e.Time, Addr: e.Addr, Kind: string(e.Kind), Line: line}, err
}

// Text returns the event as a line for people. It is safe to print.
func (e *Event) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-9s", e.Time.Local().Format("15:04:05"), e.Kind)
	if e.Addr != "" {
		fmt.Fprintf(&b, "  %-21s  %s", e.Addr, console.Plain(e.Name, 40))
	}
	return b.String() + e.Details()
}

// Details returns what Text says after the name.
func (e *Event) Details() string {
	var b strings.Builder
	lasted := console.RoughDuration(time.Duration(e.For) * time.Second)
	switch {
	case e.Kind == Up && e.For > 0:
		fmt.Fprintf(&b, "  was down for %s", lasted)
	case e.Kind == Down && e.For > 0:
		fmt.Fprintf(&b, "  was up for %s", lasted)
	case e.Kind == Seeing:
		fmt.Fprintf(&b, "  was blind for %s", lasted)
	case e.Kind == Blind:
		fmt.Fprintf(&b, "  %d of %d servers are silent at once: is this machine's network down?", e.Evidence.Silent, e.Evidence.Servers)
	}
	if e.Before != nil && e.After != nil {
		fmt.Fprintf(&b, "  %s → %s", facts(e.Before), facts(e.After))
	}
	if e.Evidence != nil && len(e.Evidence.Signs) > 0 {
		fmt.Fprintf(&b, "  %s", console.Plain(strings.Join(e.Evidence.Signs, "; "), 200))
	}
	if e.LeftOut > 0 {
		fmt.Fprintf(&b, "  (%d more left out)", e.LeftOut)
	}
	return b.String()
}

// facts returns the values of a change in words.
func facts(f *census.Facts) string {
	var all []string
	for _, text := range []*string{&f.Addr, f.Name, f.Map, f.Version} {
		if text != nil && *text != "" {
			all = append(all, console.Plain(*text, 40))
		}
	}
	for _, n := range []*uint32{f.MaxPlayers, f.People} {
		if n != nil {
			all = append(all, fmt.Sprint(*n))
		}
	}
	if all = append(all, f.Flags...); len(all) == 0 {
		return "none"
	}
	return strings.Join(all, " ")
}

// emit adds an event of a server, unless its kind is not wanted, or too frequent.
func (w *Watcher) emit(i int, e Event, now uint32) {
	if w.rules.Kinds != nil && !slices.Contains(w.rules.Kinds, e.Kind) {
		return
	}
	s := &w.servers[i]
	e.Time, e.Addr = moment(now), s.addr().String()
	if s.known != nil {
		c := census.NewChange("", s.known, s.known)
		e.Game, e.Name = c.Game, c.Name
	}
	w.damp(i, e, now)
}

// damped names what is damped together: a pair of kinds, or a kind.
type damped struct {
	server int
	kind   Kind // Up stands for Down, too
}

// window counts the events of one kind of a server in Rules.Damp.
type window struct {
	end     uint32
	shown   int   // at most 2: a pair
	last    Event // shown last
	waiting Event // left out last
	leftOut int
}

// damp adds the event, or counts it as left out.
func (w *Watcher) damp(i int, e Event, now uint32) {
	key := damped{i, e.Kind}
	if e.Kind == Down {
		key.kind = Up
	}
	d := w.damping[key]
	if d == nil {
		d = &window{end: now + uint32(w.rules.Damp.Seconds())}
		w.damping[key] = d
	}
	if d.shown == 2 {
		d.waiting = e
		d.leftOut++
		return
	}
	e.LeftOut, d.leftOut = d.leftOut, 0
	d.shown++
	d.last = e
	w.events = append(w.events, e)
}

// release ends windows. What was left out last is reported if it is not what was reported
// last.
func (w *Watcher) release(now uint32) {
	if now == w.damped {
		return
	}
	w.damped = now
	for key, d := range w.damping {
		switch {
		case now < d.end:
			continue
		case d.leftOut == 0:
			delete(w.damping, key)
			continue
		}
		d.end, d.shown = now+uint32(w.rules.Damp.Seconds()), 0
		if e := d.waiting; e.Kind != d.last.Kind || !sameFacts(e.After, d.last.After) {
			e.LeftOut, d.leftOut = d.leftOut-1, 0
			d.shown, d.last = 1, e
			w.events = append(w.events, e)
		}
	}
}

func sameFacts(a, b *census.Facts) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// moves finds servers that are down at one address and came at another.
type moves struct{ gone, come map[uint64]int } // by the hashes of census.Server.Identities

func (m *moves) init() { m.gone, m.come = map[uint64]int{}, map[uint64]int{} }

// twice marks an identity that several servers have: it identifies none.
const twice = -1

// pair is a server that left one address, and came at another.
type pair struct {
	from, to int
	by       string
}

// enter adds a server to one of the sets, and returns its counterpart in the other.
func enter(i int, s *census.Server, set, other map[uint64]int) (found int, by string) {
	found = twice
	if s == nil {
		return found, ""
	}
	steamID, identity := s.Identities()
	for n, key := range []uint64{identity, steamID} {
		if key == 0 {
			continue
		}
		if have, ok := set[key]; ok && have != i {
			set[key] = twice
			continue
		}
		set[key] = i
		if j, ok := other[key]; ok && j != twice && j != i {
			found, by = j, []string{"identity", "steam_id"}[n]
		}
	}
	return found, by
}

func (m *moves) left(i int, s *census.Server) *pair {
	if to, by := enter(i, s, m.gone, m.come); to != twice {
		return &pair{i, to, by}
	}
	return nil
}

func (m *moves) came(i int, s *census.Server) *pair {
	if from, by := enter(i, s, m.come, m.gone); from != twice {
		return &pair{from, i, by}
	}
	return nil
}

// back takes a server that was down out of the set.
func (m *moves) back(i int, s *census.Server) {
	if s == nil {
		return
	}
	steamID, identity := s.Identities()
	for _, key := range []uint64{identity, steamID} {
		if m.gone[key] == i {
			delete(m.gone, key)
		}
	}
}

// move reports a move, unless other servers have the same identity.
func (w *Watcher) move(p *pair, now uint32) {
	if p == nil || w.servers[p.from].status != down || w.servers[p.to].status != up {
		return
	}
	from, to := w.servers[p.from].known, w.servers[p.to].known
	steamID, identity := from.Identities()
	for i := range w.servers {
		if s := &w.servers[i]; i != p.from && i != p.to && s.known != nil && !s.gone {
			if x, y := s.known.Identities(); p.by == "steam_id" && x == steamID || p.by == "identity" && y == identity {
				return
			}
		}
	}
	c := census.NewChange(census.Kind(moved), from, to)
	w.emit(p.to, Event{Kind: moved, By: p.by, Before: c.Before, After: c.After}, now)
}
