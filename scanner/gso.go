package scanner

import (
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// gso decides whether the requests for players and rules, which are equally
// long and mostly go out together, are handed to the kernel in one piece. Only
// the first that a server is sent are joined: whatever a device may do to such
// pieces, what is asked again goes out one by one.
type gso struct {
	off      bool
	silent   int // pairs of which neither was answered in time
	answered int // the others
}

// Pairs that stay unanswered, by servers that all gave a challenge just before,
// are the sign of a device that loses what is joined, if they are so many, and
// so many times as many as the others.
const (
	maxSilentPairs = 64
	mostlySilent   = 16
)

// both are the questions whose requests are joined.
const both = AskPlayers | AskRules

// mark marks the request for players in front of the one for rules to the same
// server, which was just put into the batch behind it.
func (g *gso) mark(ps []udp.Packet, out []outgoing, t *talk) {
	n := len(out)
	if g.off || n < 2 || t.flags&flagRepeat != 0 || t.asked&both != 0 {
		return
	}
	first, second := &out[n-2], &out[n-1]
	if first.ref == second.ref && first.q == wire.QuestionPlayers && second.q == wire.QuestionRules {
		ps[n-2].GSO = true
	}
}

// waited takes the end of the first wait after a pair was sent, if t has such a
// wait.
func (g *gso) waited(t *talk, stats *Stats) {
	if t.flags&flagGSO == 0 {
		return
	}
	t.flags &^= flagGSO
	if t.waiting&t.open&both == both {
		g.silent++
	} else {
		g.answered++
	}
	if !g.off && g.silent >= maxSilentPairs && g.silent > mostlySilent*g.answered {
		g.off = true
		stats.GSOStopped++
	}
}
