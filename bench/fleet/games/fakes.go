package games

import (
	"math"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

var fakeTitles = []string{"gmod", "valheim"}

// FakeTitle returns the game that the servers of a faker pretend to run.
func FakeTitle(fake string, seed uint64) *Title {
	if fake == "no-gslt" {
		return Find("cs2")
	}
	return Find(fakeTitles[seed%uint64(len(fakeTitles))])
}

// pretend falsifies the server's replies with the trick that Plan.Fake names, if it names
// one.
func (s *Server) pretend() {
	switch s.plan.Fake {
	case "counts-only":
		s.crowd(32, 30)
		s.Players = s.Players[:0]
	case "tiny-durations":
		s.crowd(32, 24)
		for i := range s.Players {
			s.Players[i] = wire.Player{Duration: math.Float32frombits(0x01000000)}
		}
	case "equal-durations":
		s.crowd(32, 24)
		for i := range s.Players {
			s.Players[i].Duration = 5400
		}
	case "over-max":
		s.crowd(32, 60)
	case "no-gslt":
		s.crowd(20, 18)
		s.Info.SteamID = anonymousServer | s.lasting.Next()>>32
	case "farm-list":
		r := random.Stream(s.plan.Roster)
		s.crowd(32, r.Between(14, 28))
	case "redirects":
		s.tag("dest=", s.bytes("203.0.113.9:27015"))
	}
}

// crowd sets the numbers of slots and people that a faker's server reports, and
// removes the bots.
func (s *Server) crowd(places, people int) {
	s.Info.MaxPlayers, s.Info.Bots = uint32(uint8(places)), 0
	s.setPeople(people)
}

// fakeFlags has, for each trick of fakers, the flag that a scan raises, and the questions
// whose answers show the trick.
var fakeFlags = map[string]struct {
	flag  game.Flags
	needs wire.Questions
}{
	"counts-only":     {game.FlagCountMismatch, wire.AskInfo | wire.AskPlayers},
	"tiny-durations":  {game.FlagTinyDurations, wire.AskPlayers},
	"equal-durations": {game.FlagEqualDurations, wire.AskPlayers},
	"over-max":        {game.FlagPlayersOverMax, wire.AskInfo},
	"no-gslt":         {game.FlagNoGSLT, wire.AskInfo},
	"redirects":       {game.FlagRedirect, wire.AskInfo},
}

// Flags returns the flags that a scan raises if the server answered the given
// questions. It covers only flags that follow from the contents of the answers.
func (s *Server) Flags(answered wire.Questions) game.Flags {
	f := fakeFlags[s.plan.Fake]
	if answered&f.needs != f.needs {
		return 0
	}
	return f.flag
}
