package record

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// allInfo is the set of fields that every INFO of a Source server has: those up to the
// version, without those of The Ship.
const allInfo = (wire.HasVersion<<1 - 1) &^ wire.HasShip

// blank returns a result without any reply.
func blank() *scanner.Result {
	return &scanner.Result{PlayersAnnounced: -1, RulesAnnounced: -1}
}

// answered returns a result with the given address and status, and with the fields
// that every scanned server has.
func answered(addr string, status scanner.Status) *scanner.Result {
	r := blank()
	r.Addr = netip.MustParseAddrPort(addr)
	r.Time = time.Date(2026, 11, 20, 3, 0, 1, 123_999_999, time.UTC)
	r.Status = status
	r.Asked = wire.AskAll
	r.RTT = 23_412_700 * time.Nanosecond
	r.Took = 4523_100 * time.Microsecond
	r.Sent, r.Received, r.SentBytes, r.RecvBytes = 6, 3, 90, 412
	return r
}

// playedGame returns a game that has every key.
func playedGame() *game.Game {
	g := &game.Game{
		ID: "tf2", Name: "Team Fortress 2", Has: 1<<game.NumKeys - 1,
		Players: 547, MaxPlayers: 575, Queue: 12, Bots: 3, Day: 39, Started: 1_793_900_000,
		Version: []byte("2511"), Map: []byte("ctf_2fort"), Mode: []byte("vanilla"), Region: []byte("EU"),
		TimeOfDay: []byte("16:00"), Description: []byte("Welcome!\nNo \"griefing\"."),
		PVP: true, Modded: true,
		Mods: []game.Mod{
			{ID: []byte("450814997"), Name: []byte("CBA_A3"), Hash: []byte("1a2b3c4d")},
			{ID: []byte("1175380"), CreatorDLC: true},
		},
		Attributes: []game.Attribute{
			{Name: "time_limit", Value: []byte("30"), Source: "rules.mp_timelimit"},
			{Name: "wipe_cycle", Value: []byte("weekly"), Source: "keywords"},
		},
		Notes: 1<<1 | 1<<10,
	}
	for k := game.Key(0); k < game.NumKeys; k++ {
		g.Sources[k] = "rules." + k.String()
	}
	return g
}

// full returns the result of a Source server whose record has every key that a
// Source server's record can have.
func full() *scanner.Result {
	r := answered("203.0.113.7:27015", scanner.StatusOK)
	r.Tag = "europe, 2"
	r.Unchallenged = wire.AskInfo | wire.AskRules
	r.Notes = wire.NoteInfoTrailing | wire.NotePlayersCount | wire.NoteRulesDuplicate
	r.HasInfo = true
	r.Info = wire.Info{
		Has: allInfo | wire.HasEDF | wire.HasGamePort | wire.HasSteamID | wire.HasSourceTV |
			wire.HasKeywords | wire.HasGameID,
		Format: wire.FormatSource, Protocol: 17,
		Name: []byte("A \"good\" server"), Map: []byte("ctf_2fort"), Folder: []byte("tf"),
		Game: []byte("Team Fortress"), ShortAppID: 440, Players: 12, MaxPlayers: 24,
		ServerType: 'd', Environment: 'l', VAC: 1, Version: []byte("1.0.0.22"), EDF: 0xF1,
		GamePort: 27015, SteamID: 90071992547409921, Keywords: []byte("cp,nocrits"), GameID: 440,
		SourceTV: wire.SourceTV{Port: 27020, Name: []byte("SourceTV")},
	}
	r.HasPlayers, r.PlayersAnnounced = true, 19
	r.Players = []wire.Player{
		{Name: []byte("Zoë"), Score: -3, Duration: 123.4},
		{Index: 1, Name: []byte(""), Score: 0, Duration: -1},
	}
	r.HasRules, r.RulesAnnounced = true, 93
	r.Rules = rulesOf("sv_gravity", "800", "tf_arena", "", "sv_gravity", "600")
	r.Raw = [][]byte{[]byte("\xff\xff\xff\xffI"), {}, []byte("\xff\xff\xff\xffD\x00")}
	r.Geo = scanner.Geo{Continent: "EU", Country: "DE", Region: "Hesse", City: "Frankfurt am Main",
		ASN: 64500, Org: "Example \"Hosting\" GmbH"}
	r.Master = `{"name":"A \"good\" server","players":130,"steam_id":"90071992547409921"}`
	r.RTTs = [wire.NumQuestions]time.Duration{r.RTT, 0, 24_100 * time.Microsecond}
	r.PlayersHash = 0x0123456789ABCDEF
	r.Game, r.Flags = playedGame(), game.FlagCountMismatch|game.FlagEdgeAnswers
	return r
}

