package fleet

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet/games"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// gamesConfig returns a fleet of games that has fakers.
func gamesConfig() Config {
	return Config{
		Network: netip.MustParsePrefix("127.4.0.0/20"), Ports: []uint16{27015}, Seed: 4, Kinds: []Kind{Games}, Fakes: 0.4,
	}
}

// TestMeaningIsWhatIsSent decodes the replies of some thousand servers of all games
// and of fakers. It compares their meaning and flags with the model, both for all
// questions and for fewer.
func TestMeaningIsWhatIsSent(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it starts no goroutine, and go test without -short runs it")
	}
	cfg := gamesConfig()
	kinds := compareTruth(t, cfg, scanner.AskAll)
	few := cfg
	few.Network = netip.MustParsePrefix("127.4.0.0/22")
	compareTruth(t, few, scanner.AskInfo, scanner.AskInfo|scanner.AskPlayers, scanner.AskInfo|scanner.AskRules)
	for _, k := range append(FakerKinds(), Games) {
		if kinds[k] == 0 {
			t.Errorf("no %v among %v", k, kinds)
		}
	}
	meant, seen := map[string]int{}, map[string]int{}
	flags := map[Kind]game.Flags{}
	for addr := range cfg.All() {
		n, _ := cfg.Nature(addr)
		r := cfg.Truth(addr, scanner.AskAll)
		seen[n.Game]++
		if r.Game != nil {
			meant[n.Game]++
		}
		if n.Kind == Games && r.Flags != 0 {
			t.Errorf("%v, a %s: an honest server has the flags %b", addr, n.Game, r.Flags)
		}
		flags[n.Kind] |= r.Flags
	}
	for _, id := range games.Titles() {
		if meant[id] == 0 || meant[id] < seen[id] {
			t.Errorf("%s: the model says something of %d of %d", id, meant[id], seen[id])
		}
	}
	for k, want := range map[Kind]game.Flags{
		CountsOnly: game.FlagCountMismatch, TinyDurations: game.FlagTinyDurations, EqualDurations: game.FlagEqualDurations,
		OverMax: game.FlagPlayersOverMax, NoGSLT: game.FlagNoGSLT, Redirects: game.FlagRedirect,
		EdgeCache: game.FlagEdgeAnswers, InfoFlood: game.FlagReplyFlood, FarmList: 0, FarmClones: 0,
	} {
		if flags[k] != want {
			t.Errorf("%v: flags %b, want %b", k, flags[k], want)
		}
	}
}

// TestFarms checks what the servers of a farm have in common, and that they have
// nothing else in common.
func TestFarms(t *testing.T) {
	cfg := gamesConfig()
	cfg.FakeKinds = []Kind{FarmList, FarmClones}
	lists, shapes, members := map[uint64][]byte{}, map[uint64]string{}, map[uint64]int{}
	names := map[string]bool{}
	for addr := range cfg.All() {
		n, _ := cfg.Nature(addr)
		if n.Kind != FarmList && n.Kind != FarmClones {
			continue
		}
		r := cfg.Truth(addr, scanner.AskAll)
		list := wire.AppendPlayers(nil, len(r.Players), r.Players)
		shape := string(r.Info.Name) + string(r.Info.Map) + string(rune(r.Info.MaxPlayers))
		members[n.Farm]++
		same := members[n.Farm] == 1 || bytes.Equal(list, lists[n.Farm])
		alike := members[n.Farm] == 1 || shape == shapes[n.Farm]
		lists[n.Farm], shapes[n.Farm] = list, shape
		switch {
		case n.Kind == FarmList && (!same || len(r.Players) == 0):
			t.Errorf("%v: another list than its farm", addr)
		case n.Kind == FarmList && names[shape]:
			t.Errorf("%v: looks like another server", addr)
		case n.Kind == FarmClones && !alike:
			t.Errorf("%v: does not shape like its farm", addr)
		case n.Kind == FarmClones && members[n.Farm] > 1 && same && len(r.Players) > int(r.Info.Bots):
			t.Errorf("%v: has the list of another clone", addr)
		}
		names[shape] = true
	}
	if len(members) < 4 {
		t.Errorf("%d farms", len(members))
	}
	for farm, n := range members {
		if n != farmSize {
			t.Errorf("farm %x has %d servers, want %d", farm, n, farmSize)
		}
	}
}

// TestNights checks what changes on servers from night to night, and what stays the
// same.
func TestNights(t *testing.T) {
	cfg := gamesConfig()
	cfg.Fakes = 0
	next := cfg
	next.Night = 1
	gone, moved, all := 0, 0, 0
	for addr := range cfg.All() {
		was, is := cfg.Truth(addr, scanner.AskAll), next.Truth(addr, scanner.AskAll)
		all++
		if is == nil {
			gone++
			continue
		}
		if was.Info.SteamID != is.Info.SteamID || was.Info.GameID != is.Info.GameID {
			t.Fatalf("%v is another server the next night", addr)
		}
		if len(was.Players) != len(is.Players) {
			moved++
		}
	}
	if gone < all/100 || gone > all/25 || moved < all/2 {
		t.Errorf("of %d servers %d gone, %d with other players", all, gone, moved)
	}
}
