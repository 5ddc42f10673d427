package fleet

import (
	"fmt"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// gameServer simulates a server of a real game: what it sends, and what the replies mean for
// its game. The meaning comes from the same model as the replies, and never from decoding
// them, so tests can compare it with what a scan decodes. What identifies the server, such
// as its name, stays the same every night. The slices are valid until the next call of fill.
type gameServer struct {
	Info    wire.Info
	Players []wire.Player
	Rules   []wire.Rule

	nature   nature
	people   int           // number of people connected
	lasting  random.Stream // stream of random numbers that is the same every night
	tonight  random.Stream // stream of random numbers that changes every night
	facts    []fact
	mods     []game.Mod
	chosen   []bohemiaMod
	keywords []byte
	separate byte // the separator of keywords
	text     []byte
}

// title is a game whose servers are simulated.
type title struct {
	ID       string // ID of the game in records
	recorded string // name of the game in records

	app     uint32
	folder  string
	name    string // sent as Info.Game
	version string // sent as Info.Version
	maps    []string
	places  []int             // usual capacities
	share   int               // weight of the game among the chosen games
	send    func(*gameServer) // adds keywords, rules, and facts (what the replies mean)
}

// GameIDs returns the IDs of all simulated games.
func GameIDs() (ids []string) {
	for _, t := range titles {
		ids = append(ids, t.ID)
	}
	return ids
}

// findTitle returns the game with an ID, or nil if it is not simulated.
func findTitle(id string) *title {
	for _, t := range titles {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// fill turns s into the server that n describes.
func (s *gameServer) fill(n *nature) {
	if s.nature == *n {
		return
	}
	s.nature = *n
	seed := n.hash
	if n.kind == FarmClones {
		seed = n.farm
	}
	s.lasting = random.Stream(random.Hash(seed, streamLasting))
	s.tonight = random.Stream(random.Hash(seed, n.night, streamTonight))
	s.facts, s.mods, s.chosen, s.text = s.facts[:0], s.mods[:0], s.chosen[:0], s.text[:0]
	s.keywords, s.separate = s.keywords[:0], ','
	s.Players, s.Rules = s.Players[:0], s.Rules[:0]
	t := n.title
	s.Info = wire.Info{
		Has: commonFields | wire.HasAppID | wire.HasVersion | wire.HasEDF | wire.HasGamePort |
			wire.HasSteamID | wire.HasGameID,
		Format: wire.FormatSource, Protocol: 17,
		Folder: s.bytes(t.folder), Game: s.bytes(t.name), Version: s.bytes(t.version),
		ServerType: 'd', Environment: random.Pick(&s.lasting, []byte("llllw")), VAC: uint8(s.lasting.Below(8) / 2 & 1),
		ShortAppID: uint16(t.app), GameID: uint64(t.app), GamePort: uint16(s.nature.addr),
		SteamID: persistentServer | s.lasting.Next()>>32,
		EDF:     edfGamePort | edfSteamID | edfGameID,
	}
	start := len(s.text)
	s.text = appendPlainName(s.text, &s.lasting)
	s.Info.Name = s.text[start:len(s.text):len(s.text)]
	s.Info.MaxPlayers = uint32(uint8(random.Pick(&s.lasting, t.places)))
	s.Info.Password = uint8(s.lasting.Below(12) / 11)
	s.Info.Map = s.bytes(random.Pick(&s.tonight, t.maps))
	people := 0
	if !s.tonight.OneIn(4) {
		people = s.tonight.Between(1, max(1, int(s.Info.MaxPlayers)*s.tonight.Between(20, 100)/100))
	}
	s.setPeople(people)
	t.send(s)
	s.pretend()
	if len(s.keywords) > 0 {
		s.Info.EDF |= edfKeywords
		s.Info.Has |= wire.HasKeywords
		s.Info.Keywords = s.keywords
	}
}

// regulars is the number of a server's regular players. Each night some of them play.
const regulars = 40

// setPeople makes a list of n players: first up to regulars/2 regulars, then strangers. It
// sets the count in INFO to the low byte of n.
func (s *gameServer) setPeople(n int) {
	s.people, s.Info.Players = n, uint32(uint8(n))
	roster, night := s.nature.hash, s.nature.night
	if s.nature.kind == FarmList {
		roster, night = s.nature.farm, 0
	}
	present := random.Stream(random.Hash(roster, night, streamPresent))
	first := present.Below(regulars)
	s.Players = s.Players[:0]
	for i := range n {
		seed := random.Hash(roster, streamRoster, uint64(first+i)%regulars)
		if i >= regulars/2 {
			seed = random.Hash(seed, night, uint64(i))
		}
		who := random.Stream(seed)
		s.Players = append(s.Players, wire.Player{
			Name:  s.bytes(random.Pick(&who, playerNames), ".", who.Below(10000)),
			Score: int32(present.Below(80)), Duration: float32(present.Between(60, 4*3600*64)) / 64,
		})
	}
}

// commonFields are the fields of every INFO reply.
const commonFields = wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder | wire.HasGame |
	wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasServerType | wire.HasEnvironment |
	wire.HasPassword | wire.HasVAC

// The bits of the extra data flag (document 000).
const (
	edfGamePort = 0x80
	edfSteamID  = 0x10
	edfSourceTV = 0x40
	edfKeywords = 0x20
	edfGameID   = 0x01
)

// The upper parts of servers' Steam IDs: account type and universe. Adding an account
// number to one of them makes a complete Steam ID.
const (
	persistentServer = 3<<52 | 1<<56
	anonymousServer  = 4<<52 | 1<<56
)

// tag adds a keyword that consists of a name and a value. It returns the source of the
// value, that is, its place in the replies.
func (s *gameServer) tag(name string, value any) (source string) {
	if len(s.keywords) > 0 {
		s.keywords = append(s.keywords, s.separate)
	}
	s.keywords = append(append(s.keywords, name...), s.bytes(value)...)
	return "keywords." + name
}

// rule adds a rule. It returns the source of the value.
func (s *gameServer) rule(name string, value any) (source string) {
	s.Rules = append(s.Rules, wire.Rule{Name: s.bytes(name), Value: s.bytes(value)})
	return "rules." + name
}

func (s *gameServer) bytes(values ...any) []byte {
	start := len(s.text)
	for _, v := range values {
		switch v := v.(type) {
		case string:
			s.text = append(s.text, v...)
		case []byte:
			s.text = append(s.text, v...)
		default:
			s.text = fmt.Append(s.text, v)
		}
	}
	return s.text[start:len(s.text):len(s.text)]
}
