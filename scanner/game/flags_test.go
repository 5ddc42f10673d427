package game

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// The application IDs of the servers in the tests below.
const (
	appCS16       = 10
	appTF2        = 440
	appCS2        = 730
	appSquad      = 393380
	appConan      = 440900
	appDayZ       = 221100
	appRust       = 252490
	appArk        = 346110
	appSand       = 581320
	appInsurgency = 222880
)

// server returns a reply that has only INFO, with the given application ID and
// counts.
func server(app uint64, players, places uint32) Reply {
	return Reply{Info: &wire.Info{
		Format: wire.FormatSource, Folder: []byte("cstrike"), ServerType: 'd',
		GameID: app, Players: players, MaxPlayers: places,
		Has: wire.HasGameID | wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots,
	}}
}

// listing adds a list of n players, each connected for one second longer than the
// one before.
func (in Reply) listing(n int) Reply {
	in.HasPlayers = true
	for i := range n {
		in.Players = append(in.Players, wire.Player{Name: []byte("p"), Duration: float32(1000 + i)})
	}
	return in
}

// with calls change with the reply's INFO.
func (in Reply) with(change func(*wire.Info)) Reply {
	change(in.Info)
	return in
}

// rule adds a rule.
func (in Reply) rule(name, value string) Reply {
	in.Rules = append(in.Rules, wire.Rule{Name: []byte(name), Value: []byte(value)})
	return in
}

// keywords sets the keywords.
func (in Reply) keywords(s string) Reply {
	return in.with(func(i *wire.Info) { i.Keywords = []byte(s) })
}

// lasting sets the durations of all players to d.
func (in Reply) lasting(d float32) Reply {
	for i := range in.Players {
		in.Players[i].Duration = d
	}
	return in
}

func bot(n uint8) func(*wire.Info) { return func(i *wire.Info) { i.Bots = n } }

