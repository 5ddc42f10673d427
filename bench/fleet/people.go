package fleet

import (
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/wire"
)

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
			Name:  s.playerName(&who),
			Score: int32(present.Below(80)), Duration: float32(present.Between(60, 4*3600*64)) / 64,
		})
	}
}

func (s *gameServer) playerName(r *random.Stream) []byte {
	if r.OneIn(4) {
		return s.bytes("[GER] ", random.Pick(r, plainNames), r.Below(1000))
	}
	return s.bytes(random.Pick(r, firstWords), random.Pick(r, lastWords), r.Below(10000))
}

func (s *gameServer) serverName() []byte {
	r := &s.lasting
	host, number := random.Pick(r, hosts), r.Between(1, 9000)
	if r.OneIn(3) {
		return s.bytes("[EU] ", host, " | ", random.Pick(r, themes), " #", number)
	}
	return s.bytes(host, " ", s.nature.title.recorded, " ", number, " - ", random.Pick(r, themes))
}

var (
	firstWords = []string{"Iron", "Silent", "Dark", "Lucky", "Old", "Red", "Sneaky", "Mad", "Cold", "Tiny", "Wild", "Rusty"}
	lastWords  = []string{"Wolf", "Badger", "Hunter", "Duck", "Ghost", "Viking", "Sniper", "Potato", "Raven", "Goblin", "Fox"}
	plainNames = []string{"Sandra", "mikkel", "Jürgen", "Алексей", "たけし", "小明", "João", "Łukasz", "kemal", "박지훈"}
	themes     = []string{"Vanilla", "2x", "Hardcore", "Beginners welcome", "No Lag", "PvP", "Roleplay", "24/7", "Weekly", "Casual"}
	hosts      = []string{
		"Northlight", "Red Fox", "Old Harbour", "Ironworks", "Küchentisch", "Nightshift", "Kraken", "Сервер для своих",
		"中国社区服 上海", "한국 공식 서버", "Ελληνικός server", "【日本】サバイバル鯖",
	}
	remarks = []string{
		"No cheating, no scripting, no exploits.", "Admins are there every evening.",
		"Please speak English in the global chat.", "Raiding is allowed on weekends only.",
		"Ask for the password on our Discord.", "Map wipe on the first Thursday of the month.",
		"Twice the gather rate, stacks of five.", "Bases that nobody visits for a week are removed.",
		"Donations keep the server up; they buy no advantage.", "Solo players are welcome.",
	}
)
