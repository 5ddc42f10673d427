package scanner

import (
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// gso decides whether the requests for players and rules go to the kernel in one
// piece (generic segmentation offload): they have the same length and usually go
// out together. It marks only the first pair to each server, so that retries reach
// the server even behind a device that loses such pieces.
type gso struct {
	off      bool
	silent   int // pairs of which neither request was answered in time
	answered int // the other pairs
}

// Every server that gets a pair has just sent a challenge, so it should answer. If
// at least maxSilentPairs of them don't, and more than mostlySilent times as many
// as do, some device loses pairs.
const (
	maxSilentPairs = 64
	mostlySilent   = 16
)

// both are the questions whose requests go out in one piece.
const both = AskPlayers | AskRules

// mark marks the request for players if the request for rules to the same server has
// just been added to the batch after it. It marks only first requests.
func (g *gso) mark(ps []udp.Packet, out []outgoing, t *session) {
	n := len(out)
	if g.off || n < 2 || t.flags&flagRepeat != 0 || t.agenda.asked&both != 0 {
		return
	}
	first, second := &out[n-2], &out[n-1]
	if first.ref == second.ref && first.q == wire.QuestionPlayers && second.q == wire.QuestionRules {
		ps[n-2].GSO = true
	}
}

// waited evaluates the first wait of a session after a pair was sent to it, and
// turns GSO off if pairs get lost. It does nothing for other waits.
func (g *gso) waited(t *session, stats *Stats) {
	if t.flags&flagGSO == 0 {
		return
	}
	t.flags &^= flagGSO
	if t.agenda.waiting&t.agenda.open&both == both {
		g.silent++
	} else {
		g.answered++
	}
	if !g.off && g.silent >= maxSilentPairs && g.silent > mostlySilent*g.answered {
		g.off = true
		stats.GSOStopped++
	}
}
