package watch

import (
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// The watcher suspects its own network if at least this many servers, in this many
// networks, and this share of the servers that were up are silent at once.
const (
	blindServers  = 20
	blindNetworks = 4
	blindPercent  = 60
)

// doubtPercent is a share of answers. If fewer checks are answered, no server is called
// down until a complete cycle has shown whether the watcher is blind.
const doubtPercent = 40

// network holds what the checks of all servers show about the watcher's own network.
type network struct {
	latest [64]outcome // a ring
	// outcomes is the number of outcomes since the watcher became blind, saw again or
	// paused.
	outcomes int

	failing bool // datagrams can't be sent
	blind   bool
	since   uint32 // when blind was set
}

// outcome is the result of a check of a server that was up.
type outcome struct {
	asked    uint32 // when the check began
	answered bool
}

func (v *network) add(o outcome) {
	v.latest[v.outcomes%len(v.latest)] = o
	v.outcomes++
}

// count looks at the latest n outcomes, and counts those whose checks began at since or
// later.
func (v *network) count(n int, since uint32) (all, answered int) {
	for i := range min(n, v.outcomes, len(v.latest)) {
		if o := v.latest[(v.outcomes-1-i)%len(v.latest)]; o.asked >= since {
			if all++; o.answered {
				answered++
			}
		}
	}
	return all, answered
}

func isSilent(s *server) bool { return s.status == db.Up && s.silent > 0 }

// inspect counts the servers, finds out whether the watcher is blind or sees again, and
// calls servers down that have been silent long enough.
func (w *Watcher) inspect(now uint32) {
	v, n := &w.view, Status{Servers: len(w.order)}
	silent, references, answering := 0, 0, 0
	// These are the /24 networks with servers that are up (at most blindNetworks) and with
	// silent servers.
	up, dead := map[uint64]bool{}, map[uint64]bool{}
	var held []int // servers that were silent long enough
	for i := range w.servers {
		s := &w.servers[i]
		switch {
		case s.gone:
		case s.status == db.Down:
			n.Down++
		case s.status == db.Up:
			n.Up++
			n.People += int(max(s.people, 0))
			if len(up) < blindNetworks {
				up[s.key>>24] = true
			}
			if isSilent(s) {
				silent++
				dead[s.key>>24] = true
			}
			if int(s.silent) >= w.rules.DownAfter {
				held = append(held, i)
			}
		}
		if s.reference && (s.answers || s.silent > 0) {
			if references++; s.answers {
				answering++
			}
		}
	}
	dark := silent >= blindServers && silent*100 >= n.Up*blindPercent && len(dead) >= blindNetworks
	enough := min(len(v.latest), max(n.Up, 1))
	all, answered := v.count(enough, 0)
	light := all == enough && answered*100 >= all*blindPercent
	if references > 0 {
		dark, light = answering == 0, answering > 0
	}
	switch {
	case !v.blind && (dark || v.failing):
		v.blind, v.since, v.outcomes = true, now, 0
		e := &db.Evidence{Servers: n.Up, Silent: silent, Networks: len(dead)}
		switch {
		case v.failing:
			e.Signs = []string{"datagrams can't be sent"}
		case references > 0:
			e.Signs = []string{"no answer from the servers of --reference"}
		}
		if w.wanted("blind") {
			w.events = append(w.events, db.Event{Kind: "blind", Time: moment(now), Evidence: e})
		}
	case v.blind && light && !v.failing:
		if w.wanted("seeing") {
			w.events = append(w.events, db.Event{Kind: "seeing", Time: moment(now), For: int64(now - v.since)})
		}
		v.blind, held = false, nil
		w.ignore = now
		for i := range w.servers {
			if isSilent(&w.servers[i]) {
				w.unseen(i, now, now)
			}
		}
		v.outcomes = 0
	}
	n.Blind = v.blind
	w.status = n
	expired := v.blind && now-v.since >= uint32(w.rules.BlindMax.Seconds()) // then silent servers are down
	if len(held) == 0 || v.blind && !expired {
		return
	}
	doubt := !expired && references == 0 && n.Up >= blindServers && len(up) >= blindNetworks
	for _, i := range held {
		s := &w.servers[i]
		all, answered := v.count(len(v.latest), s.asked)
		alive := all >= blindServers && answered*100 >= all*doubtPercent // the network worked at that time
		if !doubt || now-s.asked >= uint32(w.rules.Every/time.Second) || alive {
			w.fall(i, now, expired)
		}
	}
}
