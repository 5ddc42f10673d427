package watch

import (
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

// The network of the watcher is the suspect if this many servers, in this many networks, and
// this share of those that were up are silent at once.
const (
	blindServers  = 20
	blindNetworks = 4
	blindPercent  = 60
)

// doubtPercent is the share of answers below which nothing is called down until a cycle has
// shown whether the watcher is blind.
const doubtPercent = 40

// network is what the checks of all servers say about the watcher's own network.
type network struct {
	asked    [4096]tally // of the latest seconds
	mask     uint64      // the latest outcomes since the watcher became blind: 1 is an answer
	outcomes int

	failing bool   // datagrams can't be sent
	blind   bool   // since:
	since   uint32 //
	expired bool   // it has lasted longer than Rules.BlindMax: the silent servers are down
}

// tally counts the checks of one second.
type tally struct{ second, asked, answered uint32 }

// outcome counts a check of a server that is up, by the time at which it was asked.
func (v *network) outcome(asked uint32, answered bool) {
	v.mask, v.outcomes = v.mask<<1, v.outcomes+1
	t := &v.asked[asked%uint32(len(v.asked))]
	if t.second != asked {
		*t = tally{second: asked}
	}
	t.asked++
	if answered {
		v.mask |= 1
		v.failing = false
		t.answered++
	}
}

// answered reports whether enough of what was asked since a moment was answered to tell a dead
// server from a dead network.
func (v *network) answered(since uint32) bool {
	var sum tally
	for _, t := range v.asked {
		if t.second >= since {
			sum.asked, sum.answered = sum.asked+t.asked, sum.answered+t.answered
		}
	}
	return sum.asked >= blindServers && sum.answered*100 >= sum.asked*doubtPercent
}

// recovered reports whether most of the latest checks of a blind watcher that knew up servers
// were answered.
func (v *network) recovered(up int) bool {
	n, answered := min(64, max(up, 1)), 0
	for i := range min(n, v.outcomes) {
		answered += int(v.mask >> i & 1)
	}
	return v.outcomes >= n && answered*100 >= n*blindPercent
}

// forget drops all outcomes.
func (v *network) forget() { v.asked, v.outcomes, v.mask = [len(v.asked)]tally{}, 0, 0 }

func isSilent(s *server) bool { return s.status == watchdb.Up && s.silent > 0 }

// look counts the servers, finds out whether the watcher is blind or sees again, and calls
// servers down that have been silent long enough.
func (w *Watcher) look(now uint32) {
	v, n := &w.view, Status{Servers: len(w.order)}
	silent, references, answering := 0, 0, 0
	up, dead := map[uint64]bool{}, map[uint64]bool{} // /24 networks with servers that are up, as far as they are needed, or silent
	var held []int                                   // silent long enough
	for i := range w.servers {
		s := &w.servers[i]
		switch {
		case s.gone:
		case s.status == watchdb.Down:
			n.Down++
		case s.status == watchdb.Up:
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
	light := v.recovered(n.Up)
	if references > 0 {
		dark, light = answering == 0, answering > 0
	}
	switch {
	case !v.blind && (dark || v.failing):
		v.blind, v.since, v.outcomes = true, now, 0
		e := &watchdb.Evidence{Servers: n.Up, Silent: silent, Networks: len(dead)}
		switch {
		case v.failing:
			e.Signs = []string{"datagrams can't be sent"}
		case references > 0:
			e.Signs = []string{"no answer from the servers of --reference"}
		}
		w.events = append(w.events, watchdb.Event{Kind: "blind", Time: moment(now), Evidence: e})
	case v.blind && light && !v.failing:
		w.events = append(w.events, watchdb.Event{Kind: "seeing", Time: moment(now), For: int64(now - v.since)})
		v.blind, v.expired, held = false, false, nil
		w.ignore = now
		for i := range w.servers {
			if s := &w.servers[i]; isSilent(s) {
				w.settle(i, now)
			}
		}
		v.forget()
	case v.blind:
		v.expired = now-v.since >= uint32(w.rules.BlindMax.Seconds())
	}
	n.Blind = v.blind
	w.status = n
	if len(held) == 0 || v.blind && !v.expired {
		return
	}
	doubt := !v.expired && references == 0 && n.Up >= blindServers && len(up) >= blindNetworks
	for _, i := range held {
		s := &w.servers[i]
		if !doubt || now-s.asked >= uint32(w.rules.Every/time.Second) || v.answered(s.asked) {
			w.fall(i, now)
		}
	}
}
