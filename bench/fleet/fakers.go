package fleet

import (
	"math"
	"time"

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
	id := []string{"gmod", "valheim"}[farm%2]
	if n.kind == NoGSLT {
		id = "cs2"
	}
	n.play(findTitle(id))
	return n, true
}

func (n *nature) play(t *title) {
	n.title, n.quirks = t, 0
	n.fragments = packedSplit[0]
}

// pretend falsifies the replies of a faker's server.
func (s *gameServer) pretend() {
	switch s.nature.kind {
	case CountsOnly:
		s.crowd(32, 30)
		s.Players = s.Players[:0]
	case TinyDurations:
		s.crowd(32, 24)
		for i := range s.Players {
			s.Players[i] = wire.Player{Duration: math.Float32frombits(0x01000000)}
		}
	case EqualDurations:
		s.crowd(32, 24)
		for i := range s.Players {
			s.Players[i].Duration = 5400
		}
	case OverMax:
		s.crowd(32, 60)
	case NoGSLT:
		s.crowd(20, 18)
		s.Info.SteamID = anonymousServer | s.lasting.Next()>>32
	case FarmList:
		r := random.Stream(s.nature.farm)
		s.crowd(32, r.Between(14, 28))
	case Redirects:
		s.tag("dest=", s.bytes("203.0.113.9:27015"))
	}
}

// crowd sets the numbers of slots and people that a faker's server reports, and
// removes the bots.
func (s *gameServer) crowd(places, people int) {
	s.Info.MaxPlayers, s.Info.Bots = uint32(uint8(places)), 0
	s.setPeople(people)
}

// fakeFlags has, for each kind of fakers' servers, the flag that a scan raises, and the
// questions whose answers show it.
var fakeFlags = map[Kind]struct {
	flag  game.Flags
	needs wire.Questions
}{
	CountsOnly:     {game.FlagCountMismatch, wire.AskInfo | wire.AskPlayers},
	TinyDurations:  {game.FlagTinyDurations, wire.AskPlayers},
	EqualDurations: {game.FlagEqualDurations, wire.AskPlayers},
	OverMax:        {game.FlagPlayersOverMax, wire.AskInfo},
	NoGSLT:         {game.FlagNoGSLT, wire.AskInfo},
	Redirects:      {game.FlagRedirect, wire.AskInfo},
	EdgeCache:      {game.FlagEdgeAnswers, wire.AskInfo | wire.AskRules},
	InfoFlood:      {game.FlagReplyFlood, wire.AskInfo},
}

// TimingFlags are the flags that depend on what the scan measures. The nature of a server
// alone does not determine whether its record has them.
const TimingFlags = game.FlagEdgeAnswers | game.FlagReplyFlood | game.FlagConflict
