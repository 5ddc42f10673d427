package record

import (
	"math"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// The results of this file have golden records in testdata/sink.

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
	r.Asked, r.RTT = scanner.AskInfo|scanner.AskPing, 0
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
