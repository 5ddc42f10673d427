package game

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// TestBounds checks that a Game stays within its limits, whatever a reply contains.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	tests := []struct {
		name string
		in   Reply
		note Notes
	}{
		{"a long value", server(304930, 1, 2).rule("GameVersion", long), noteValueCut},
		{"a long description", server(appRust, 1, 2).rule("description_00", long).rule("description_01", long), noteValueCut},
		{"a long mod", server(appArk, 1, 2).rule("MOD0_s", long), noteValueCut},
		{"many mods", many(server(appArk, 1, 2), 5000, "MOD%d_s", "1:2"), noteModsLimit},
		{"many mods in a list", server(108600, 1, 2).rule("mods", strings.Repeat("a;", 5000)), noteModsLimit},
		{"many settings", many(server(304930, 1, 2), 5000, "Cfg_%d", "a.b="+long[:100]), noteValueCut},
		{"a long base64 text", server(304930, 1, 2).rule("Browser_Desc_Full_Line_0", strings.Repeat("QUJD", 50_000)), noteValueCut},
		{"long pages", many(server(107410, 1, 2), 255, "%c\xff", long), notePagesTruncated},
		{"a long place", server(107410, 1, 2).keywords("c1-" + long), noteKeywordsCut},
		{"no place", server(107410, 1, 2).keywords("c1-x"), noteValue},
		{"a long mode", server(4000, 1, 2).keywords("gm:" + long + " "), noteValueCut},
	}
	var g Game
	for _, test := range tests {
		Decode(&g, test.in)
		if g.Notes&test.note == 0 {
			t.Errorf("%s: notes %b lack %b", test.name, g.Notes, test.note)
		}
		checkBounds(t, test.name, &g)
	}
}

// many adds n rules with the same value. It formats their names from the numbers 1
// to n.
func many(in Reply, n int, format, value string) Reply {
	for i := range n {
		name := fmt.Sprintf(format, i+1)
		if strings.Contains(format, "%c") {
			name = string([]byte{byte(i + 1), 0xFF})
		}
		in = in.rule(name, value)
	}
	return in
}

// checkBounds fails the test if g exceeds the package's limits.
func checkBounds(t *testing.T, name string, g *Game) {
	t.Helper()
	const maxAttributes = 40 // no table has more
	if len(g.Mods) > maxMods || len(g.Attributes) > maxAttributes {
		t.Errorf("%s: %d mods, %d attributes", name, len(g.Mods), len(g.Attributes))
	}
	texts := map[string][]byte{
		"version": g.Version, "map": g.Map, "mode": g.Mode, "region": g.Region, "time": g.TimeOfDay,
	}
	for i, m := range g.Mods {
		texts[fmt.Sprint("mod ID ", i)], texts[fmt.Sprint("mod ", i)], texts[fmt.Sprint("mod hash ", i)] = m.ID, m.Name, m.Hash
	}
	for what, b := range texts {
		if len(b) > maxText {
			t.Errorf("%s: %s has %d bytes", name, what, len(b))
		}
	}
	if len(g.Description) > maxLongText {
		t.Errorf("%s: a description of %d bytes", name, len(g.Description))
	}
	for _, a := range g.Attributes {
		if len(a.Value) > maxLongText || len(a.Value) == 0 {
			t.Errorf("%s: attribute %s has %d bytes", name, a.Name, len(a.Value))
		}
	}
	if g.Players < 0 || g.Players > maxCount || g.MaxPlayers < 0 || g.MaxPlayers > maxCount {
		t.Errorf("%s: %d players of %d", name, g.Players, g.MaxPlayers)
	}
}

