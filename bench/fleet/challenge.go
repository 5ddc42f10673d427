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

// dropsWrong reports whether servers of the kind drop a request with a wrong
// challenge. They send a challenge only in answer to a request that has none.
func (k Kind) dropsWrong() bool { return k == OwnChallenge || k == ShortChallenge }

// The challenges that a server has for one client.
const (
	challengeOnly = iota
	challengeNext // the second challenge of Rechallenge
)

// challenge reports whether the query has a valid challenge. If it has not, give is
// the challenge to send to the client.
func (p *responder) challenge(n *nature, q *query) (give wire.Challenge, ok bool) {
	if n.kind == EndlessChallenges {
		return random.Challenge(p.junk.Next()), false
	}
	switch n.kind {
	case Rechallenge:
		return p.rechallenge(n, q)
	case OwnChallenge:
		give = p.m.challengeOf(n, q.client, uint64(q.question), challengeOnly)
		return give, q.request.HasChallenge && q.request.Challenge == give
	case ShortChallenge:
		return p.epochChallenge(n, q, shortLife)
	}
	return p.epochChallenge(n, q, challengeLife)
}

// epochChallenge implements challenge for a server that changes its challenge each
// time life has passed. It also accepts the previous challenge.
func (p *responder) epochChallenge(n *nature, q *query, life time.Duration) (give wire.Challenge, ok bool) {
	epoch := uint64(q.now / life)
	given := q.request.Challenge
	give = p.m.challengeOf(n, q.client, epoch, challengeOnly)
	last := give
	if epoch > 0 {
		last = p.m.challengeOf(n, q.client, epoch-1, challengeOnly)
	}
	return give, q.request.HasChallenge && (given == give || given == last)
}

// rechallenge implements challenge for a server whose first challenge is valid only
// once. The second challenge is always valid. So if p.used forgets a client, that
// costs the client at most one more round trip.
func (p *responder) rechallenge(n *nature, q *query) (give wire.Challenge, ok bool) {
	first := p.m.challengeOf(n, q.client, 0, challengeOnly)
	next := p.m.challengeOf(n, q.client, 0, challengeNext)
	used := p.used.has(n.addr, q.client)
	given := q.request.Challenge
	switch {
	case !q.request.HasChallenge:
	case given == next:
		return next, true
	case given == first && !used:
		p.used.add(n.addr, q.client)
		return first, true
	}
	if used {
		return next, false
	}
	return first, false
}

// challengeOf returns the challenge that a server gives to a client. It does not
// depend on the client's port (EC-15).
func (m *model) challengeOf(n *nature, client, epoch uint64, which uint64) wire.Challenge {
	if n.quirks&quirkZero != 0 {
		return 0
	}
	return random.Challenge(random.Hash(n.hash, client>>16, epoch, which))
}

// usedTable remembers which clients have used up their first challenge. Its size is
// fixed: a new entry may overwrite another, and the table then forgets that client.
type usedTable []usedKey

type usedKey struct{ server, client uint64 }

// usedPlaces is the number of entries in a usedTable: 2^14 entries of 16 bytes are
// 256 KiB per port.
const usedPlaces = 1 << 14

func newUsedTable() usedTable { return make(usedTable, usedPlaces) }

func (t usedTable) at(server, client uint64) *usedKey {
	return &t[random.Hash(server, client)%usedPlaces]
}

func (t usedTable) has(server, client uint64) bool {
	return *t.at(server, client) == usedKey{server, client}
}

func (t usedTable) add(server, client uint64) {
	*t.at(server, client) = usedKey{server, client}
}

// limitTable limits servers to a number of queries per second, without bursts: it
// rejects a query that comes too soon after the last answered query. The zero table
// allows everything. The size of a table is fixed. If two servers share an entry,
// each query replaces the entry of the other server, so that both may answer too
// often but never too seldom.
type limitTable struct {
	gap  time.Duration
	last []limitEntry
}

type limitEntry struct {
	server uint64
	next   time.Duration // queries before this time are dropped
}

// limitPlaces is the number of entries in a limitTable: 2^18 entries of 16 bytes
// are 4 MiB per port.
const limitPlaces = 1 << 18

func newLimitTable(perSecond float64) limitTable {
	if perSecond <= 0 {
		return limitTable{}
	}
	gap := time.Duration(float64(time.Second) / perSecond)
	return limitTable{gap: gap, last: make([]limitEntry, limitPlaces)}
}

// allow reports whether the server may answer a query now. If it may, allow counts
// the query as answered.
func (t *limitTable) allow(now time.Duration, server uint64) bool {
	if t.last == nil {
		return true
	}
	e := &t.last[(server>>16)%limitPlaces] // neighbours never share an entry
	if e.server == server && now < e.next {
		return false
	}
	*e = limitEntry{server, now + t.gap}
	return true
}
