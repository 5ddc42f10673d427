package fleet

import (
	"bytes"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// ignores reports whether servers of the kind never answer q.
func (k Kind) ignores(q wire.Question) bool {
	switch k {
	case Silent:
		return true
	case PlayersOnly:
		return q != wire.QuestionPlayers
	case TrailingNUL:
		return q != wire.QuestionInfo // PLAYER and RULES need one more NUL, see aside
	}
	return false
}

// pings reports whether servers of the kind answer a ping, as GoldSource does.
func (k Kind) pings() bool {
	switch k {
	case GoldSource, GoldSourceOld, GoldSourceMod, Both, TrailingNUL, PlayersOnly:
		return true
	}
	return false
}

// aside answers requests that only some kinds of servers answer: a ping,
// GETCHALLENGE, and requests with an additional NUL. It reports whether it
// answered.
func (p *responder) aside(now time.Duration, client, server uint64, datagram []byte) bool {
	if !wire.IsSingle(datagram) {
		return false
	}
	n, ok := p.m.nature(server)
	if !ok {
		return false
	}
	short, trailing := datagram, false
	if n.kind == TrailingNUL {
		short, trailing = bytes.CutSuffix(datagram, []byte{0})
	}
	request, err := wire.DecodeRequest(short)
	if err != nil || n.kind == TrailingNUL && !trailing {
		return false
	}
	first := len(p.out.List)
	switch question, _ := QuestionOf(request.Kind); {
	case request.Kind == wire.KindPingRequest && n.kind.pings():
		p.send(&n, wire.AppendPing(nil, nil))
	case request.Kind == wire.KindChallengeRequest && n.kind == GetChallenge:
		give, _ := p.challenge(&n, &query{now: now, client: client})
		p.send(&n, wire.AppendChallenge(nil, give))
	case n.kind == TrailingNUL && question != wire.QuestionInfo:
		p.c.fill(&n, 1<<question)
		p.say(&n, question)
	default:
		return false
	}
	address(p.out.List[first:], client, n.delay)
	return true
}