// rulesOf returns rules made from alternating names and values.
func rulesOf(pairs ...string) (rs []wire.Rule) {
	for i := 0; i < len(pairs); i += 2 {
		rs = append(rs, wire.Rule{Name: []byte(pairs[i]), Value: []byte(pairs[i+1])})
	}
	return rs
}

// typical returns the result of typical server number i, with 12 players and 24
// rules.
func typical(i int) *scanner.Result {
	r := full()
	r.Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)}), 27015)
	r.Notes, r.Info.Notes, r.Raw, r.Master, r.Geo = 0, 0, nil, "", scanner.Geo{}
	r.RTTs[wire.QuestionPlayers] = 25 * time.Millisecond
	r.PlayersHash = uint64(i+1) * 0x9E3779B97F4A7C15
	r.Game, r.Flags = playedGame(), 0
	r.Game.Has, r.Game.Mods, r.Game.Notes = 1<<game.KeyMode|1<<game.KeyPassword|1<<game.KeyPVP, nil, 0
	r.Info.Name = fmt.Appendf(nil, "Server #%d [EU] 24/7 fast download", i)
	r.Info.Keywords = []byte("cp,increased_maxplayers,nocrits,norespawntime,valve")
	r.Players, r.Rules = nil, nil
	for p := range 12 {
		r.Players = append(r.Players, wire.Player{Name: fmt.Appendf(nil, "player %d", i+p),
			Score: int32(i * p % 97), Duration: float32(i*p) * 1.17})
	}
	for n := range 24 {
		r.Rules = append(r.Rules, rulesOf(fmt.Sprintf("sv_some_cvar_%d", n), fmt.Sprint(i*n%5))...)
	}
	return r
}

// The results from here on have golden records in testdata/sink.

// goldSource returns the result of an old server with a mod; its record has every
// key of INFO's m reply.
func goldSource() *scanner.Result {
	r := answered("198.51.100.1:27016", scanner.StatusPartial)
	r.Err[wire.QuestionRules] = wire.ErrTimeout
	r.Notes = wire.NoteInfoOddBoolean
	r.HasInfo = true
	r.Info = wire.Info{
		Has: wire.HasAddress | wire.HasName | wire.HasMap | wire.HasFolder | wire.HasGame |
			wire.HasPlayers | wire.HasMaxPlayers | wire.HasProtocol | wire.HasServerType |
			wire.HasEnvironment | wire.HasPassword | wire.HasMod | wire.HasVAC | wire.HasBots,
		Format: wire.FormatGoldSource, Protocol: 47,
		Address: []byte("198.51.100.1:27016"), Name: []byte("HLDS"), Map: []byte("crossfire"),
		Folder: []byte("cstrike"), Game: []byte("Counter-Strike"), Players: 3, MaxPlayers: 32,
		ServerType: 'P', Environment: 'O', Password: 7, Bots: 2,
		Mod: wire.Mod{URL: []byte("www.counter-strike.net"), DownloadURL: []byte(""), Version: 1,
			Size: 184000000, Type: 0, DLL: 1},
	}
	r.HasPlayers = true
	return r
}

// ship returns the result of a server of The Ship, which has fields of its own.
func ship() *scanner.Result {
	r := answered("192.0.2.200:27017", scanner.StatusOK)
	r.HasInfo = true
	r.Info = wire.Info{
		Has: allInfo | wire.HasShip, Format: wire.FormatSource, Protocol: 7, Name: []byte("Ship"),
		Map: []byte("batavier"), Folder: []byte("ship"), Game: []byte("The Ship"),
		ShortAppID: 2400, Players: 1, MaxPlayers: 5, ServerType: 'L', Environment: 'W',
		Version: []byte("1.0.0.4"), Ship: wire.Ship{Mode: 1, Witnesses: 3, Duration: 5},
	}
	r.HasPlayers = true
	r.Players = []wire.Player{{Name: []byte("x"), Score: 1, Duration: 19.0625,
		Ship: true, Deaths: 0, Money: 2500}}
	r.HasRules = true
	return r
}

// pinged returns the result of a server that answered a ping with a text that is
// not UTF-8, and did not answer INFO.
func pinged() *scanner.Result {
	r := answered("192.0.2.201:27018", scanner.StatusError)
	r.Asked, r.RTT = wire.AskInfo|wire.AskPing, 0
	r.Err[wire.QuestionInfo] = wire.ErrTimeout
	r.HasPing, r.Ping, r.PingRTT = true, []byte("000\xff"), 21_900*time.Microsecond
	return r
}

