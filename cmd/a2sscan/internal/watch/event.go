package watch

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/sink/census"
)

// CheckKinds returns an error if one of the words is not a kind of event.
func CheckKinds(kinds []string) error {
	for i, kind := range kinds {
		if kinds[i] = strings.TrimSpace(kind); !slices.Contains(db.Kinds, kinds[i]) {
			return fmt.Errorf("%s is not a kind of event: choose from %s", console.Quoted(kind, 40), strings.Join(db.Kinds, ", "))
		}
	}
	return nil
}

// Text returns an event as a line for people. It is safe to print.
func Text(e *db.Event) string {
	return fmt.Sprintf("%s  %-9s%s", e.Time.Local().Format("15:04:05"), e.Kind, about(e))
}

// about returns the part of Text after the kind.
func about(e *db.Event) (text string) {
	if e.Addr != "" {
		text = fmt.Sprintf("  %-21s  %s", e.Addr, console.Plain(cmp.Or(e.Label, e.Name), 40))
	}
	if details := Details(e); details != "" {
		text += "  " + details
	}
	if e.Kind == "down" && e.Evidence != nil {
		text += e.Evidence.First.Local().Format(", silent since 15:04:05")
	}
	return text
}

// Details returns the part of Text after the name.
func Details(e *db.Event) string {
	parts := []string{"", report.Detail(&census.Change{Before: e.Before, After: e.After})}
	lasted := console.RoughDuration(time.Duration(e.For) * time.Second)
	switch {
	case e.Kind == "up" && e.For > 0:
		parts[0] = "was down for " + lasted
	case e.Kind == "down" && e.For > 0:
		parts[0] = "was up for " + lasted
	case e.Kind == "reminder":
		parts[0] = "still down, for " + lasted
	case e.Kind == "seeing":
		parts[0] = "was blind for " + lasted
	case e.Kind == "blind":
		parts[0] = fmt.Sprintf("%d of %d servers are silent at once: is this machine's network down?", e.Evidence.Silent, e.Evidence.Servers)
	}
	if e.Evidence != nil {
		parts = append(parts, console.Plain(strings.Join(e.Evidence.Signs, "; "), 200))
	}
	if e.Planned {
		parts = append(parts, "(planned)")
	}
	if e.LeftOut > 0 {
		parts = append(parts, fmt.Sprintf("(%d more left out)", e.LeftOut))
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "  ")
}

// damped identifies events that are damped together: the events of one kind of a server, or
// its pair of up and down.
type damped struct {
	server int
	kind   string // kind of the events; "up" covers "down", too
	// planned is set for planned events, which are damped separately.
	planned bool
}

// window counts the events of a damped kind during Rules.Damp.
type window struct {
	end     uint32
	shown   int      // number of events reported, at most a pair
	last    db.Event // the last event reported
	waiting db.Event // the last event left out
	leftOut int      // number of events left out
	lasts   int      // number of checks after waiting that confirmed its state
}

// wanted reports whether events of a kind are reported.
func (w *Watcher) wanted(kind string) bool {
	return slices.Contains(db.Kinds, kind) && (w.rules.Kinds == nil || slices.Contains(w.rules.Kinds, kind))
}

// report adds an event to w.decided.
func (w *Watcher) report(e db.Event, now uint32) {
	e.Reported = moment(now)
	w.decided.events = append(w.decided.events, e)
}

// emit reports an event of a server if its kind is wanted. After two events in a
// window, it only counts further events as left out.
func (w *Watcher) emit(i int, e db.Event, now uint32) {
	if !w.wanted(e.Kind) {
		return
	}
	s := &w.servers[i]
	if e.Addr = s.addr().String(); e.Time.IsZero() {
		e.Time = moment(now)
	}
	if w.rules.Names {
		e.Label = s.label
	}
	e.Planned = s.planned || s.stopped
	if s.known != nil {
		c := census.NewChange("", s.known, s.known)
		e.Game, e.Name = c.Game, c.Name
	}
	key := damped{i, e.Kind, e.Planned}
	if e.Kind == "down" {
		key.kind = "up"
	}
	d := w.damping[key]
	if d == nil {
		d = &window{end: now + uint32(w.rules.Damp.Seconds())}
		w.damping[key] = d
	}
	if d.shown == 2 {
		d.waiting, d.lasts = e, 0
		d.leftOut++
		return
	}
	e.LeftOut, d.leftOut = d.leftOut, 0
	d.shown++
	d.last = e
	w.report(e, now)
}

// confirm counts a check that shows whether a server is up. If an event about that state was
// left out, and the state has lasted for Rules.DownAfter checks more, confirm reports it:
// damping swallows flapping, never a state that lasts.
func (w *Watcher) confirm(i int, up bool, now uint32) {
	d := w.damping[damped{i, "up", w.servers[i].planned}]
	if d == nil || d.leftOut == 0 || (d.waiting.Kind == "up") != up {
		return
	}
	if d.lasts++; d.lasts >= w.rules.DownAfter && d.waiting.Kind != d.last.Kind {
		w.tell(d, now)
	}
}

// tell reports the event that waits.
func (w *Watcher) tell(d *window, now uint32) {
	e := d.waiting
	e.LeftOut, d.leftOut = d.leftOut-1, 0
	d.last = e
	w.report(e, now)
}

// Finish reports the events that still wait, because the watch ends.
func (w *Watcher) Finish(now time.Time) {
	for _, d := range w.damping {
		if d.leftOut > 0 {
			w.tell(d, seconds(now))
		}
	}
}

// release ends the windows that are over. It reports the last event that was left out,
// if that event differs from the last event reported.
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
			d.shown = 1
			w.tell(d, now)
		}
	}
}

// match stores a server that went down, or that is new, under its identities. If another
// server is already stored under an identity, one of the two is new and the other is
// down, and no third server has the identity, match reports a move.
func (w *Watcher) match(i int, now uint32) {
	s := &w.servers[i]
	if s.known == nil {
		return
	}
	if len(w.noted) > 4*len(w.servers)+100 { // most entries are Steam IDs that no server has any more
		clear(w.noted)
	}
	found, by := i, ""
	steamID, identity := s.known.Identities()
	for n, key := range [...]uint64{identity, steamID} {
		if j, ok := w.noted[key]; ok && j != i {
			found, by = j, [...]string{"identity", "steam_id"}[n]
		}
		if key != 0 {
			w.noted[key] = i
		}
	}
	from, to := found, i
	if s.status == db.Down {
		from, to = i, found
	}
	if w.servers[from].status != db.Down || w.servers[to].status != db.Up || !w.servers[to].arrived {
		return
	}
	for j := range w.servers {
		if t := &w.servers[j]; j != from && j != to && t.known != nil && !t.gone {
			if x, y := t.known.Identities(); by == "steam_id" && x == steamID || by == "identity" && y == identity {
				return
			}
		}
	}
	c := census.NewChange("moved", w.servers[from].known, w.servers[to].known)
	w.emit(to, db.Event{Kind: "moved", By: by, Before: c.Before, After: c.After}, now)
}
