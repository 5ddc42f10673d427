package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/sink/census"
)

// CheckKinds trims the words in kinds, and returns an error if a word is no kind of event.
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
	text := fmt.Sprintf("%s  %-9s", e.Time.Local().Format(time.TimeOnly), e.Kind)
	if e.Addr != "" {
		text += fmt.Sprintf("  %-21s  %s", e.Addr, console.Plain(Visible(e.Label, e.Name), 40))
	}
	if details := Details(e); details != "" {
		text += "  " + details
	}
	if e.Kind == "down" && e.Evidence != nil {
		text += e.Evidence.First.Local().Format(", silent since 15:04:05")
	}
	return text
}

// blanks are characters other than white space that show nothing.
const blanks = "\u00ad\u115f\u1160\u200b\u2800\u3164\ufeff\uffa0"

// Visible returns the first name that has a visible character, without blanks at its ends. If
// no name has one, Visible returns an empty string.
func Visible(names ...string) string {
	blank := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(blanks, r) }
	for i := range names {
		names[i] = strings.TrimFunc(names[i], blank)
	}
	return cmp.Or(names...)
}

// Details returns what happened, in words. It is safe to print.
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
		parts[0] = fmt.Sprintf("%d of %s silent at once: is this machine's network down?", e.Evidence.Silent, console.Plural(e.Evidence.Servers, "server"))
	}
	if e.Evidence != nil {
		parts = append(parts, console.Plain(strings.Join(e.Evidence.Signs, "; "), 200))
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if parts = []string{strings.Join(parts, "; ")}; e.Planned {
		parts = append(parts, "(planned)")
	}
	if e.LeftOut > 0 {
		parts = append(parts, fmt.Sprintf("(%s left out)", console.Plural(e.LeftOut, "earlier event")))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

func (r *Rules) wants(kind string) bool {
	if kind == "crowd" || kind == "reminder" { // these kinds have flags of their own
		return true
	}
	return slices.Contains(db.Kinds, kind) && (r.Kinds == nil || slices.Contains(r.Kinds, kind))
}

// report reports an event if its kind is wanted.
func (w *Watcher) report(e db.Event, now uint32) {
	if e.Reported = moment(now); w.rules.wants(e.Kind) {
		w.decided.events = append(w.decided.events, e)
	}
}

// silence returns the evidence that a server is down. allSilent means that most of the other
// servers are silent, too.
func (s *server) silence(allSilent bool) *db.Evidence {
	return &db.Evidence{
		Checks: int(s.silent), Requests: int(s.requests), First: moment(s.silentAt), Last: moment(s.asked), AllSilent: allSilent,
	}
}

// emit reports an event of a server if its kind is wanted and damping does not hold it back.
func (w *Watcher) emit(i int, e db.Event, now uint32) {
	if e.Kind != "up" && e.Kind != "down" && !w.rules.wants(e.Kind) {
		return // of the unwanted events, damping needs only "up" and "down"
	}
	s := &w.servers[i]
	if e.Addr = s.addr().String(); e.Time.IsZero() {
		e.Time = moment(now)
	}
	if w.rules.Names {
		e.Label = s.label
	}
	e.Planned = s.inMaintenance()
	if s.known != nil {
		c := census.NewChange("", s.known, s.known)
		e.Game, e.Name = c.Game, c.Name
	}
	key := damped{i, e.Kind, e.Planned}
	if e.Kind == "down" {
		key.kind = "up"
	}
	if e, due := w.damping.add(key, e, now); due {
		w.report(e, now)
	}
}

// confirm is called after each check that shows whether a server is up or down. It reports
// the event that damping.confirm returns.
func (w *Watcher) confirm(i int, kind string, now uint32) {
	w.catchUp(i, now)
	if e, due := w.damping.confirm(pairOf(i, &w.servers[i]), kind); due {
		w.report(e, now)
	}
}

// catchUp makes damping hold back an event "up" or "down" that an earlier watch held back
// and did not report.
func (w *Watcher) catchUp(i int, now uint32) {
	s := &w.servers[i]
	if !s.untold {
		return
	}
	s.untold = false
	if !w.rules.wants("up") || !w.rules.wants("down") {
		return
	}
	evidence := &db.Evidence{Signs: []string{"the previous watch ended before it reported this change"}}
	e, last := db.Event{Kind: "up", Time: moment(s.since), Evidence: evidence}, "down"
	if s.status == db.Down {
		e.Kind, last, evidence.First = "down", "up", e.Time
	}
	w.damping.open[pairOf(i, s)] = &window{end: now + w.damping.length, shown: 2, last: db.Event{Kind: last}}
	w.emit(i, e, now)
}

func (s *server) inMaintenance() bool { return s.planned || s.stopped }

// Finish reports the events that damping still holds back, except those that only repeat the
// last reported event. It is called when the watch ends.
func (w *Watcher) Finish(now time.Time) {
	for _, in := range w.damping.open {
		if in.waiting.Kind != "" && !in.repeats() {
			w.report(w.damping.tell(in), seconds(now))
		}
	}
}

// match is called for each server that is down or new, and stores the server in w.noted. It
// looks for a pair of servers, one down and one new, that have the same identity or Steam ID.
// It reports a move if no third server has this identity or Steam ID.
func (w *Watcher) match(i int, now uint32) {
	s := &w.servers[i]
	if s.known == nil {
		return
	}
	if len(w.noted) > 4*len(w.servers)+100 { // most keys are Steam IDs that no server has any more
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
