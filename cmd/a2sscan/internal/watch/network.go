package watch

import (
	"net/netip"
	"strings"
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
	up, silent int             // servers that are up; those of them whose last check stayed without an answer
	nets       map[uint32]*net // by the first 24 bits of their addresses
	netsUp     int             // networks with servers that are up
	netsSilent int             // of these, networks with silent servers

	asked    [4096]tally // of the latest seconds
	mask     uint64      // the latest outcomes since the watcher became blind: 1 is an answer
	outcomes int

	references map[netip.AddrPort]bool // false: its latest check stayed without an answer
	answeredAt uint32                  // when a reference answered last

	failing bool   // datagrams can't be sent
	blind   bool   // since:
	since   uint32 //
	expired bool   // it has lasted longer than Rules.BlindMax: the silent servers are down
}

type net struct{ up, silent int32 }

// tally counts the checks of one second.
type tally struct{ second, asked, answered uint32 }

func (v *network) of(s *server) *net {
	prefix := uint32(s.key >> 24)
	n := v.nets[prefix]
	if n == nil {
		n = &net{}
		v.nets[prefix] = n
	}
	return n
}

// step adds to a count, and to the number of those that are not zero.
func step(count *int32, of *int, by int32) {
	was := *count > 0
	*count += by
	switch is := *count > 0; {
	case is && !was:
		*of++
	case was && !is:
		*of--
	}
}

// came and left count servers that are up; fell and rose those of them that are silent.
func (v *network) came(s *server) { v.up++; step(&v.of(s).up, &v.netsUp, 1) }
func (v *network) left(s *server) { v.up--; step(&v.of(s).up, &v.netsUp, -1) }
func (v *network) fell(s *server) { v.silent++; step(&v.of(s).silent, &v.netsSilent, 1) }
func (v *network) rose(s *server) { v.silent--; step(&v.of(s).silent, &v.netsSilent, -1) }

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

// doubtful reports whether too little of what was asked since a moment was answered to tell a
// dead server from a dead network.
func (v *network) doubtful(since uint32) bool {
	if len(v.references) > 0 {
		return v.answeredAt < since
	}
	if v.up < blindServers || v.netsUp < blindNetworks {
		return false
	}
	var sum tally
	for _, t := range v.asked {
		if t.second >= since {
			sum.asked, sum.answered = sum.asked+t.asked, sum.answered+t.answered
		}
	}
	return sum.asked < blindServers || sum.answered*100 < sum.asked*doubtPercent
}

// dark reports whether everything suggests that the watcher's network is the one that fails,
// and says why.
func (v *network) dark() bool {
	if v.failing {
		return true
	}
	if len(v.references) > 0 {
		for _, answered := range v.references {
			if answered {
				return false
			}
		}
		return true
	}
	return v.silent >= blindServers && v.netsSilent >= blindNetworks && v.silent*100 >= v.up*blindPercent
}

// light reports whether the network of a blind watcher works again.
func (v *network) light() bool {
	if v.failing {
		return false
	}
	if len(v.references) > 0 {
		return !v.dark()
	}
	n, answered := min(64, max(v.up, 1)), 0
	for i := range min(n, v.outcomes) {
		answered += int(v.mask >> i & 1)
	}
	return v.outcomes >= n && answered*100 >= n*blindPercent
}

// forget drops all outcomes.
func (v *network) forget() { v.asked, v.outcomes, v.mask = [len(v.asked)]tally{}, 0, 0 }

// look finds out whether the watcher is blind, or sees again.
func (w *Watcher) look(now uint32) {
	v := &w.view
	for _, answered := range v.references {
		if answered {
			v.answeredAt = now
		}
	}
	switch {
	case !v.blind && v.dark():
		v.blind, v.since, v.expired, v.outcomes = true, now, false, 0
		e := &Evidence{Servers: v.up, Silent: v.silent, Networks: v.netsSilent}
		switch {
		case v.failing:
			e.Signs = []string{"datagrams can't be sent"}
		case len(v.references) > 0:
			e.Signs = []string{"no answer from " + strings.Join(w.referenceNames(), ", ")}
		}
		w.events = append(w.events, Event{Kind: Blind, Time: moment(now), Evidence: e})
	case v.blind && v.light():
		w.events = append(w.events, Event{Kind: Seeing, Time: moment(now), For: int64(now - v.since)})
		v.blind, v.expired = false, false
		w.ignore, w.held = now, nil
		for i := range w.servers {
			if s := &w.servers[i]; s.status == up && s.silent > 0 {
				w.settle(i, now)
			}
		}
		v.forget()
	case v.blind && !v.expired && now-v.since >= uint32(w.rules.BlindMax.Seconds()):
		v.expired = true
		w.held = w.held[:0]
		for i := range w.servers {
			if s := &w.servers[i]; s.status == up && int(s.silent) >= w.rules.DownAfter {
				w.held = append(w.held, i)
			}
		}
	}
}

func (w *Watcher) referenceNames() (names []string) {
	for _, a := range w.rules.References {
		names = append(names, a.String())
	}
	return names
}

// SendingFails tells the watcher that its socket is lost, or works again.
func (w *Watcher) SendingFails(failing bool) { w.view.failing = failing }