// partial returns the result of a server whose INFO was truncated inside the name
// of the game.
func partial() *scanner.Result {
	r := answered("203.0.113.9:1", scanner.StatusPartial)
	r.Err = [wire.NumQuestions]wire.Error{wire.ErrTruncated, wire.ErrIncomplete, wire.ErrChecksum}
	r.RTT = 0
	r.HasInfo = true
	r.Info = wire.Info{
		Has:    wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder,
		Format: wire.FormatSource, Protocol: 17, Name: []byte("half"), Map: []byte(""),
		Folder: []byte("csgo"),
	}
	r.HasPlayers, r.PlayersAnnounced = true, 64
	r.Players = []wire.Player{{Name: []byte("one"), Score: 7, Duration: 2150878}}
	return r
}

// vicious returns a result with broken text in every field that can hold text.
func vicious() *scanner.Result {
	r := answered("203.0.113.66:65535", scanner.StatusOK)
	r.Tag = "tag\xe2\x82"
	r.Message = []byte("\x1b[2Jbanned\xff")
	r.Notes = wire.NotePlayersNonFinite | wire.NoteHeaderTwice
	bad := func(s string) []byte { return []byte(s + "\xc3") }
	r.HasInfo = true
	r.Info = wire.Info{
		Has:    (wire.HasMod<<1 - 1) &^ wire.HasShip,
		Format: wire.FormatSource, Name: bad("\u202ename"), Map: bad("\x00map"),
		Folder: bad("\"folder\\"), Game: bad("game\u2028"), Version: bad("1.1.2.7\r/Stdio"),
		Keywords: bad("k"), Address: bad("a"), ServerType: 0, Environment: 0xAB,
		GameID: 7<<32 | 730, ShortAppID: 10, Protocol: 255, SteamID: math.MaxUint64,
		SourceTV: wire.SourceTV{Name: bad("tv")},
		Mod: wire.Mod{URL: bad("u"), DownloadURL: bad("d"), Version: math.MaxUint32,
			Size: math.MaxUint32, Type: 2, DLL: 0},
	}
	nan := float32(math.NaN())
	r.HasPlayers = true
	r.Players = []wire.Player{
		{Index: 255, Name: bad("p"), Score: math.MinInt32, Duration: nan},
		{Name: []byte("\x7f\u009b"), Score: math.MaxInt32, Duration: float32(math.Inf(-1))},
	}
	r.HasRules = true
	r.Geo = scanner.Geo{Continent: "\x1b[", Country: "de", Region: "\u202e\xc3", City: "\x1b[2J\xff",
		Org: "\u009b\xe2\x82", ASN: math.MaxUint32}
	r.Flags = 1<<len(game.FlagRules) - 1
	r.Game = &game.Game{
		ID: "\"no word\"", Name: "\xff", Has: 1<<game.NumKeys - 1, Players: -1, MaxPlayers: math.MaxInt32,
		Started: math.MaxInt32 * 1000, Version: bad("v"), Map: bad("\x1b[2J"), Mode: bad(""), Region: bad("\u202e"),
		TimeOfDay: bad("t"), Description: bad("d\n"), Mods: []game.Mod{{}, {ID: bad("1"), Name: bad("\""), Hash: bad("h")}},
		Attributes: []game.Attribute{{Name: "a\"\xff", Value: bad("\x00"), Source: "keywords.\"\xff"}}, Notes: 1<<len(game.NoteWords) - 1,
	}
	r.Game.Sources[game.KeyPlayers] = "rules.\"\xff"
	r.Rules = rulesOf("\xff", "1", "\xfe", "2", "", "", "\x01\x07", "\x01\x01\xa3")
	return r
}

// noReply returns the result of a server that did not answer.
func noReply() *scanner.Result {
	r := answered("203.0.113.7:27015", scanner.StatusNoReply)
	for q := range r.Err {
		r.Err[q] = wire.ErrTimeout
	}
	r.RTT, r.Received, r.RecvBytes, r.Sent, r.SentBytes = 0, 0, 0, 3, 75
	return r
}

// sendFailed returns the result of a server to which nothing could be sent.
func sendFailed() *scanner.Result {
	r := noReply()
	r.Err = [wire.NumQuestions]wire.Error{wire.ErrSendFailed}
	r.Status = scanner.StatusError
	r.Took, r.Sent, r.SentBytes = 0, 0, 0
	return r
}

// empty returns the result of a server whose INFO has only its type byte, I.
func empty() *scanner.Result {
	r := answered("203.0.113.8:27015", scanner.StatusError)
	r.Err[wire.QuestionInfo] = wire.ErrEmpty
	r.HasInfo = true
	return r
}

// capture returns a result that was decoded from datagrams without sender and time.
func capture() *scanner.Result {
	r := blank()
	r.Status = scanner.StatusOK
	r.Received, r.RecvBytes = 2, 60
	r.HasRules, r.RulesAnnounced = true, 0
	r.Rules = rulesOf("a", "1")
	return r
}
