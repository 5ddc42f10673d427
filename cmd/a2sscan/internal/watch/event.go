package watch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/compare"
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
	b.WriteString(e.Details())
	if e.Kind == Down && e.Evidence != nil {
		if first, err := time.Parse(time.RFC3339, e.Evidence.First); err == nil {
			fmt.Fprintf(&b, ", silent since %s", first.Local().Format("15:04:05"))
		}
	}
	return b.String()
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
	if what := compare.Detail(&census.Change{Before: e.Before, After: e.After}); what != "" {
		fmt.Fprintf(&b, "  %s", what)
	}
	if e.Evidence != nil && len(e.Evidence.Signs) > 0 {
		fmt.Fprintf(&b, "  %s", console.Plain(strings.Join(e.Evidence.Signs, "; "), 200))
	}
	if e.LeftOut > 0 {
		fmt.Fprintf(&b, "  (%d more left out)", e.LeftOut)
	}
	return b.String()
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
	for key, d := range w.damping {
		switch {
		case now < d.end:
			continue
		case d.leftOut == 0:
			delete(w.damping, key)
			continue
		}
		d.end, d.shown = now+uint32(w.rules.Damp.Seconds()), 0
		if e := d.waiting; e.Kind != d.last.Kind || !reflect.DeepEqual(e.After, d.last.After) {
			e.LeftOut, d.leftOut = d.leftOut-1, 0
			d.shown, d.last = 1, e
			w.events = append(w.events, e)
		}
	}
}

// twice marks an identity that several servers have: it identifies none.
const twice = -1

// match enters a server that is down, or that is new, into the set of those, and reports a
// move if the other set has its counterpart. Both sets go by census.Server.Identities.
func (w *Watcher) match(i int, set, other map[uint64]int, now uint32) {
	s := w.servers[i].known
	if s == nil {
		return
	}
	found, by := twice, ""
	steamID, identity := s.Identities()
	for n, key := range [...]uint64{identity, steamID} {
		if key == 0 {
			continue
		}
		if have, ok := set[key]; ok && have != i {
			set[key] = twice
			continue
		}
		set[key] = i
		if j, ok := other[key]; ok && j != twice && j != i {
			found, by = j, [...]string{"identity", "steam_id"}[n]
		}
	}
	from, to := found, i
	if w.servers[i].status == down {
		from, to = i, found
	}
	if found == twice || w.servers[from].status != down || w.servers[to].status != up {
		return
	}
	for j := range w.servers { // another server with the same identity may be the one
		if t := &w.servers[j]; j != from && j != to && t.known != nil && !t.gone {
			if x, y := t.known.Identities(); by == "steam_id" && x == steamID || by == "identity" && y == identity {
				return
			}
		}
	}
	c := census.NewChange(census.Kind(moved), w.servers[from].known, w.servers[to].known)
	w.emit(to, Event{Kind: moved, By: by, Before: c.Before, After: c.After}, now)
}

// back takes a server out of the set of those that are down.
func (w *Watcher) back(i int) {
	if s := w.servers[i].known; s != nil {
		steamID, identity := s.Identities()
		for _, key := range [...]uint64{identity, steamID} {
			if w.departed[key] == i {
				delete(w.departed, key)
			}
		}
	}
}
