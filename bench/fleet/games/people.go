package games

import (
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/wire"
)

// regulars is the number of people who play on a server now and then.
const regulars = 40

// setPeople makes a list of n players, some of the regulars and strangers, and sets
// INFO's count to the low byte of n.
func (s *Server) setPeople(n int) {
	s.people, s.Info.Players = n, uint32(uint8(n))
	night := s.plan.Night
	if s.plan.Fake == "farm-list" {
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
			Name:  s.playerName(&who),
			Score: int32(present.Below(80)), Duration: float32(present.Between(60, 4*3600*64)) / 64,
		})
	}
}

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
	return s.bytes(random.Pick(r, hosts), " ", s.Title.recorded, " ", number, " - ", random.Pick(r, themes))
}

// remarks returns 1 to n remarks of the server's owner, separated by spaces.
func (s *Server) remarks(n int) string {
	var text []string
	first := s.lasting.Below(len(remarks))
	for i := range s.lasting.Between(1, n) {
		text = append(text, remarks[(first+i*7)%len(remarks)])
	}
	return strings.Join(text, " ")
}

// Words that names and descriptions consist of.
var (
	firstWords = []string{
		"Iron", "Silent", "Dark", "Lucky", "Old", "Red", "Sneaky", "Mad", "Cold", "Tiny", "Wild", "Lazy", "Rusty",
		"Grim",
	}
	lastWords = []string{
		"Wolf", "Badger", "Hunter", "Duck", "Ghost", "Viking", "Sniper", "Potato", "Raven", "Bear", "Goblin",
		"Pilot", "Fox",
	}
	plainNames = []string{
		"Sandra", "mikkel", "Tomasz", "Jürgen", "Алексей", "たけし", "小明", "João", "Łukasz", "Émilie", "kemal", "Nils",
		"박지훈",
	}
	clans = []string{
		"GER", "7th", "NL", "FUN", "RDX", "OG", "AUS", "Pro",
	}
	regions = []string{
		"EU", "US East", "US West", "DE", "RU", "BR", "AU", "Asia", "UK", "PL",
	}
	themes = []string{
		"Vanilla", "2x", "Hardcore", "Beginners welcome", "No Lag", "Community", "PvP", "Roleplay", "24/7", "Weekly",
		"Monthly", "Casual",
	}
	hosts = []string{
		"Northlight", "Red Fox", "Old Harbour", "Ironworks", "Blue Lagoon", "Mountain", "Nightshift", "Sunrise",
		"Wanderers", "Kraken",
	}
	wideNames = []string{
		"Сервер для своих | Москва", "中国社区服 上海", "한국 공식 서버", "Ελληνικός server", "【日本】サバイバル鯖",
		"Küchentisch und Freunde",
	}
	remarks = []string{
		"No cheating, no scripting, no exploits.", "Admins are there every evening.",
		"Please speak English in the global chat.", "Raiding is allowed on weekends only.",
		"Teams of up to four people.", "Ask for the password on our Discord.", "Starter kits for everybody.",
		"Map wipe on the first Thursday of the month.", "Blueprints stay until the forced wipe.",
		"Twice the gather rate, stacks of five.", "Shops, homes and teleports.", "We have been here since 2016.",
		"Bases that nobody visits for a week are removed.", "Donations keep the server up; they buy no advantage.",
		"Events on Saturday at eight.", "Be kind to beginners.", "Racist talk gets you banned.",
		"Loot is as the game has it.", "Solo players are welcome.", "The map is on our page.",
	}
)
