package games

import (
	"strconv"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/wire"
)

// regulars is the number of people who play on a server now and then.
const regulars = 40

// list picks the people who play tonight: some of the regulars, and strangers.
// There are at most as many as the server has slots.
func (s *Server) list() {
	places := int(s.Info.MaxPlayers)
	s.people = 0
	if !s.tonight.OneIn(4) {
		s.people = s.tonight.Between(1, max(1, places*s.tonight.Between(20, 100)/100))
	}
	s.fillList(s.people)
	s.Info.Players = uint32(uint8(s.people))
}

// fillList replaces the list by n players.
func (s *Server) fillList(n int) {
	night := s.plan.Night
	if s.plan.Fake == SharedList {
		night = 0
	}
	present := random.Stream(random.Hash(s.plan.Roster, night, streamPresent))
	first := present.Below(regulars)
	s.Players = s.Players[:0]
	for i := range n {
		seed := random.Hash(s.plan.Roster, streamRoster, uint64(first+i)%regulars)
		if i >= regulars/2 {
			seed = random.Hash(seed, night, uint64(i))
		}
		who := random.Stream(seed)
		s.Players = append(s.Players, wire.Player{
			Index: s.index(i), Name: s.playerName(&who),
			Score: int32(present.Below(80)), Duration: float32(present.Between(60, 4*3600*64)) / 64,
		})
	}
}

// index returns the index that the server sends for player i: GoldSource counts
// from 1, all others send 0 (EC-77, EC-78).
func (s *Server) index(i int) uint8 {
	if s.Title.gold {
		return uint8(i + 1)
	}
	return 0
}

// setPeople makes a list of n players, and sets INFO's count to the low byte of n.
func (s *Server) setPeople(n int) {
	s.people = n
	s.fillList(n)
	s.Info.Players = uint32(uint8(n))
}

// unlisted empties the list, as servers of some games do.
func (s *Server) unlisted() { s.Players = s.Players[:0] }

// addBots adds n players that are programs, or fewer if there are not enough slots.
func (s *Server) addBots(n int) {
	n = min(n, int(s.Info.MaxPlayers)-s.people)
	for i := range max(n, 0) {
		s.Players = append(s.Players, wire.Player{
			Index: s.index(s.people + i), Name: s.bytes(botNames[i%len(botNames)]),
			Score: int32(s.tonight.Below(30)), Duration: float32(s.tonight.Between(64, 3600*64)) / 64,
		})
		s.Info.Players++
		s.Info.Bots++
	}
}

var botNames = []string{"Albert", "Brandon", "Chet", "Dusty", "Eugene", "Fergus", "Gunther", "Harvey"}

var (
	firstWords = []string{
		"Iron", "Silent", "Dark", "Lucky", "Old", "Red", "Sneaky", "Mad", "Cold", "Tiny", "Wild", "Lazy", "Rusty", "Grim",
	}
	lastWords = []string{
		"Wolf", "Badger", "Hunter", "Duck", "Ghost", "Viking", "Sniper", "Potato", "Raven", "Bear", "Goblin", "Pilot", "Fox",
	}
	plainNames = []string{
		"Sandra", "mikkel", "Tomasz", "Jürgen", "Алексей", "たけし", "小明", "João", "Łukasz", "Émilie", "kemal", "Nils", "박지훈",
	}
)

// playerName returns a random name of a player.
func (s *Server) playerName(r *random.Stream) []byte {
	switch r.Below(4) {
	case 0:
		return s.bytes(random.Pick(r, plainNames), r.Below(1000))
	case 1:
		return s.bytes("[", random.Pick(r, clans), "] ", random.Pick(r, firstWords), random.Pick(r, lastWords), r.Below(100))
	}
	return s.bytes(random.Pick(r, firstWords), random.Pick(r, lastWords), r.Below(10000))
}

var (
	clans   = []string{"GER", "7th", "NL", "FUN", "RDX", "OG", "AUS", "Pro"}
	regions = []string{"EU", "US East", "US West", "DE", "RU", "BR", "AU", "Asia", "UK", "PL"}
	themes  = []string{
		"Vanilla", "2x", "Hardcore", "Beginners welcome", "No Lag", "Community", "PvP", "Roleplay", "24/7", "Weekly", "Monthly", "Casual",
	}
	hosts = []string{
		"Northlight", "Red Fox", "Old Harbour", "Ironworks", "Blue Lagoon", "Mountain", "Nightshift", "Sunrise", "Wanderers", "Kraken",
	}
)

// serverName returns a random name that a server of the game might have.
func (s *Server) serverName() []byte {
	r := &s.lasting
	number := strconv.Itoa(r.Between(1, 9000))
	switch r.Below(5) {
	case 0:
		return s.bytes("[", random.Pick(r, regions), "] ", random.Pick(r, hosts), " | ", random.Pick(r, themes), " #", number)
	case 1:
		return s.bytes(random.Pick(r, hosts), " ", random.Pick(r, themes), " ", random.Pick(r, regions), " ", number)
	case 2:
		return s.bytes(random.Pick(r, wideNames), " #", number)
	}
	return s.bytes(random.Pick(r, hosts), " ", names[s.Title.ID], " ", number, " - ", random.Pick(r, themes))
}

var wideNames = []string{
	"Сервер для своих | Москва", "中国社区服 上海", "한국 공식 서버", "Ελληνικός server", "【日本】サバイバル鯖", "Küchentisch und Freunde",
}
