package game

import (
	"bytes"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// FuzzDecode decodes replies of any game with any keywords and rules into two
// Games: a new Game, and one that has already decoded other replies. Both results
// must be equal and within the package's limits, and Decode must not change the
// reply.
func FuzzDecode(f *testing.F) {
	for i, t := range tables {
		for _, v := range vectorsOf(t) {
			in := v.reply(t)
			f.Add(uint8(i), in.Info.Keywords, in.Info.Name, wire.AppendRules(nil, len(in.Rules), in.Rules),
				[]byte("\xff\xff\xff\xffD\x01\x00p\x00\x01\x00\x00\x00\x00\x00\x00\x01"))
		}
	}
	var used Game
	f.Fuzz(func(t *testing.T, game uint8, keywords, text, rules, players []byte) {
		in := fuzzReply(tables[int(game)%len(tables)], keywords, text, rules, players)
		kept := [][]byte{bytes.Clone(keywords), bytes.Clone(text), bytes.Clone(rules), bytes.Clone(players)}
		var fresh Game
		Decode(&fresh, in)
		Decode(&used, in)
		got, want := dump(&used), dump(&fresh)
		if got != want {
			t.Errorf("a used Game decodes\n%s\na fresh one\n%s", got, want)
		}
		if s, c := Suspect(in, &used, Facts{}), Suspect(in, fresh.Clone(), Facts{}); s != c {
			t.Errorf("flags %b and %b", s, c)
		}
		checkBounds(t, fresh.ID, &fresh)
		for i, b := range [][]byte{keywords, text, rules, players} {
			if !bytes.Equal(b, kept[i]) {
				t.Errorf("argument %d was changed", i)
			}
		}
	})
}

// fuzzReply returns a reply of the game of table t with the fuzzed values.
func fuzzReply(t *table, keywords, text, rules, players []byte) Reply {
	in := new(vector).reply(t)
	in.Info.Has |= wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasSteamID | wire.HasVersion
	in.Info.Keywords, in.Info.Name, in.Info.Map, in.Info.Game, in.Info.Version = keywords, text, text, text, text
	in.Redirect = text
	if len(text) > 3 {
		in.Info.Players, in.Info.MaxPlayers, in.Info.Bots, in.Info.SteamID = uint32(text[0]), uint32(text[1]), text[2], uint64(text[3])<<52
	}
	var rs wire.Rules
	_ = rs.Reset(rules)
	in.Rules = rs.AppendAll(nil)
	var ps wire.Players
	in.HasPlayers = ps.Reset(players, wire.ShipNo) == nil
	in.Players = ps.AppendAll(nil)
	in.PlayersCut = ps.Err() != nil
	return in
}
