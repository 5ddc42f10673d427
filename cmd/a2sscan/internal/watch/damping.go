package watch

import (
	"reflect"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// damping holds back the events of servers whose state changes again and again. It hides only
// states that do not last.
type damping struct {
	length uint32 // Rules.Damp in seconds
	enough int    // Rules.DownAfter
	open   map[damped]*window
}

// damped identifies the events that share a window: events of one kind of one server. Planned
// events have a window of their own.
type damped struct {
	server  int
	kind    string // "up" also stands for "down"
	planned bool
}

// window is a time in which at most two events are reported. It begins with an event, and
// lasts for Rules.Damp.
type window struct {
	end     uint32   // Unix time
	shown   int      // number of events reported in the window, at most 2
	last    db.Event // the latest reported event
	waiting db.Event // the latest event that was held back
	leftOut int      // number of events held back since the latest report
	lasts   int      // number of checks that have confirmed the waiting event
}

// tell returns the event in the field waiting, for the caller to report. LeftOut of this
// event counts the other events that were held back.
func (d *window) tell() db.Event {
	e := d.waiting
	e.LeftOut, d.leftOut = d.leftOut-1, 0
	d.last = e
	return e
}

// repeats reports whether the event in the field waiting only repeats the last reported event.
func (d *window) repeats() bool {
	return d.waiting.Kind == d.last.Kind && reflect.DeepEqual(d.waiting.After, d.last.After)
}

// pairOf identifies the events "up" and "down" of a server.
func pairOf(i int, s *server) damped { return damped{i, "up", s.inMaintenance()} }

// add returns e and true if e is to be reported now. After two reports in a window, add
// holds back further events, and returns false.
func (d *damping) add(key damped, e db.Event, now uint32) (db.Event, bool) {
	in := d.open[key]
	if in == nil {
		in = &window{end: now + d.length}
		d.open[key] = in
	}
	if in.shown == 2 {
		in.waiting, in.lasts = e, 0
		in.leftOut++
		return e, false
	}
	e.LeftOut, in.leftOut = in.leftOut, 0
	in.shown++
	in.last = e
	return e, true
}

// confirm is called after each check that shows whether a server is up or down. kind is "up"
// or "down". When Rules.DownAfter checks have confirmed the waiting event, confirm returns it
// for the caller to report. It returns no event if the last reported event has this kind.
func (d *damping) confirm(key damped, kind string) (e db.Event, due bool) {
	in := d.open[key]
	if in == nil || in.leftOut == 0 || in.waiting.Kind != kind {
		return e, false
	}
	if in.lasts++; in.lasts < d.enough || in.last.Kind == kind {
		return e, false
	}
	return in.tell(), true
}

// release ends the windows that are over. If a window held back events, release begins it
// anew, and returns the latest of these events if it differs from the last reported event.
func (d *damping) release(now uint32) (due []db.Event) {
	for key, in := range d.open {
		switch {
		case now < in.end:
			continue
		case in.leftOut == 0:
			delete(d.open, key)
			continue
		}
		in.end, in.shown = now+d.length, 0
		if !in.repeats() {
			in.shown = 1
			due = append(due, in.tell())
		}
	}
	return due
}
