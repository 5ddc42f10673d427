package watch

import (
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// Without references, the watcher becomes blind, which means that it doubts its own
// network, if at least blindPercent percent of the servers that were up are silent at
// once. There must be at least blindServers silent servers, in at least blindNetworks /24
// networks.
const (
	blindServers  = 20
	blindNetworks = 4
	blindPercent  = 60
)

// If at least doubtPercent percent of the latest checks were answered, the watcher's own
// network works, and the watcher reports silent servers as down. Otherwise it first waits
// for a complete cycle, which shows whether it is blind.
const doubtPercent = 40

// network holds what the checks of all servers show about the watcher's own network.
type network struct {
	latest [64]outcome // ring of the latest outcomes
	// outcomes is the number of outcomes since the watcher became blind, saw again or
	// paused.
	outcomes int

	failing bool   // datagrams can't be sent
	blind   bool   // most servers are silent, so the watcher reports no server as down
	since   uint32 // Unix time when blind was set
}

// outcome is the result of a check of a server that should answer: see server.expected.
type outcome struct {
	asked    uint32 // when the check began
	answered bool
}

func (v *network) add(o outcome) {
	v.latest[v.outcomes%len(v.latest)] = o
	v.outcomes++
}

// count looks at the latest n checks. It counts the checks that began at the given time or
// later, and the answered checks among them.
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

// expected reports whether a server was up, or went down in maintenance that is over by now.
// If such a server does not answer, the watcher may be blind.
func (s *server) expected() bool {
	return !s.gone && s.window == 0 && (s.status == db.Up || s.planned)
}

// survey is what Watcher.survey found out about the servers.
type survey struct {
	up, silent int // numbers of expected servers, and of those that are silent
	// networks has at most blindNetworks /24 networks with expected servers. dead has all /24
	// networks with expected servers that are silent.
	networks, dead map[uint64]bool
	// references counts the references that were checked and are not in maintenance.
	// answering counts those of them whose latest check was answered.
	references, answering int
	// suspects are the servers that have been silent for long enough to be down.
	suspects []int
	// overdue are the servers that are still down although their maintenance is over.
	overdue []int
}

// survey counts the servers, and reports the reminders that are due.
func (w *Watcher) survey(now uint32) survey {
	n := Status{Servers: len(w.schedule.order)}
	v := survey{networks: map[uint64]bool{}, dead: map[uint64]bool{}}
	for i := range w.servers {
		s := &w.servers[i]
		if s.reference && s.window == 0 && (s.answers || s.silent > 0) {
			if v.references++; s.answers {
				v.answering++
			}
		}
		switch {
		case s.gone:
		case s.planned:
			n.Planned++
			if s.window == 0 && s.asked >= s.over && w.provesDown(s, now) {
				v.overdue = append(v.overdue, i)
			}
		case s.status == db.Down:
			n.Down++
			if w.rules.Remind > 0 && now >= s.remindAt && !s.flying && w.provesDown(s, now) {
				s.remindAt = now + uint32(w.rules.Remind.Seconds())
				w.emit(i, db.Event{Kind: "reminder", For: int64(now - s.since), Evidence: &db.Evidence{First: moment(s.since)}}, now)
			}
		case s.status == db.Up:
			n.Up++
			n.People += int(max(s.people, 0))
			if int(s.silent) >= w.rules.DownAfter {
				v.suspects = append(v.suspects, i)
			}
		}
		if !s.expected() {
			continue
		}
		v.up++
		if len(v.networks) < blindNetworks {
			v.networks[s.key>>24] = true
		}
		if s.silent > 0 {
			v.silent++
			v.dead[s.key>>24] = true
		}
	}
	w.status = n
	return v
}

// provesDown reports whether the latest check shows that a server is still down.
func (w *Watcher) provesDown(s *server, now uint32) bool {
	return s.silent > 0 && s.asked > w.ignore && !w.trusts(now)
}

// trustEnd returns the Unix time until which a blind watcher assumes that the servers are up,
// given Rules.BlindMax.
func (v *network) trustEnd(most time.Duration) int64 {
	return int64(v.since) + int64(most/time.Second)
}

// trusts reports whether the watcher is blind and assumes that the servers are up.
func (w *Watcher) trusts(now uint32) bool {
	return w.view.blind && int64(now) < w.view.trustEnd(w.rules.BlindMax)
}

// doubtItself finds out whether the watcher becomes blind or sees again, and reports either
// change. If the watcher sees again, doubtItself forgets the silence of all servers and
// returns true.
func (w *Watcher) doubtItself(s *survey, now uint32) (saw bool) {
	v := &w.view
	dark := s.silent >= blindServers && s.silent*100 >= s.up*blindPercent && len(s.dead) >= blindNetworks
	enough := min(len(v.latest), max(s.up, 1))
	all, answered := v.count(enough, 0)
	light := all == enough && answered*100 >= all*blindPercent
	if s.references > 0 {
		dark, light = s.answering == 0, s.answering > 0
	}
	switch {
	case !v.blind && (dark || v.failing):
		v.blind, v.since, v.outcomes = true, now, 0
		e := &db.Evidence{Servers: s.up, Silent: s.silent, Networks: len(s.dead)}
		switch {
		case v.failing:
			e.Signs = []string{"datagrams can't be sent"}
		case s.references > 0:
			e.Signs = []string{"no answer from the servers of --reference"}
		}
		w.report(db.Event{Kind: "blind", Time: moment(now), Evidence: e}, now)
	case v.blind && light && !v.failing:
		w.report(db.Event{Kind: "seeing", Time: moment(now), For: int64(now - v.since)}, now)
		for i := range w.servers {
			if s := &w.servers[i]; isSilent(s) || s.status == db.Down {
				w.unseen(i, now, now)
			}
		}
		v.blind, v.outcomes, w.ignore, saw = false, 0, now, true
	}
	w.status.Blind = v.blind
	return saw
}

// judge sets the status of the suspects to down, unless the network of the watcher is in
// doubt.
func (w *Watcher) judge(s *survey, now uint32) {
	v := &w.view
	// After BlindMax even a blind watcher reports silent servers as down.
	if w.trusts(now) {
		return
	}
	doubt := !v.blind && s.references == 0 && s.up >= blindServers && len(s.networks) >= blindNetworks
	for _, i := range s.suspects {
		asked := w.servers[i].asked
		all, answered := v.count(len(v.latest), asked)
		alive := all >= blindServers && answered*100 >= all*doubtPercent // the network worked while this server was silent
		if !doubt || now-asked >= uint32(w.rules.Every/time.Second) || alive {
			w.fall(i, now)
		}
	}
	for _, i := range s.overdue {
		w.outlast(i, now)
	}
}
