package sink

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// The results of this file have golden records in testdata/sink.

// all is every field up to the version: what both formats have.
const all = (wire.HasVersion<<1 - 1) &^ wire.HasShip

// blank is a result of which nothing came.
func blank() *scanner.Result {
	return &scanner.Result{PlayersAnnounced: -1, RulesAnnounced: -1}
}

// answered is a result with what any server has that was scanned.
func answered(addr string, status scanner.Status) *scanner.Result {
	r := blank()
	r.Addr = netip.MustParseAddrPort(addr)
	r.Time = time.Date(2026, 11, 20, 3, 0, 1, 123_999_999, time.UTC)
	r.Status = status
	r.Asked = scanner.AskAll
	r.RTT = 23_412_700 * time.Nanosecond
	r.Took = 4523_100 * time.Microsecond
	r.Sent, r.Received, r.SentBytes, r.RecvBytes = 6, 3, 90, 412
	return r
}

// full has every key of a Source server.
func full() *scanner.Result {
	r := answered("203.0.113.7:27015", scanner.StatusOK)
	r.Tag = "europe, 2"
	r.Unchallenged = scanner.AskInfo | scanner.AskRules
	r.Notes = wire.NoteInfoTrailing | wire.NotePlayersCount | wire.NoteRulesDuplicate
	r.HasInfo = true
	r.Info = wire.Info{
		Has: all | wire.HasEDF | wire.HasGamePort | wire.HasSteamID | wire.HasSourceTV |
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
	r.Rules = rules("sv_gravity", "800", "tf_arena", "", "sv_gravity", "600")
	r.Raw = [][]byte{[]byte("\xff\xff\xff\xffI"), {}, []byte("\xff\xff\xff\xffD\x00")}
	r.Geo = scanner.Geo{Continent: "EU", Country: "DE", Region: "Hesse", City: "Frankfurt am Main",
		ASN: 64500, Org: "Example \"Hosting\" GmbH"}
	r.Master = `{"name":"A \"good\" server","players":130,"steam_id":"90071992547409921"}`
	return r
}

func rules(pairs ...string) (rs []wire.Rule) {
	for i := 0; i < len(pairs); i += 2 {
		rs = append(rs, wire.Rule{Name: []byte(pairs[i]), Value: []byte(pairs[i+1])})
	}
	return rs
}

// goldSource has every key of an old server with a mod.
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

// ship is a game of The Ship, with its own fields.
func ship() *scanner.Result {
	r := answered("192.0.2.200:27017", scanner.StatusOK)
	r.HasInfo = true
	r.Info = wire.Info{
		Has: all | wire.HasShip, Format: wire.FormatSource, Protocol: 7, Name: []byte("Ship"),
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

// partial answered INFO, and that was cut inside the name of the game.
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

// vicious has broken text wherever text can be.
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
	r.Rules = rules("\xff", "1", "\xfe", "2", "", "", "\x01\x07", "\x01\x01\xa3")
	return r
}

// noReply is a server that was asked in vain.
func noReply() *scanner.Result {
	r := answered("203.0.113.7:27015", scanner.StatusNoReply)
	for q := range r.Err {
		r.Err[q] = wire.ErrTimeout
	}
	r.RTT, r.Received, r.RecvBytes, r.Sent, r.SentBytes = 0, 0, 0, 3, 75
	return r
}

// sendFailed is a server to which nothing could be sent.
func sendFailed() *scanner.Result {
	r := noReply()
	r.Err = [wire.NumQuestions]wire.Error{wire.ErrSendFailed}
	r.Status = scanner.StatusError
	r.Took, r.Sent, r.SentBytes = 0, 0, 0
	return r
}

// empty is a server that said I and nothing else.
func empty() *scanner.Result {
	r := answered("203.0.113.8:27015", scanner.StatusError)
	r.Err[wire.QuestionInfo] = wire.ErrEmpty
	r.HasInfo = true
	return r
}

// capture is what datagrams say of which nobody knows who sent them when.
func capture() *scanner.Result {
	r := blank()
	r.Status = scanner.StatusOK
	r.Received, r.RecvBytes = 2, 60
	r.HasRules, r.RulesAnnounced = true, 0
	r.Rules = rules("a", "1")
	return r
}

// typical is a server as a census has many: 12 players, 24 rules.
func typical(i int) *scanner.Result {
	r := full()
	r.Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)}), 27015)
	r.Notes, r.Info.Notes, r.Raw, r.Master, r.Geo = 0, 0, nil, "", scanner.Geo{}
	r.Info.Name = fmt.Appendf(nil, "Server #%d [EU] 24/7 fast download", i)
	r.Info.Keywords = []byte("cp,increased_maxplayers,nocrits,norespawntime,valve")
	r.Players, r.Rules = nil, nil
	for p := range 12 {
		r.Players = append(r.Players, wire.Player{Name: fmt.Appendf(nil, "player %d", i+p),
			Score: int32(i * p % 97), Duration: float32(i*p) * 1.17})
	}
	for n := range 24 {
		r.Rules = append(r.Rules, rules(fmt.Sprintf("sv_some_cvar_%d", n), fmt.Sprint(i*n%5))...)
	}
	return r
}
