package fleet

import (
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/wire"
)

// challengeLife is how long a server gives out the same challenge. It accepts a
// challenge for at most twice as long (HLTV: 30 to 40 s, EC-14).
const challengeLife = 30 * time.Second

// shortLife is the challengeLife of ShortChallenge, which accepts a challenge for
// at most five seconds.
const shortLife = 2500 * time.Millisecond

// The challenges that a server has for one client.
const (
	challengeOnly = iota
	challengeNext // the second challenge of Rechallenge
)

// challenge reports whether the query has a valid challenge. If it has not, give is
// the challenge to send to the client.
func (p *responder) challenge(n *nature, q *query) (give wire.Challenge, ok bool) {
	given := func(c wire.Challenge) bool { return q.request.HasChallenge && q.request.Challenge == c }
	life := challengeLife
	switch n.kind {
	case EndlessChallenges:
		return random.Challenge(p.junk.Next()), false
	case OwnChallenge:
		give = p.m.challengeOf(n, q.client, uint64(q.question), challengeOnly)
		return give, given(give)
	case Rechallenge: // the first challenge is valid once, the second always
		give = p.m.challengeOf(n, q.client, 0, challengeOnly)
		next := p.m.challengeOf(n, q.client, 0, challengeNext)
		key := usedKey{n.addr, q.client}
		switch used := p.used[key]; {
		case given(next):
			return next, true
		case used:
			return next, false
		case !given(give):
			return give, false
		}
		if len(p.used) >= mostRemembered {
			clear(p.used)
		}
		p.used[key] = true
		return give, true
	case ShortChallenge:
		life = shortLife
	}
	// It changes each time life has passed. The previous one is accepted too.
	epoch := uint64(q.now / life)
	give = p.m.challengeOf(n, q.client, epoch, challengeOnly)
	return give, given(give) || epoch > 0 && given(p.m.challengeOf(n, q.client, epoch-1, challengeOnly))
}

// challengeOf returns the challenge that a server gives to a client. It does not
// depend on the client's port (EC-15).
func (m *model) challengeOf(n *nature, client, epoch uint64, which uint64) wire.Challenge {
	if n.quirks&quirkZero != 0 {
		return 0
	}
	return random.Challenge(random.Hash(n.hash, client>>16, epoch, which))
}
