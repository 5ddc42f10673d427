package games

import (
	"strconv"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/data"
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
			Index: s.index(i), Name: s.playerName(&who),
			Score: int32(present.Below(80)), Duration: float32(present.Between(60, 4*3600*64)) / 64,
		})
	}
}

// index returns the index that the server sends for player i: GoldSource counts
// from 1, all others send 0 (EC-77, EC-78).
func (s *Server) index(i int) uint8 {
	if s.Title.Gold() {
		return uint8(i + 1)
	}
	return 0
}

// addBots adds n players that are programs, or fewer if there are not enough slots.
func (s *Server) addBots(n int) {
	n = min(n, int(s.Info.MaxPlayers)-s.people)
	for i := range max(n, 0) {
		s.Players = append(s.Players, wire.Player{
			Index: s.index(s.people + i), Name: s.bytes(data.Words["bots"][i%len(data.Words["bots"])]),
			Score: int32(s.tonight.Below(30)), Duration: float32(s.tonight.Between(64, 3600*64)) / 64,
		})
		s.Info.Players++
		s.Info.Bots++
	}
}

// playerName returns a random name of a player.
func (s *Server) playerName(r *random.Stream) []byte {
	switch r.Below(4) {
	case 0:
		return s.bytes(random.Pick(r, data.Words["plain"]), r.Below(1000))
	case 1:
		return s.bytes("[", random.Pick(r, data.Words["clans"]), "] ", random.Pick(r, data.Words["first"]), random.Pick(r, data.Words["last"]), r.Below(100))
	}
	return s.bytes(random.Pick(r, data.Words["first"]), random.Pick(r, data.Words["last"]), r.Below(10000))
}

// serverName returns a random name that a server of the game might have.
func (s *Server) serverName() []byte {
	r := &s.lasting
	number := strconv.Itoa(r.Between(1, 9000))
	switch r.Below(5) {
	case 0:
		return s.bytes("[", random.Pick(r, data.Words["regions"]), "] ", random.Pick(r, data.Words["hosts"]), " | ", random.Pick(r, data.Words["themes"]), " #", number)
	case 1:
		return s.bytes(random.Pick(r, data.Words["hosts"]), " ", random.Pick(r, data.Words["themes"]), " ", random.Pick(r, data.Words["regions"]), " ", number)
	case 2:
		return s.bytes(random.Pick(r, data.Words["wide"]), " #", number)
	}
	return s.bytes(random.Pick(r, data.Words["hosts"]), " ", s.Title.recorded, " ", number, " - ", random.Pick(r, data.Words["themes"]))
}