// TestFlags checks replies on both sides of each rule's thresholds. Each test case
// lists the only flag that Suspect may return.
func TestFlags(t *testing.T) {
	steam := func(kind uint64, version string) func(*wire.Info) {
		return func(i *wire.Info) {
			i.SteamID = 1<<56 | kind<<52 | 12345
			i.Version = []byte(version)
			i.Has |= wire.HasSteamID | wire.HasVersion
		}
	}
	relay := func(i *wire.Info) { i.ServerType = 'P' }
	tiny := math.Float32frombits(binary.LittleEndian.Uint32([]byte{0, 0, 0, 1}))
	fake := Reply{HasPlayers: true, Players: []wire.Player{{Duration: tiny}}}
	ms := time.Millisecond
	tests := []struct {
		name  string
		in    Reply
		facts Facts
		want  string
	}{
		{name: "full", in: server(appTF2, 32, 32)},
		{name: "two too many", in: server(appTF2, 14, 12)},
		{name: "three too many of twelve", in: server(appTF2, 15, 12), want: "players_over_max"},
		{name: "a tenth too many", in: server(appTF2, 70, 64)},
		{name: "more than a tenth", in: server(appTF2, 71, 64), want: "players_over_max"},
		{name: "no places given", in: server(appTF2, 30, 0)},
		{name: "a relay's watchers", in: server(appTF2, 200, 1).listing(0).with(relay)},
		{name: "64 in a Counter-Strike", in: server(appCS2, 64, 64)},
		{name: "65 in a Counter-Strike", in: server(appCS2, 65, 100), want: "players_over_game"},
		{name: "65 in Counter-Strike 1.6", in: server(appCS16, 65, 100), want: "players_over_game"},
		{name: "100 in another game", in: server(appTF2, 100, 100)},
		{name: "Mann vs. Machine", in: server(appTF2, 27, 6).with(bot(25)).keywords("mvm,nocrits").listing(27)},
		{name: "robots, and several modes", in: server(appTF2, 27, 6).with(bot(25)).keywords("cp,mvm").listing(27)},
		{name: "robots, and no keywords", in: server(appTF2, 27, 6).with(bot(25)).listing(27)},
		{name: "robots, and no list", in: server(appTF2, 27, 6).with(bot(25)).keywords("alltalk,increased_maxplayers")},
		{name: "robots, and a list of the people", in: server(appTF2, 27, 6).with(bot(25)).listing(2)},
		{name: "bots without slots in another game", in: server(appInsurgency, 40, 8).with(bot(32)).listing(40)},
		{name: "bots, and nothing shows whether they are players", in: server(appInsurgency, 40, 8).with(bot(32)), want: "players_over_max"},
		{name: "bots, and too many people", in: server(appInsurgency, 45, 8).with(bot(32)).listing(45), want: "players_over_max"},
		{name: "too many people, and bots besides", in: server(appInsurgency, 12, 8).with(bot(32)).listing(44), want: "players_over_max"},
		{name: "more bots than players", in: server(appTF2, 27, 6).with(bot(40)).listing(27)},
		{name: "Rust's keywords count no bots", in: server(appRust, 86, 63).with(bot(130)).keywords("mp575,cp700"),
			want: "players_over_max"},
		{name: "Mann vs. Machine, too many people", in: server(appTF2, 27, 6).with(bot(18)).keywords("mvm").listing(27), want: "players_over_max"},
		{name: "Squad's reserved places", in: server(appSquad, 112, 80).listing(112)},
		{name: "Squad's own count", in: server(appSquad, 104, 80).rule("PlayerCount_i", "77").listing(104)},
		{name: "Squad's own count is too high", in: server(appSquad, 104, 80).rule("PlayerCount_i", "120"),
			want: "players_over_max"},
		{name: "Rust's keywords are right", in: server(appRust, 86, 63).keywords("mp575,cp547")},
		{name: "Rust's keywords are too high", in: server(appRust, 86, 63).keywords("mp575,cp700"),
			want: "players_over_max"},
		{name: "Sandstorm's INFO is empty, and its rules did not come", in: server(appSand, 0, 0).listing(28)},
		{name: "Sandstorm's INFO is empty", in: server(appSand, 0, 0).rule("PlrC_i", "28").rule("PlrM_i", "28").listing(0)},

		{name: "eleven listed of none", in: server(appTF2, 0, 32).listing(11)},
		{name: "twelve listed of none", in: server(appTF2, 0, 32).listing(12), want: "count_mismatch"},
		{name: "a quarter of a full house", in: server(appTF2, 64, 64).listing(48)},
		{name: "more than a quarter", in: server(appTF2, 64, 64).listing(47), want: "count_mismatch"},
		{name: "an empty list for 120", in: server(appTF2, 120, 128).listing(0), want: "count_mismatch"},
		{name: "the difference is bots", in: server(appTF2, 24, 32).listing(4).with(bot(9))},
		{name: "too few bots", in: server(appTF2, 24, 32).listing(4).with(bot(8)), want: "count_mismatch"},
		{name: "no list", in: server(appTF2, 120, 128)},
		{name: "a list that was cut", in: cut(server(appTF2, 120, 128).listing(44))},
		{name: "a count at its byte's end", in: server(appTF2, 44, 255).listing(300)},
		{name: "Conan's empty list", in: server(appConan, 40, 70).listing(0)},
		{name: "Conan lists some", in: server(appConan, 40, 70).listing(10), want: "count_mismatch"},
		{name: "DayZ's empty list", in: server(appDayZ, 60, 60).listing(0)},
		{name: "ARK's ghosts", in: server(appArk, 140, 140).listing(5)},
		{name: "Max Players", in: maxPlayers(server(appCS2, 40, 64))},
		{name: "the keywords lag", in: server(appRust, 16, 100).keywords("mp100,cp46").listing(16)},
		{name: "the list agrees with nothing", in: server(appRust, 16, 100).keywords("mp100,cp46").listing(90),
			want: "count_mismatch"},

		{name: "seven of one duration", in: server(appTF2, 7, 32).listing(7).lasting(3000)},
		{name: "eight of one duration", in: server(appTF2, 8, 32).listing(8).lasting(3000), want: "equal_durations"},
		{name: "the map has just changed", in: server(appTF2, 20, 32).listing(20).lasting(600)},
		{name: "all bots", in: server(appTF2, 26, 32).listing(26).lasting(8640).with(bot(26))},
		{name: "bots among them", in: server(appTF2, 26, 32).listing(26).lasting(8640).with(bot(18)), want: "equal_durations"},
		{name: "one more than the others", in: server(appTF2, 20, 32).listing(20)},
		{name: "NaN", in: server(appTF2, 20, 32).listing(20).lasting(float32(math.NaN()))},
		{name: "minus one", in: server(appTF2, 20, 32).listing(20).lasting(-1)},

		{name: "a faker's duration", in: fake, want: "tiny_durations"},
		{name: "the next number", in: server(appTF2, 1, 32).listing(1).lasting(math.Nextafter32(tiny, 1))},
		{name: "a faker's duration with a name", in: server(appTF2, 1, 32).listing(1).lasting(tiny)},
		{name: "zero", in: Reply{HasPlayers: true, Players: []wire.Player{{}}}},

		{name: "99 replies to one question", facts: Facts{InfoRequests: 1, InfoReplies: 99}},
		{name: "100 replies to one question", facts: Facts{InfoRequests: 1, InfoReplies: 100}, want: "reply_flood"},
		{name: "100 replies to two questions", facts: Facts{InfoRequests: 2, InfoReplies: 100}},
		{name: "replies to no question", facts: Facts{InfoReplies: 100}, want: "reply_flood"},

		{name: "an account", in: server(appCS2, 0, 10).with(steam(3, "1.41.0.0"))},
		{name: "no account", in: server(appCS2, 0, 10).with(steam(4, "1.41.0.0")), want: "no_gslt"},
		{name: "no account in CS:GO", in: server(appCS2, 0, 10).with(steam(4, "1.36.0.0")), want: "no_gslt"},
		{name: "no account before they were demanded", in: server(appCS2, 0, 10).with(steam(4, "1.35.6.2"))},
		{name: "no account in Counter-Strike 1.6", in: server(appCS16, 0, 10).with(steam(4, "1.41.0.0"))},
		{name: "no Steam ID", in: server(appCS2, 0, 10).with(steam(4, "1.41.0.0")).with(func(i *wire.Info) { i.SteamID = 0 })},

		{name: "a redirect", in: Reply{Redirect: []byte("ConnectRedirectAddress:192.0.2.1:27015")}, want: "redirect"},
		{name: "another text", in: Reply{Redirect: []byte("Address:192.0.2.1:27015")}},
		{name: "a redirect among the tags", in: server(appTF2, 0, 10).keywords("cp,dest=192.0.2.1:27015"), want: "redirect"},
		{name: "a redirect in Garry's Mod", in: server(appTF2, 0, 10).keywords("gm:a best=dest=1 dest=192.0.2.1 loc:us"), want: "redirect"},
		{name: "a tag with dest in it", in: server(appTF2, 0, 10).keywords("cp,best=dest=1")},

		{name: "EC-155 an edge", facts: Facts{InfoRTT: 10 * ms, RulesRTT: 70 * ms}, want: "edge_answers"},
		{name: "rules a little slower", facts: Facts{InfoRTT: 10 * ms, RulesRTT: 69 * ms}},
		{name: "far away, and a little slower", facts: Facts{InfoRTT: 200 * ms, RulesRTT: 599 * ms}},
		{name: "far away, and a lot slower", facts: Facts{InfoRTT: 200 * ms, RulesRTT: 600 * ms}, want: "edge_answers"},
		{name: "players slow too", facts: Facts{InfoRTT: 10 * ms, PlayersRTT: 80 * ms, RulesRTT: 90 * ms}},
		{name: "players quick too", facts: Facts{InfoRTT: 10 * ms, PlayersRTT: 12 * ms, RulesRTT: 90 * ms}, want: "edge_answers"},
		{name: "nothing measured", facts: Facts{RulesRTT: time.Second}},

		{name: "a conflict", facts: Facts{Conflict: true}, want: "conflict"},
		{name: "none", facts: Facts{InfoRequests: 3, InfoReplies: 3}},
	}
	var g Game
	fired := map[string]bool{}
	for _, test := range tests {
		Decode(&g, test.in)
		if got := strings.Join(Suspect(test.in, &g, test.facts).Words(), " "); got != test.want {
			t.Errorf("%s: flags %q, want %q", test.name, got, test.want)
		}
		fired[test.want] = true
	}
	for i := range FlagRules {
		if !fired[FlagRules[i].Word] {
			t.Errorf("no test sets %s", FlagRules[i].Word)
		}
	}
}

func cut(in Reply) Reply {
	in.PlayersCut = true
	return in
}

func maxPlayers(in Reply) Reply {
	in = in.listing(1)
	in.Players[0].Name = []byte("Max Players")
	return in
}

// TestFlagRules checks that each row of FlagRules has all its strings, without the names
// of thresholds, and that no two rows have the same word.
func TestFlagRules(t *testing.T) {
	seen := map[string]bool{}
	for i, r := range FlagRules {
		named := strings.Contains(r.Rule, "Least") || strings.Contains(r.Rule, "Percent") || strings.Contains(r.Rule, "Time")
		if r.Word == "" || r.Rule == "" || r.Innocent == "" || r.Source == "" || named || seen[r.Word] {
			t.Errorf("rule %d lacks a text, names a threshold, or has the word of another: %+v", i, r)
		}
		seen[r.Word] = true
	}
}
