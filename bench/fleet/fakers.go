package fleet

import (
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/games"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// A fleet is divided into groups of groupSize addresses. The addresses of a group are
// spread evenly over the network. A faker owns farmSize addresses of one group.
const (
	groupSize = 64
	farmSize  = 50
)

// The behaviour of fakers' servers. Package games makes the contents of their replies.
const (
	// The additional delay of RULES replies of the kind EdgeCache, as if only the other
	// replies came from a nearby edge server.
	edgeDelay    = 150 * time.Millisecond
	floodAnswers = 300 // number of replies to each INFO request
)

func (m *model) faked(addr uint64) (nature, bool) {
	if m.Fakes <= 0 {
		return nature{}, false
	}
	offset := addr>>16 - m.base
	groups := max(1, m.addrs/groupSize)
	group, member := offset%groups, offset/groups
	if member >= farmSize {
		return nature{}, false
	}
	farm := random.Hash(m.Seed, streamFaker, group, m.seedPort(uint16(addr)))
	r := random.Stream(farm)
	if !r.Chance(m.Fakes) {
		return nature{}, false
	}
	n := nature{
		addr: addr, hash: m.seedOf(addr), farm: farm, night: m.Night,
		kind: random.Pick(&r, m.fakers), challenged: wire.AskAll,
	}
	own := random.Stream(n.hash)
	n.delay = m.drawDelay(&own)
	n.play(games.FakeTitle(n.kind.String(), farm))
	return n, true
}

func (n *nature) play(t *games.Title) {
	n.title, n.quirks = t, 0
	n.fragments = packedSplit[0]
}

func (n *nature) plan() games.Plan {
	p := games.Plan{
		Seed: n.hash, Roster: n.hash, Night: n.night, Port: uint16(n.addr), Title: n.title, Fake: n.kind.String(),
	}
	switch n.kind {
	case FarmList:
		p.Roster = n.farm
	case FarmClones:
		p.Seed = n.farm
	}
	return p
}

// TimingFlags are the flags that depend on what the scan measures. The nature of a server
// alone does not determine whether its record has them.
const TimingFlags = game.FlagEdgeAnswers | game.FlagReplyFlood | game.FlagConflict
