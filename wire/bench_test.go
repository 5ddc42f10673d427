package wire_test

import (
	"fmt"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// A body is a piece of work that a benchmark times. A test checks that the same
// body does not allocate.
type body struct {
	name  string
	bytes int // bytes that one run reads or writes
	run   func()
}

// Results go here, so that the compiler cannot drop the work as unused.
var (
	sinkInfo     wire.Info
	sinkPlayers  wire.Players
	sinkRules    wire.Rules
	sinkFragment wire.Fragment
	sinkCount    int
	sinkErr      error
)

// sampleInfo returns a Source INFO reply with every extra data field.
func sampleInfo() *wire.Info {
	return &wire.Info{
		Has: wire.HasGamePort | wire.HasSteamID | wire.HasSourceTV | wire.HasKeywords |
			wire.HasGameID,
		Protocol: 17, Players: 12, MaxPlayers: 24,
		ServerType: 'd', Environment: 'l', VAC: 1,
		ShortAppID: 440, GameID: 440, GamePort: 27015, SteamID: 85568392920039425,
		Name:     []byte("Example community server | 24/7 badlands"),
		Map:      []byte("cp_badlands"),
		Folder:   []byte("tf"),
		Game:     []byte("Team Fortress"),
		Version:  []byte("8622567"),
		Keywords: []byte("cp,nocrits,increased_maxplayers"),
		SourceTV: wire.SourceTV{Port: 27020, Name: []byte("Example TV")},
	}
}

// sampleMod returns a GoldSource INFO reply with a mod block.
func sampleMod() *wire.Info {
	in := *sampleInfo()
	in.Format, in.Has = wire.FormatGoldSource, wire.HasMod
	in.Address = []byte("192.0.2.1:27015")
	in.Mod = wire.Mod{URL: []byte("www.example.org"), Version: 1, Size: 184000000, DLL: 1}
	return &in
}

// samplePlayers returns n players with names of typical lengths.
func samplePlayers(n int, ship bool) []wire.Player {
	players := make([]wire.Player, n)
	for i := range players {
		name := fmt.Sprintf("player %d of the example clan", i)
		players[i] = wire.Player{
			Name:  []byte(name[:4+i*7%(len(name)-4)]),
			Score: int32(i), Duration: 60.5, Ship: ship,
		}
	}
	return players
}

// sampleRules returns n rules with names and values of typical lengths.
func sampleRules(n int) []wire.Rule {
	rules := make([]wire.Rule, n)
	for i := range rules {
		name := fmt.Sprintf("mp_rule_%d_of_an_example", i)
		rules[i] = wire.Rule{
			Name:  []byte(name[:8+i*5%(len(name)-8)]),
			Value: []byte("1.25"[:i%5]),
		}
	}
	return rules
}

func decodeInfo(msg []byte) { sinkErr = sinkInfo.Decode(msg) }

func decodePlayers(msg []byte, ship wire.ShipHint) {
	sinkErr = sinkPlayers.Reset(msg, ship)
	for sinkPlayers.Next() {
		sinkCount += len(sinkPlayers.Player().Name)
	}
}

func decodeRules(msg []byte) {
	sinkErr = sinkRules.Reset(msg)
	for sinkRules.Next() {
		sinkCount += len(sinkRules.Rule().Value)
	}
}

// server returns the three replies of a typical server.
func server() (info, players, rules []byte) {
	return wire.AppendInfo(nil, sampleInfo()),
		wire.AppendPlayers(nil, 12, samplePlayers(12, false)),
		wire.AppendRules(nil, 24, sampleRules(24))
}

// decodeBodies returns the bodies that decode.
func decodeBodies() []body {
	info, players, rules := server()
	all := []body{
		{"server", len(info) + len(players) + len(rules), func() {
			decodeInfo(info)
			decodePlayers(players, wire.ShipNo)
			decodeRules(rules)
		}},
		{"info", len(info), func() { decodeInfo(info) }},
	}
	mod := wire.AppendInfo(nil, sampleMod())
	all = append(all, body{"info/goldsource", len(mod), func() { decodeInfo(mod) }})
	for _, n := range []int{12, 64} {
		b := wire.AppendPlayers(nil, n, samplePlayers(n, false))
		name := fmt.Sprintf("players/%d", n)
		all = append(all, body{name, len(b), func() { decodePlayers(b, wire.ShipNo) }})
	}
	ship := wire.AppendPlayers(nil, 12, samplePlayers(12, true))
	all = append(all,
		body{"players/ship", len(ship), func() { decodePlayers(ship, wire.ShipYes) }})
	for _, n := range []int{24, 200} {
		b := wire.AppendRules(nil, n, sampleRules(n))
		all = append(all, body{fmt.Sprintf("rules/%d", n), len(b), func() { decodeRules(b) }})
	}
	return append(all, smallDecodeBodies()...)
}

// smallDecodeBodies returns the bodies that decode messages without a list.
func smallDecodeBodies() []body {
	fragment := wire.AppendFragment(nil, sampleFragment())
	challenge := wire.AppendChallenge(nil, 1)
	ping := wire.AppendText(nil, wire.KindPing, []byte("00000000000000"))
	limited := wire.AppendText(nil, wire.KindLimited, []byte("Too many requests"))
	request := wire.AppendRequest(nil, wire.QuestionInfo, 1)
	return []body{
		{"fragment", len(fragment), func() {
			l, packed := wire.ShowLayout(fragment)
			sinkErr = sinkFragment.Decode(fragment, l, packed)
		}},
		{"challenge",
			len(challenge), func() { _, sinkErr = wire.DecodeChallenge(challenge) }},
		{"ping", len(ping), func() { _, sinkErr = wire.DecodeText(ping) }},
		{"text", len(limited), func() { _, sinkErr = wire.DecodeText(limited) }},
		{"request", len(request), func() { _, sinkErr = wire.DecodeRequest(request) }},
	}
}

// sampleFragment returns the first of five fragments in the Source layout with a
// size field.
func sampleFragment() *wire.Fragment {
	return &wire.Fragment{Layout: wire.LayoutSource, ID: 7, Total: 5, Size: 1248,
		Payload: wire.AppendRules(nil, 200, sampleRules(60))}
}

// appendBodies returns the bodies that encode.
func appendBodies() []body {
	buf := make([]byte, 0, 1<<16)
	info, mod, frag := sampleInfo(), sampleMod(), sampleFragment()
	players, rules := samplePlayers(12, true), sampleRules(24)
	text := []byte("Too many requests")
	of := func(name string, add func(dst []byte) []byte) body {
		return body{name, len(add(nil)), func() { buf = add(buf[:0]) }}
	}
	return []body{
		of("info", func(dst []byte) []byte { return wire.AppendInfo(dst, info) }),
		of("info/goldsource", func(dst []byte) []byte { return wire.AppendInfo(dst, mod) }),
		of("players/12", func(dst []byte) []byte { return wire.AppendPlayers(dst, 12, players) }),
		of("rules/24", func(dst []byte) []byte { return wire.AppendRules(dst, 24, rules) }),
		of("fragment", func(dst []byte) []byte { return wire.AppendFragment(dst, frag) }),
		of("request", func(dst []byte) []byte { return wire.AppendRequest(dst, wire.QuestionInfo, 1) }),
		of("challenge", func(dst []byte) []byte { return wire.AppendChallenge(dst, 1) }),
		of("ping", func(dst []byte) []byte { return wire.AppendText(dst, wire.KindPing, text) }),
		of("text", func(dst []byte) []byte { return wire.AppendText(dst, wire.KindLimited, text) }),
	}
}

func benchmark(b *testing.B, bodies []body) {
	for _, one := range bodies {
		b.Run(one.name, func(b *testing.B) {
			b.SetBytes(int64(one.bytes))
			b.ReportAllocs()
			for b.Loop() {
				one.run()
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) { benchmark(b, decodeBodies()) }

func BenchmarkAppend(b *testing.B) { benchmark(b, appendBodies()) }

// checkAllocs fails the test if a body allocates.
func checkAllocs(t *testing.T, bodies []body) {
	t.Helper()
	for _, one := range bodies {
		if n := testing.AllocsPerRun(100, one.run); n != 0 {
			t.Errorf("%s: %v allocations", one.name, n)
		}
	}
}

func TestDecodeAllocs(t *testing.T) {
	for _, one := range decodeBodies() {
		if one.run(); sinkErr != nil {
			t.Errorf("%s: %v", one.name, sinkErr)
		}
	}
	checkAllocs(t, decodeBodies())
}

func TestAppendAllocs(t *testing.T) { checkAllocs(t, appendBodies()) }

// TestErrorAllocs checks that decoding malformed messages does not allocate: it
// passes each message to every decoder.
func TestErrorAllocs(t *testing.T) {
	var bodies []body
	for _, bad := range badMessages() {
		msg := []byte(bad)
		bodies = append(bodies, body{name: fmt.Sprintf("%q", bad), run: func() {
			decodeInfo(msg)
			decodePlayers(msg, wire.ShipYes)
			sinkErr = sinkPlayers.Err()
			decodeRules(msg)
			sinkErr = sinkRules.Err()
			_, sinkErr = wire.DecodeChallenge(msg)
			_, sinkErr = wire.DecodeText(msg)
			_, sinkErr = wire.DecodeRequest(msg)
			_, sinkErr = wire.SplitID(msg)
			_, _ = wire.ShowLayout(msg)
			for l := wire.LayoutUnknown; l <= wire.LayoutSourceNoSize; l++ {
				sinkErr = sinkFragment.Decode(msg, l, true)
			}
		}})
	}
	checkAllocs(t, bodies)
}

// badMessages returns messages that no decoder accepts as complete.
func badMessages() []string {
	return []string{
		"", "\xFF", single, split, single + "?", single + "A\x01",
		single + "I", single + "m", single + "D", single + "E", single + "E\x01",
		single + "T", single + "U\x00",
		sourceInfo[:len(sourceInfo)-1], sourceInfo + "\xFF", goldInfo, goldInfo + "\x01\x00",
		players(2, records(1)+"\x00"), players(2, records(2)+"\x00"),
		rules(2, "a\x001\x00b"),
		split + "\x07\x00\x00\x00", split + "\x07\x00\x00\x00\x00",
		split + "\x07\x00\x00\x80\x02\x00\xE0\x04BZh",
	}
}
