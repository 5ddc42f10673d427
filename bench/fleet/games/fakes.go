package games

import (
	"math"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Fake is a trick of a faker's servers.
type Fake uint8

// The fakes. What the servers of a farm have in common follows from the seeds of
// their plans.
const (
	None           Fake = iota
	CountsOnly          // INFO counts players that no list has
	TinyDurations       // players with the duration 00 00 00 01
	EqualDurations      // all players connected for the same long time
	OverMax             // more players than slots
	NoGSLT              // a Steam ID that is not a persistent server's
	Redirects           // keywords that send players to another server
	SharedList          // a list of players that other servers have too, the same every night
)

// fakeTitles are the games that fakers pretend to be.
var fakeTitles = []string{"css", "cs16", "tf2", "gmod"}

// FakeTitle returns the game that a faker's servers pretend to be.
func FakeTitle(f Fake, seed uint64) *Title {
	if f == NoGSLT {
		return Find("cs2")
	}
	return Find(fakeTitles[seed%uint64(len(fakeTitles))])
}

// pretend applies the trick of the plan to s.
func (s *Server) pretend() {
	switch s.plan.Fake {
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
		s.repeatPlayers(5400)
	case OverMax:
		s.crowd(32, 60)
	case NoGSLT:
		s.crowd(20, 18)
		s.Info.SteamID = anonymousServer | s.lasting.Next()>>32
	case SharedList:
		r := random.Stream(s.plan.Roster)
		s.crowd(32, r.Between(14, 28))
	case Redirects:
		s.tag("dest=", s.bytes("203.0.113.9:27015"))
	}
}

// crowd sets the numbers of slots and people that a faker's server reports, and
// removes the bots.
func (s *Server) crowd(places, people int) {
	s.Info.MaxPlayers, s.Info.Bots = uint32(uint8(places)), 0
	s.setPeople(people)
}

// repeatPlayers gives all players the same duration.
func (s *Server) repeatPlayers(duration float32) {
	for i := range s.Players {
		s.Players[i].Duration = duration
	}
}

// fakeFlags lists the flag that each fake raises, and the answers that show it.
var fakeFlags = map[Fake]struct {
	flag  game.Flags
	needs scanner.Questions
}{
	CountsOnly:     {game.FlagCountMismatch, scanner.AskInfo | scanner.AskPlayers},
	TinyDurations:  {game.FlagTinyDurations, scanner.AskPlayers},
	EqualDurations: {game.FlagEqualDurations, scanner.AskPlayers},
	OverMax:        {game.FlagPlayersOverMax, scanner.AskInfo},
	NoGSLT:         {game.FlagNoGSLT, scanner.AskInfo},
	Redirects:      {game.FlagRedirect, scanner.AskInfo},
}

// Flags returns the flags that a scan raises for the answers to these questions, as
// far as they follow from the contents of the answers.
func (s *Server) Flags(answered scanner.Questions) game.Flags {
	f := fakeFlags[s.plan.Fake]
	if answered&f.needs != f.needs {
		return 0
	}
	return f.flag
}