// TestPages checks how many mods and which notes Decode returns for correct binary
// pages, and for pages with one fault each.
func TestPages(t *testing.T) {
	whole := []byte{3, 0, 1, 0, 0, 0, 9, 9, 9, 9, 1, 1, 2, 3, 4, 1, 7, 2, 'h', 'i', 1, 1, 's'}
	tests := []struct {
		name string
		b    []byte
		mods int
		note Notes
	}{
		{"as they should be", whole, 1, 0},
		{"a byte more", append(bytes.Clone(whole), 0), 1, notePagesTrailing},
		{"cut inside the signature", whole[:len(whole)-1], 1, notePagesTruncated},
		{"cut before the signatures", whole[:20], 1, notePagesTruncated},
		{"cut inside the mod's name", whole[:19], 0, notePagesTruncated},
		{"cut inside the mod's hash", whole[:13], 0, notePagesTruncated},
		{"cut inside the DLC's hash", whole[:7], 0, notePagesTruncated},
		{"cut behind the version", whole[:1], 0, notePagesTruncated},
		{"version 4", append([]byte{4}, whole[1:]...), 0, notePagesVersion},
		{"overflow", append([]byte{3, 2}, whole[2:]...), 1, notePagesOverflow},
		{"an ID of nine bytes", append(bytes.Clone(whole[:15]), 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, notePagesTruncated},
	}
	var g Game
	for _, test := range tests {
		Decode(&g, server(107410, 0, 1).withPages(escape(test.b)))
		if len(g.Mods) != test.mods || g.Notes != test.note {
			t.Errorf("%s: %d mods, notes %b; want %d, %b", test.name, len(g.Mods), g.Notes, test.mods, test.note)
		}
	}
	Decode(&g, server(107410, 0, 1).withPages([]byte{3, 1, 4}))
	if g.Notes&notePagesEscape == 0 {
		t.Errorf("an escape without meaning: notes %b", g.Notes)
	}
}

// TestFind checks that find chooses the table by application ID, or by folder where
// several games share an application ID.
func TestFind(t *testing.T) {
	tests := []struct {
		app    uint64
		folder string
		format wire.Format
		want   string
	}{
		{252490, "rust", wire.FormatSource, "rust"},
		{1<<32 | 252490, "rust", wire.FormatSource, "rust"}, // a mod's game ID (EC-26)
		{10, "cstrike", wire.FormatSource, "cs16"},
		{70, "cstrike", wire.FormatSource, "cs16"},
		{70, "valve", wire.FormatSource, "hl"},
		{70, "ag", wire.FormatSource, "goldsource"},
		{240, "cstrike", wire.FormatSource, "css"},
		{0, "cstrike", wire.FormatGoldSource, "cs16"},
		{0, "czero", wire.FormatGoldSource, "czero"},
		{0, "", wire.FormatGoldSource, "goldsource"},
		{0, "cstrike", wire.FormatSource, ""},
		{999999, "rust", wire.FormatSource, ""},
	}
	var g Game
	for _, test := range tests {
		in := wire.Info{Format: test.format, Folder: []byte(test.folder), GameID: test.app}
		if test.app != 0 {
			in.Has = wire.HasGameID
		}
		Decode(&g, Reply{Info: &in})
		if g.ID != test.want {
			t.Errorf("application %d, folder %q: %q, want %q", test.app, test.folder, g.ID, test.want)
		}
	}
	Decode(&g, Reply{})
	if g.ID != "" || g.Has != 0 {
		t.Errorf("no INFO: %q", g.ID)
	}
}

// TestVersionTellsCSGO checks that the version distinguishes CS:GO from
// Counter-Strike 2, which have the same application ID.
func TestVersionTellsCSGO(t *testing.T) {
	var g Game
	for version, want := range map[string]string{
		"1.34.7.1": "csgo", "1.38.8.1": "csgo", "1.39.0.0": "cs2", "1.41": "cs2", "": "cs2", "2.1": "cs2", "1.x": "cs2",
	} {
		in := server(appCS2, 0, 10).with(func(i *wire.Info) { i.Version = []byte(version) })
		if Decode(&g, in); g.ID != want {
			t.Errorf("version %q: %q, want %q", version, g.ID, want)
		}
	}
}

// TestClone checks that a clone shares no memory with the reply or the Game.
func TestClone(t *testing.T) {
	for _, table := range tables {
		for _, v := range vectorsOf(table) {
			in := v.reply(table)
			var g Game
			Decode(&g, in)
			c := g.Clone()
			want := dump(&g)
			if got := dump(c); got != want {
				t.Errorf("%s: the clone is\n%s\nwant\n%s", table.id, got, want)
			}
			scribble(in.Info.Keywords, in.Info.Name, in.Info.Map, in.Info.Game)
			for _, r := range in.Rules {
				scribble(r.Value)
			}
			scribble(g.dec.buf)
			if got := dump(c); got != want {
				t.Errorf("%s: the clone became\n%s\nwas\n%s", table.id, got, want)
			}
		}
	}
}

func scribble(all ...[]byte) {
	for _, b := range all {
		for i := range b {
			b[i] = '#'
		}
	}
}

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
