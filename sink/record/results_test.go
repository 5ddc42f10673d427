package record

// The results of simulated servers.

import (
	"fmt"
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
	r.Asked = scanner.AskAll
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
	r.Unchallenged = scanner.AskInfo | scanner.AskRules
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
