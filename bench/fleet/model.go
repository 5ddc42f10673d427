package fleet

import (
	"net/netip"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// model is a checked Config with precomputed values that determine the server at an
// address.
type model struct {
	Config
	base   uint64   // the first address of the network, as a number
	addrs  uint64   // number of addresses in the network
	ports  []uint16 // sorted
	honest []Kind   // the honest kinds, each repeated according to its weight
	bad    []Kind
	fakers []Kind
	titles []*title         // the games to choose from, each repeated according to its share
	fates  map[uint64]*Fate // the fates from Config.Life, by packed address
}

func newModel(c Config) (*model, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	m := &model{Config: c, bad: c.HostileKinds, fakers: c.FakeKinds}
	m.base = udp.Pack(netip.AddrPortFrom(c.Network.Masked().Addr(), 0)) >> 16
	m.addrs = 1 << (32 - c.Network.Bits())
	m.ports = slices.Sorted(slices.Values(c.Ports))
	if len(m.bad) == 0 {
		m.bad = HostileKinds()
	}
	if len(m.fakers) == 0 {
		m.fakers = FakerKinds()
	}
	usual := c.Kinds
	if len(usual) == 0 {
		usual = UsualKinds()
	}
	for _, k := range usual {
		m.honest = append(m.honest, slices.Repeat([]Kind{k}, k.weight())...)
	}
	for _, t := range titles {
		if len(c.Games) == 0 || slices.Contains(c.Games, t.ID) {
			m.titles = append(m.titles, slices.Repeat([]*title{t}, t.share)...)
		}
	}
	if c.Life != nil {
		fates, err := c.Life.plan(m)
		if err != nil {
			return nil, err
		}
		m.fates = fates
	}
	return m, nil
}

// places returns the number of places, that is, of pairs of an address and a port.
func (m *model) places() uint64 { return m.addrs * uint64(len(m.ports)) }

// place returns the packed address and port of place i, in address order.
func (m *model) place(i uint64) uint64 {
	n := uint64(len(m.ports))
	return (m.base+i/n)<<16 | uint64(m.ports[i%n])
}

func (m *model) has(addr uint64) bool {
	_, ok := slices.BinarySearch(m.ports, uint16(addr))
	return ok && addr>>16-m.base < m.addrs
}

// seedPort returns the number that stands for a port in seeds: 27015 for the first port of
// the Config, 27016 for the second and so on. So the servers do not depend on the port
// numbers.
func (c *Config) seedPort(port uint16) uint64 {
	return uint64(defaultPort + slices.Index(c.Ports, port))
}

// seedOf returns the seed of everything random about the server at addr.
func (c *Config) seedOf(addr uint64) uint64 {
	return random.Hash(c.Seed, addr&^0xFFFF|c.seedPort(uint16(addr)))
}

// Nature describes the server at an address and port of a fleet. It depends only on the
// address, the port and the Config.
type Nature struct {
	Kind Kind
	Game string // ID of the game, for servers of kind Games and of fakers
	Farm uint64 // ID of the faker that owns the server, or 0 if there is none
}

// Nature returns the nature of the server at addr. It returns false if there is no
// server, if addr is outside the fleet, or if the Config is invalid.
func (c Config) Nature(addr netip.AddrPort) (out Nature, ok bool) {
	m, err := newModel(c)
	if err != nil {
		return out, false
	}
	n, ok := m.nature(udp.Pack(addr))
	if n.title != nil {
		out.Game = n.title.ID
	}
	out.Kind, out.Farm = n.kind, n.farm
	return out, ok
}

type quirk uint32

const (
	quirkTrailing     quirk = 1 << iota // bytes after the last field of INFO (EC-30)
	quirkOddBoolean                     // the password byte, and usually the VAC byte, is neither 0 nor 1 (EC-35)
	quirkOddType                        // server type and environment 0 (EC-32)
	quirkNoEDF                          // INFO ends after the version (EC-27)
	quirkModGame                        // the upper 40 bits of the game ID are random (EC-26)
	quirkMiscounted                     // the number of players in INFO is random (EC-61, EC-83)
	quirkNameless                       // all players without a name (EC-79)
	quirkPlayersCount                   // PLAYER announces more players than it lists (EC-84)
	quirkRulesCount                     // RULES announces another number of rules than it lists (EC-94)
	quirkRulesTwice                     // a rule's name occurs twice (EC-97)
	quirkRulesUnnamed                   // a rule without a name (EC-96)
	quirkZero                           // the challenge is 0 (EC-10)

	numQuirks = iota
)

// Sets of quirks that several kinds share.
const (
	sourceQuirks = quirkTrailing | quirkOddBoolean | quirkOddType | quirkNoEDF |
		quirkModGame | quirkMiscounted | quirkNameless
	listQuirks = quirkMiscounted | quirkPlayersCount | quirkRulesCount |
		quirkRulesTwice | quirkRulesUnnamed
	allQuirks  = sourceQuirks | listQuirks
	goldQuirks = listQuirks | quirkOddBoolean
)

// Of the servers that may have a quirk, one in oneInQuirk has it.
const oneInQuirk = 24

// nature has the properties of a server that determine its answers. Nature has some of
// them.
type nature struct {
	addr       uint64
	hash       uint64 // the seed of everything random about this server
	kind       Kind
	challenged wire.Questions
	quirks     quirk
	game       *simpleGame
	title      *title // used instead of nature.game if kind is Games or a kind of faker; otherwise nil
	farm       uint64 // ID of the faker, or 0 if there is none
	night      uint64
	delay      time.Duration
	players    int
	rules      int
	fragments
}

// nature returns the nature of the server at the packed address, or false if there is no
// server.
func (m *model) nature(addr uint64) (nature, bool) {
	if !m.has(addr) || addr>>16 == loopback.Broadcast {
		return nature{}, false
	}
	if n, ok := m.faked(addr); ok {
		return n, true
	}
	n := nature{addr: addr, hash: m.seedOf(addr), night: m.Night}
	r := random.Stream(n.hash)
	dead := m.Alive > 0 && !r.Chance(m.Alive)
	tonight := random.Stream(random.Hash(n.hash, streamNight, m.Night))
	if changed := m.Night > 0 && tonight.OneIn(50); dead != changed {
		return nature{}, false
	}
	if r.Chance(m.Hostile) {
		n.kind = random.Pick(&r, m.bad)
	} else {
		n.kind = random.Pick(&r, m.honest)
	}
	n.delay = m.drawDelay(&r)
	n.shape(&r)
	if n.kind == Games {
		n.play(random.Pick(&r, m.titles))
	}
	return n, true
}

func (m *model) drawDelay(r *random.Stream) time.Duration {
	if m.DelayMax == 0 {
		return 0
	}
	return m.DelayMin + time.Duration(r.Below(int(m.DelayMax-m.DelayMin)+1))
}

// shape sets, at random, the questions that need a challenge, the game, the numbers of
// players and rules, the quirks, and the layout of fragments.
func (n *nature) shape(r *random.Stream) {
	k := &kinds[n.kind]
	demands := k.demands
	if demands == nil {
		demands = demandsModern
	}
	n.challenged = random.Pick(r, demands)
	n.game = random.Pick(r, simpleGames[k.games])
	switch at := r.Below(100); { // usually about a dozen players
	case at < 15:
		n.players = 0
	case at < 80:
		n.players = r.Between(1, 20)
	case at < 97:
		n.players = r.Between(16, 64)
	default:
		n.players = r.Between(64, 200)
	}
	switch at := r.Below(100); { // usually about two dozen rules
	case at < 3:
		n.rules = 0
	case at < 85:
		n.rules = r.Between(12, 36)
	case at < 97:
		n.rules = r.Between(36, 140)
	default:
		n.rules = r.Between(140, 400)
	}
	for i := range numQuirks {
		if q := quirk(1 << i); k.quirks&q != 0 && r.OneIn(oneInQuirk) {
			n.quirks |= q
		}
	}
	if len(k.layouts) > 0 {
		n.fragments = random.Pick(r, k.layouts)
	}
	n.fit(r)
}

func (n *nature) fit(r *random.Stream) {
	switch n.kind {
	case Split, SplitNoSize, SplitGoldSource:
		n.rules = r.Between(90, 90+r.Between(0, 310))
	case Packed:
		n.players = min(n.players, 64)
	case OneSplitID:
		n.players, n.rules = r.Between(120, 140), r.Between(200, 240)
	case FragmentsOfNone, FragmentsBeyond, FragmentsDisagree, FragmentFlood:
		n.rules = r.Between(90, 140)
	case TruncatedRules:
		n.rules = max(n.rules, 4)
	case InfoOnly:
		n.quirks |= quirkMiscounted
	case Ghosts:
		n.quirks |= quirkMiscounted
		n.players = 0
	case EndlessRules:
		n.rules = 0
	case Flood64K:
		n.players, n.rules = floodPlayers, floodRules
	}
}
