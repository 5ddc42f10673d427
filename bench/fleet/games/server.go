package games

import (
	"fmt"
	"slices"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Plan determines the server to simulate.
type Plan struct {
	// The seed for everything that identifies the server: name, capacity, settings.
	Seed   uint64
	Roster uint64 // seed of the people who play on the server
	Night  uint64 // number of the night; players, maps and clocks depend on it
	Port   uint16 // port at which the server is queried
	Title  *Title
	Fake   string // word for the kind of the server; it selects the trick of a faker's server
}

// Server is a simulated server. Fill may be called many times; the slices are valid
// until its next call.
type Server struct {
	Title   *Title
	Info    wire.Info
	Players []wire.Player
	Rules   []wire.Rule

	plan     Plan
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

// Title is a game whose servers are simulated.
type Title struct {
	ID       string // ID of the game in records
	recorded string // name of the game in records

	app     uint32
	folder  string
	name    string // sent as Info.Game
	version string // sent as Info.Version
	maps    []string
	places  []int         // usual capacities
	share   int           // weight of the game among the chosen games
	send    func(*Server) // adds keywords, rules, and facts (what the replies mean)
}

// Titles returns the IDs of all games.
func Titles() (ids []string) {
	for _, t := range titles {
		ids = append(ids, t.ID)
	}
	return ids
}

// Find returns the game with an ID, or nil if it is not simulated.
func Find(id string) *Title {
	for _, t := range titles {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// Choose returns the games with these IDs, or all games if ids is empty. Each game occurs
// Title.share times in the result. Unknown IDs are ignored.
func Choose(ids []string) (chosen []*Title) {
	for _, t := range titles {
		if len(ids) == 0 || slices.Contains(ids, t.ID) {
			chosen = append(chosen, slices.Repeat([]*Title{t}, t.share)...)
		}
	}
	return chosen
}

// Each constant selects a stream of random numbers.
const (
	streamLasting = iota + 100
	streamTonight
	streamRoster
	streamPresent
)

// Fill turns s into the server that the plan p determines.
func (s *Server) Fill(p Plan) {
	if s.Title != nil && s.plan == p {
		return
	}
	s.plan, s.Title = p, p.Title
	s.lasting = random.Stream(random.Hash(p.Seed, streamLasting))
	s.tonight = random.Stream(random.Hash(p.Seed, p.Night, streamTonight))
	s.facts, s.mods, s.chosen, s.text = s.facts[:0], s.mods[:0], s.chosen[:0], s.text[:0]
	s.keywords, s.separate = s.keywords[:0], ','
	s.Players, s.Rules = s.Players[:0], s.Rules[:0]
	t := s.Title
	s.Info = wire.Info{
		Has: CommonFields | wire.HasAppID | wire.HasVersion | wire.HasEDF | wire.HasGamePort |
			wire.HasSteamID | wire.HasGameID,
		Format: wire.FormatSource, Protocol: 17,
		Folder: s.bytes(t.folder), Game: s.bytes(t.name), Version: s.bytes(t.version),
		ServerType: 'd', Environment: random.Pick(&s.lasting, []byte("llllw")), VAC: uint8(s.lasting.Below(8) / 2 & 1),
		ShortAppID: uint16(t.app), GameID: uint64(t.app), GamePort: s.plan.Port,
		SteamID: persistentServer | s.lasting.Next()>>32,
		EDF:     EDFGamePort | EDFSteamID | EDFGameID,
	}
	s.Info.Name = s.serverName()
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
		s.Info.EDF |= EDFKeywords
		s.Info.Has |= wire.HasKeywords
		s.Info.Keywords = s.keywords
	}
}

// CommonFields are the fields of every INFO reply.
const CommonFields = wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder | wire.HasGame |
	wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasServerType | wire.HasEnvironment |
	wire.HasPassword | wire.HasVAC

// The bits of the extra data flag (document 000).
const (
	EDFGamePort = 0x80
	EDFSteamID  = 0x10
	EDFSourceTV = 0x40
	EDFKeywords = 0x20
	EDFGameID   = 0x01
)

// The upper parts of servers' Steam IDs: account type and universe. Adding an account
// number to one of them makes a complete Steam ID.
const (
	persistentServer = 3<<52 | 1<<56
	anonymousServer  = 4<<52 | 1<<56
)

// tag adds a keyword that consists of a name and a value. It returns the source of the
// value, that is, its place in the replies.
func (s *Server) tag(name string, value any) (source string) {
	if len(s.keywords) > 0 {
		s.keywords = append(s.keywords, s.separate)
	}
	s.keywords = append(append(s.keywords, name...), s.bytes(value)...)
	return "keywords." + name
}

// rule adds a rule. It returns the source of the value.
func (s *Server) rule(name string, value any) (source string) {
	s.Rules = append(s.Rules, wire.Rule{Name: s.bytes(name), Value: s.bytes(value)})
	return "rules." + name
}

func (s *Server) bytes(values ...any) []byte {
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
